"""The page of all rules, as a file that an editor can open at a rule."""

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
# Inside the wheel the page lies in the package, in a checkout beside server/.
_PAGE_PATHS = (
    _MODULE_PATH.parents[1] / "docs" / "rules.md",
    _MODULE_PATH.parents[3] / "docs" / "rules.md",
)


@cache
def rules_page() -> Path | None:
    """The page, None where it was not installed as a file."""
    return next((path for path in _PAGE_PATHS if path.is_file()), None)


@cache
def rule_line_numbers() -> Mapping[str, int]:
    """The lines of the page (from 0) on which the texts about codes begin."""
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
    """A link to the text about a code, None if there is none.

    It leads to a line: editors open the page themselves, and know no other anchors in a file.
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
_FINDINGS_PER_CHECKPOINT = 100  # findings between two breaths: about 2 ms


def diagnostics_json(client: Client, findings: list[Finding]) -> list[Json]:
    """What is sent about findings."""
    found = []
    for count, finding in enumerate(findings):
        if count % _FINDINGS_PER_CHECKPOINT == _FINDINGS_PER_CHECKPOINT - 1:
            checkpoint()
        found.append(diagnostic_json(client, finding))
    return found


def diagnostic_json(client: Client, finding: Finding) -> Json:
    """What is sent about a finding: as much of it as the client can show."""
    converter = Converter(client.encoding)
    said: Json = {
        "range": place_range_json(converter, finding.place),
        "message": finding.message,
        "severity": _SEVERITIES[finding.severity],
        "code": finding.code,
        "source": SOURCE,
    }
    href = rule_href(finding.code) if client.can_link_rules else None
    if href is not None:
        said["codeDescription"] = {"href": href}
    if client.can_show_related and finding.related:
        places = locations(converter, (other.place for other in finding.related))
        said["relatedInformation"] = [
            {"location": location, "message": other.message}
            for location, other in zip(places, finding.related, strict=True)
        ]
    if client.can_fade_unnecessary and any(fix.drops for fix in finding.fixes):
        said["tags"] = [types.DiagnosticTag.Unnecessary.value]
    return said
