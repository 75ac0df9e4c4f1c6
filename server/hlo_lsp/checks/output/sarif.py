"""Findings in the Static Analysis Results Interchange Format, SARIF 2.1.0 (OASIS)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hlo_lsp import __version__
from hlo_lsp.checks.config.selection import severities
from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.finding_summary import FindingSummary, RelatedSpot, Spot
from hlo_lsp.checks.output.rule_text import rule_markdown, rule_paragraphs

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
