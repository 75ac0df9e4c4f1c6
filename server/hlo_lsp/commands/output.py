"""The formats of ``hlo-lsp check``."""

import json
import sys
from collections.abc import Sequence

from hlo_lsp.analysis.cards.card import counted
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.folder import Checked
from hlo_lsp.checks.folders.told import Told
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.views.findings import finding_json
from hlo_lsp.views.github import workflow_command
from hlo_lsp.views.sarif import sarif
from hlo_lsp.views.statistics import count_json, counts_of
from hlo_lsp.views.terminal import print_finding, print_statistics, wide_when_piped

FORMATS = ("text", "json", "sarif", "github")
_PROBLEMS = {Severity.ERROR, Severity.WARNING}  # the rest is advice


def print_report(
    results: Sequence[Checked], notes: Sequence[str], form: str, *, statistics: bool
) -> None:
    """Print all findings to standard output in one of the formats, or how many there are."""
    findings = [told for checked in results for told in checked.findings]
    if form == "text":
        _print_text(results, findings, statistics=statistics)
    elif form == "github":
        for told in findings:
            print(workflow_command(told))
    elif form == "sarif":
        print(json.dumps(sarif(findings, notes), indent=1))
    elif statistics:
        print(json.dumps([count_json(one) for one in counts_of(findings)]))
    else:
        print(json.dumps([finding_json(told) for told in findings]))


def _print_text(results: Sequence[Checked], findings: Sequence[Told], *, statistics: bool) -> None:
    console = wide_when_piped()
    if not findings:
        return
    if statistics:
        print_statistics(console, counts_of(findings))
    for told in () if statistics else findings:
        print_finding(console, told)
    sys.stdout.flush()  # the summary comes last, also where both go to one file
    print(_summary(results, findings), file=sys.stderr)


def _summary(results: Sequence[Checked], findings: Sequence[Told]) -> str:
    looked_at = sum(checked.kind is not FileKind.OTHER for checked in results)
    with_findings = sum(bool(checked.findings) for checked in results)
    problems = sum(told.severity in _PROBLEMS for told in findings)
    advice = len(findings) - problems
    what = [counted(problems, "problem")] if problems else []
    what += [f"{counted(advice, 'piece')} of advice"] if advice else []
    return f"{' and '.join(what)} in {with_findings} of {counted(looked_at, 'file')}"
