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
from hlo_lsp.checks.folders.told import RelatedSpot, Spot, Told
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


def sarif(findings: Sequence[Told], notes: Sequence[str]) -> dict[str, Any]:
    """A log of one run. ``notes`` say what could not be looked at."""
    rules = list(explanations())
    numbers = {code: number for number, code in enumerate(rules)}
    driver = {
        "name": "hlo-lsp",
        "version": __version__,
        "rules": [_rule(told) for told in explanations().values()],
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
        "results": [_result(told, numbers[told.code]) for told in findings],
    }
    return {"version": "2.1.0", "$schema": _SCHEMA, "runs": [run]}


def _rule(told: Explanation) -> dict[str, Any]:
    text = "\n\n".join(f"{head}: {body}" for head, body in rule_paragraphs(told))
    return {
        "id": told.code,
        "shortDescription": {"text": told.what},
        "fullDescription": {"text": told.why},
        "help": {"text": text, "markdown": rule_markdown(told)},
        "defaultConfiguration": {
            "enabled": told.is_on,
            "level": _LEVELS[severities()[told.code]],
        },
    }


def _result(told: Told, number: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": told.code,
        "ruleIndex": number,
        "level": _LEVELS[told.severity],
        "message": {"text": _plain(told.message)},
        "locations": [{"physicalLocation": _physical(told.spot)}],
    }
    if told.related:
        result["relatedLocations"] = [_related(n, other) for n, other in enumerate(told.related)]
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
    """A relative path stays one: readers of the log take it from the root of the sources."""
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(os.fsencode(Path(path).as_posix()))  # names need not be text


def _plain(text: str) -> str:
    """Text of a message, in which braces are doubled: single ones are placeholders (3.11.5)."""
    return text.replace("{", "{{").replace("}", "}}")
