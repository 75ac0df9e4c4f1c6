"""What ``hlo-lsp check --format json`` prints. The keys are a public interface."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hlo_lsp.checks.finding import Severity
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


_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def workflow_command(told: Told) -> str:
    """One line; columns from 1, the end exclusive, as other linters print them."""
    spot = told.spot
    properties = {
        "file": spot.path,
        "line": str(spot.line),
        "endLine": str(spot.line),
        "col": str(spot.column),
        "endColumn": str(spot.end_column),
        "title": f"hlo-lsp {told.code}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[told.severity]} {listed}::{_data(told.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


@dataclass(frozen=True, slots=True)
class Count:
    """The findings of a code, and in how many files they are."""

    code: str
    severity: Severity
    count: int
    files: int


def counts_of(findings: Iterable[Told]) -> list[Count]:
    """What there is of each code: the worst first, then what there is most of."""
    counts: Counter[tuple[Severity, str]] = Counter()
    files: dict[tuple[Severity, str], set[str]] = {}
    for told in findings:
        key = told.severity, told.code
        counts[key] += 1
        files.setdefault(key, set()).add(told.spot.path)
    found = [Count(key[1], key[0], count, len(files[key])) for key, count in counts.items()]
    return sorted(found, key=lambda one: (one.severity.rank, -one.count, one.code))


def count_json(one: Count) -> dict[str, Any]:
    """What ``check --statistics --format json`` prints of a code. The keys are a promise."""
    return {
        "code": one.code,
        "severity": one.severity.value,
        "count": one.count,
        "files": one.files,
    }
