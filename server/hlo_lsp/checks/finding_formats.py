"""Findings as JSON, SARIF, annotations of GitHub, and counts."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hlo_lsp import __version__
from hlo_lsp.checks.catalogue import severities
from hlo_lsp.checks.check_jobs import FindingSummary, Spot
from hlo_lsp.checks.framework.explanations import Explanation, explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.rule_pages import rule_markdown, rule_paragraphs
from hlo_lsp.text.inert import sarif_text, workflow_command
from hlo_lsp.text.remote import is_url

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
# The levels of GitHub's workflow commands and of SARIF.
_COMMANDS = dict(zip(Severity, ("error", "warning", "notice", "notice"), strict=True))
_LEVELS = dict(zip(Severity, ("error", "warning", "note", "note"), strict=True))


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


def github_annotation(finding: FindingSummary) -> str:
    """Return the workflow command of GitHub for a finding: columns from 1, the end exclusive."""
    spot = finding.spot
    properties = {
        "file": spot.path,
        "line": str(spot.line),
        "endLine": str(spot.line),
        "col": str(spot.column),
        "endColumn": str(spot.end_column),
        "title": f"hlo-lsp {finding.code}",
    }
    return workflow_command(_COMMANDS[finding.severity], properties, finding.message)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of findings of a code, and of the files with them."""

    code: str
    severity: Severity
    count: int
    files: int


def counts_of(findings: Iterable[FindingSummary]) -> list[Count]:
    """Return the counts of all codes, by severity and then by number of findings."""
    listed = [(finding.code, finding.severity, finding.spot.path) for finding in findings]
    files = Counter((code, severity) for code, severity, _ in set(listed))
    counts = Counter((code, severity) for code, severity, _ in listed)
    found = [Count(*key, count, files[key]) for key, count in counts.items()]
    return sorted(found, key=lambda one: (one.severity.rank, -one.count, one.code))


def count_json(one: Count) -> dict[str, Any]:
    """Return the counts of a code as JSON (``--statistics``)."""
    return {**asdict(one), "severity": one.severity.value}


def sarif(findings: Sequence[FindingSummary], notes: Sequence[str]) -> dict[str, Any]:
    """Return the SARIF log of one run. ``notes`` are reasons why files could not be checked."""
    numbers = {code: number for number, code in enumerate(explanations())}
    notifications = [{"level": "error", "message": _text(note)} for note in notes]
    driver = {
        "name": "hlo-lsp",
        "version": __version__,
        "rules": [_rule(explanation) for explanation in explanations().values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {"executionSuccessful": not notes, "toolExecutionNotifications": notifications}
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers[finding.code]) for finding in findings],
    }
    return {"version": "2.1.0", "$schema": _SCHEMA, "runs": [run]}


def _rule(explanation: Explanation) -> dict[str, Any]:
    text = "\n\n".join(f"{head}: {body}" for head, body in rule_paragraphs(explanation))
    level = _LEVELS[severities()[explanation.code]]
    return {
        "id": explanation.code,
        "shortDescription": {"text": explanation.what},
        "fullDescription": {"text": explanation.why},
        "help": {"text": text, "markdown": rule_markdown(explanation)},
        "defaultConfiguration": {"enabled": explanation.is_on, "level": level},
    }


def _result(finding: FindingSummary, number: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": number,
        "level": _LEVELS[finding.severity],
        "message": _text(finding.message),
        "locations": [{"physicalLocation": _physical(finding.spot)}],
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": at, "physicalLocation": _physical(one.spot), "message": _text(one.message)}
            for at, one in enumerate(finding.related)
        ]
    return result


def _physical(spot: Spot) -> dict[str, Any]:
    region = {"startLine": spot.line, "startColumn": spot.column, "endColumn": spot.end_column}
    return {"artifactLocation": {"uri": _uri(spot.path)}, "region": region}


def _uri(name: str) -> str:
    if is_url(name):
        return name
    path = Path(name)
    # Readers resolve a relative URI from the source root. Names need not be text.
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def _text(text: str) -> dict[str, str]:
    return {"text": sarif_text(text)}
