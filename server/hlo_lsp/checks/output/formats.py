"""The output of ``hlo-lsp check`` as JSON, GitHub commands, and counts. Keys are public."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.finding_summary import FindingSummary, Spot


def finding_json(finding: FindingSummary) -> dict[str, Any]:
    """Return a finding as JSON: lines and columns from 1 in code points, the end exclusive."""
    return {
        **_spot(finding.spot),
        "severity": finding.severity.value,
        "code": finding.code,
        "message": finding.message,
        "related": [{**_spot(other.spot), "message": other.message} for other in finding.related],
    }


def _spot(spot: Spot) -> dict[str, Any]:
    return {
        "path": spot.path,
        "line": spot.line,
        "column": spot.column,
        "end_line": spot.line,
        "end_column": spot.end_column,
    }


_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def workflow_command(finding: FindingSummary) -> str:
    """Return a GitHub workflow command: columns from 1, the end exclusive."""
    spot = finding.spot
    properties = {
        "file": spot.path,
        "line": str(spot.line),
        "endLine": str(spot.line),
        "col": str(spot.column),
        "endColumn": str(spot.end_column),
        "title": f"hlo-lsp {finding.code}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


@dataclass(frozen=True, slots=True)
class Count:
    """The number of findings of a code, and of the files with them."""

    code: str
    severity: Severity
    count: int
    files: int


def counts_of(findings: Iterable[FindingSummary]) -> list[Count]:
    """Return the counts of all codes, by severity and then by number of findings."""
    counts: Counter[tuple[Severity, str]] = Counter()
    files: dict[tuple[Severity, str], set[str]] = {}
    for finding in findings:
        key = finding.severity, finding.code
        counts[key] += 1
        files.setdefault(key, set()).add(finding.spot.path)
    found = [Count(key[1], key[0], count, len(files[key])) for key, count in counts.items()]
    return sorted(found, key=lambda one: (one.severity.rank, -one.count, one.code))


def count_json(one: Count) -> dict[str, Any]:
    """Return the counts of a code as JSON (``--statistics``). The keys are a public interface."""
    return {
        "code": one.code,
        "severity": one.severity.value,
        "count": one.count,
        "files": one.files,
    }
