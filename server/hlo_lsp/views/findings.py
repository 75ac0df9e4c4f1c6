"""What ``hlo-lsp check --format json`` prints. The keys are a public interface."""

from typing import Any

from hlo_lsp.checks.folders.told import Spot, Told


def finding_json(told: Told) -> dict[str, Any]:
    """A finding: lines and columns from 1 in code points, the end exclusive."""
    return {
        **_spot(told.spot),
        "severity": told.severity.value,
        "code": told.code,
        "message": told.message,
        "related": [{**_spot(other.spot), "message": other.message} for other in told.related],
    }


def _spot(spot: Spot) -> dict[str, Any]:
    return {
        "path": spot.path,
        "line": spot.line,
        "column": spot.column,
        "end_line": spot.line,
        "end_column": spot.end_column,
    }
