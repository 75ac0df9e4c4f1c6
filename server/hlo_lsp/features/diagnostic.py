"""A finding as the protocol has it: plain JSON, as there may be thousands."""

from lsprotocol import types

from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.features.client import Client
from hlo_lsp.features.convert import Converter
from hlo_lsp.features.rules_page import rule_href
from hlo_lsp.features.wire import Json, locations, range_of
from hlo_lsp.text.checkpoint import checkpoint

SOURCE = "hlo-lsp"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error.value,
    Severity.WARNING: types.DiagnosticSeverity.Warning.value,
    Severity.INFORMATION: types.DiagnosticSeverity.Information.value,
    Severity.HINT: types.DiagnosticSeverity.Hint.value,
}
_STEP = 100  # findings between two breaths: about 2 ms


def diagnostics(client: Client, findings: list[Finding]) -> list[Json]:
    """What is sent about findings."""
    found = []
    for count, finding in enumerate(findings):
        if count % _STEP == _STEP - 1:
            checkpoint()
        found.append(diagnostic(client, finding))
    return found


def diagnostic(client: Client, finding: Finding) -> Json:
    """What is sent about a finding: as much of it as the client can show."""
    convert = Converter(client.encoding)
    said: Json = {
        "range": range_of(convert, finding.place),
        "message": finding.message,
        "severity": _SEVERITIES[finding.severity],
        "code": finding.code,
        "source": SOURCE,
    }
    href = rule_href(finding.code) if client.shows_rule_links else None
    if href is not None:
        said["codeDescription"] = {"href": href}
    if client.shows_related and finding.related:
        places = locations(convert, (other.place for other in finding.related))
        said["relatedInformation"] = [
            {"location": location, "message": other.message}
            for location, other in zip(places, finding.related, strict=True)
        ]
    if client.fades_unnecessary and any(fix.drops for fix in finding.fixes):
        said["tags"] = [types.DiagnosticTag.Unnecessary.value]
    return said
