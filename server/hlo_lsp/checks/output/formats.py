"""The output of ``hlo-lsp check`` as JSON, GitHub commands, and counts. Keys are public."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hlo_lsp import __version__
from hlo_lsp.checks.catalogue import severities
from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.folder import FindingSummary, RelatedSpot, Spot
from hlo_lsp.checks.output.rule_text import rule_markdown, rule_paragraphs


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


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def sarif(findings: Sequence[FindingSummary], notes: Sequence[str]) -> dict[str, Any]:
    """Return the log of one run. ``notes`` are reasons why files could not be checked."""
    rules = list(explanations())
    numbers = {code: number for number, code in enumerate(rules)}
    driver = {
        "name": "hlo-lsp",
        "version": __version__,
        "rules": [_rule(explanation) for explanation in explanations().values()],
    }
    notifications = [{"level": "error", "message": {"text": _plain(note)}} for note in notes]
    invocation = {
        "executionSuccessful": not notes,
        "toolExecutionNotifications": notifications,
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers[finding.code]) for finding in findings],
    }
    return {"version": "2.1.0", "$schema": _SCHEMA, "runs": [run]}


def _rule(explanation: Explanation) -> dict[str, Any]:
    text = "\n\n".join(f"{head}: {body}" for head, body in rule_paragraphs(explanation))
    return {
        "id": explanation.code,
        "shortDescription": {"text": explanation.what},
        "fullDescription": {"text": explanation.why},
        "help": {"text": text, "markdown": rule_markdown(explanation)},
        "defaultConfiguration": {
            "enabled": explanation.is_on,
            "level": _LEVELS[severities()[explanation.code]],
        },
    }


def _result(finding: FindingSummary, number: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": number,
        "level": _LEVELS[finding.severity],
        "message": {"text": _plain(finding.message)},
        "locations": [{"physicalLocation": _physical(finding.spot)}],
    }
    if finding.related:
        result["relatedLocations"] = [_related(n, other) for n, other in enumerate(finding.related)]
    return result


def _related(number: int, other: RelatedSpot) -> dict[str, Any]:
    return {
        "id": number,
        "physicalLocation": _physical(other.spot),
        "message": {"text": _plain(other.message)},
    }


def _physical(spot: Spot) -> dict[str, Any]:
    region = {
        "startLine": spot.line,
        "startColumn": spot.column,
        "endColumn": spot.end_column,
    }
    return {"artifactLocation": {"uri": _uri(spot.path)}, "region": region}


def _uri(path: str) -> str:
    """Return the URI of a path. Readers resolve a relative one from the source root."""
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(os.fsencode(Path(path).as_posix()))  # names need not be text


def _plain(text: str) -> str:
    """Return a message with doubled braces: single ones are placeholders (SARIF 3.11.5)."""
    return text.replace("{", "{{").replace("}", "}}")
