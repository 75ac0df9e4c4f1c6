"""Findings as LSP diagnostics, with links to the documentation of their rules."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lsprotocol import types

from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.positions import Converter, Json, locations, place_range_json
from hlo_lsp.text.checkpoint import checkpoint

_HEADING = "### "
_MODULE_PATH = Path(__file__).resolve()
# The page is in the package if installed from a wheel, and next to server/ in a checkout.
_PAGE_PATHS = (
    _MODULE_PATH.parents[1] / "docs" / "rules.md",
    _MODULE_PATH.parents[3] / "docs" / "rules.md",
)


@cache
def rules_page() -> Path | None:
    """Return the path of the rule documentation, or None if it is not installed as a file."""
    return next((path for path in _PAGE_PATHS if path.is_file()), None)


@cache
def rule_line_numbers() -> Mapping[str, int]:
    """Return the line (from 0) at which the text about each code begins."""
    path = rules_page()
    if path is None:
        return {}
    lines = path.read_text("utf-8").split("\n")
    return {
        line.removeprefix(_HEADING): number
        for number, line in enumerate(lines)
        if line.startswith(_HEADING)
    }


def rule_href(code: str) -> str | None:
    """Return a link to the documentation of a code, or None.

    The link names a line: editors open the page themselves and support no other anchors in a file.
    """
    path, line = rules_page(), rule_line_numbers().get(code)
    return None if path is None or line is None else f"{path.as_uri()}#L{line + 1}"


SOURCE = "hlo-lsp"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error.value,
    Severity.WARNING: types.DiagnosticSeverity.Warning.value,
    Severity.INFORMATION: types.DiagnosticSeverity.Information.value,
    Severity.HINT: types.DiagnosticSeverity.Hint.value,
}
_FINDINGS_PER_CHECKPOINT = 100  # about 2 ms


def diagnostics_json(client: Client, findings: list[Finding]) -> list[Json]:
    """Return the diagnostics for findings."""
    found = []
    for count, finding in enumerate(findings):
        if count % _FINDINGS_PER_CHECKPOINT == _FINDINGS_PER_CHECKPOINT - 1:
            checkpoint()
        found.append(diagnostic_json(client, finding))
    return found


def diagnostic_json(client: Client, finding: Finding) -> Json:
    """Return the diagnostic for a finding, with the fields that the client supports."""
    converter = Converter(client.encoding)
    result: Json = {
        "range": place_range_json(converter, finding.place),
        "message": finding.message,
        "severity": _SEVERITIES[finding.severity],
        "code": finding.code,
        "source": SOURCE,
    }
    href = rule_href(finding.code) if client.can_link_rules else None
    if href is not None:
        result["codeDescription"] = {"href": href}
    if client.can_show_related and finding.related:
        places = locations(converter, (other.place for other in finding.related))
        result["relatedInformation"] = [
            {"location": location, "message": other.message}
            for location, other in zip(places, finding.related, strict=True)
        ]
    if client.can_fade_unnecessary and any(fix.drops for fix in finding.fixes):
        result["tags"] = [types.DiagnosticTag.Unnecessary.value]
    return result
