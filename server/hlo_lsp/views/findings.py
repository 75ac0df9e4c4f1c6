"""What ``hlo-lsp check --format json`` prints. The keys are a public interface."""

from typing import Any

from hlo_lsp.checks.finding import Finding


def finding_json(path: str, finding: Finding) -> dict[str, Any]:
    """A finding: lines and columns from 1 in code points, the end exclusive."""
    place = finding.place
    return {
        "path": path,
        "line": place.number,
        "column": place.start + 1,
        "end_line": place.number,
        "end_column": place.end + 1,
        "severity": finding.severity.value,
        "code": finding.code,
        "message": finding.message,
    }
