"""Findings and rules on a terminal, rendered by rich."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import PurePath

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hlo_lsp.checks.catalogue import severities
from hlo_lsp.checks.check_jobs import FindingSummary, Spot
from hlo_lsp.checks.finding_formats import Count
from hlo_lsp.checks.framework.explanations import Explanation
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.rule_pages import severity_word
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.terminal import Words, print_table, rendered, with_names
from hlo_lsp.text.inert import printable

_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold blue",
    Severity.HINT: "bold cyan",
}


def findings_text(findings: Sequence[FindingSummary]) -> str:
    """Return findings as plain text."""
    return "".join(rendered(partial(print_finding, finding=finding)) for finding in findings)


def print_finding(console: Console, finding: FindingSummary) -> None:
    """Print a finding on one line, in the form of compilers, which editors and terminals link.

    Related places follow in lines of the same form.
    """
    severity = finding.severity
    line = _line(finding.spot, severity.value, _STYLES[severity], finding.message)
    console.print(line.append(f" [{finding.code}]", "dim"), soft_wrap=True)
    for other in finding.related:
        console.print(_line(other.spot, "note", "bold blue", other.message), soft_wrap=True)


def print_findings(console: Console, findings: Sequence[FindingSummary]) -> None:
    """Print findings: on a terminal below the name of their file, in a pipe on a line each."""
    if not console.is_terminal:
        for finding in findings:
            print_finding(console, finding)
        return
    for path, found in groupby(findings, key=lambda finding: finding.spot.path):
        console.print(Words(Text(printable(path))), style="bold")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        for _ in ("place", "severity"):
            table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for finding in found:
            text = with_names(finding.message).append(f" [{finding.code}]", "dim")
            severity = Text(finding.severity.value, _STYLES[finding.severity])
            table.add_row(_place(finding.spot, path), severity, Words(text))
            for other in finding.related:
                note = Text("note", _STYLES[Severity.INFORMATION])
                table.add_row(_place(other.spot, path), note, Words(with_names(other.message)))
        console.print(Padding(table, (0, 0, 1, 2)))


def _place(spot: Spot, path: str) -> str:
    """Return a line and a column, with the name of the file if it is another one."""
    where = f"{spot.line}:{spot.column}"
    return where if spot.path == path else printable(f"{PurePath(spot.path).name}:{where}")


def print_statistics(console: Console, counts: Sequence[Count]) -> None:
    """Print a line for each code: the number of findings, the severity, and the number of files."""
    for one in counts:
        line = Text.assemble(
            f"{one.count:>7,}  ",
            (one.severity.value, _STYLES[one.severity]),
            f" {one.code} in {count_noun(one.files, 'file')}",
        )
        console.print(line, soft_wrap=True)


def print_rules(console: Console, rules: Sequence[Explanation]) -> None:
    """Print a line for each rule: code, severity, and summary."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for rule in rules:
        severity = Text(severity_word(rule), _STYLES[severities()[rule.code]])
        table.add_row(rule.code, severity, Words(with_names(rule.what)))
    print_table(console, table)


def _line(spot: Spot, word: str, style: str, message: str) -> Text:
    where = printable(f"{spot.path}:{spot.line}:{spot.column}")
    return Text.assemble((where, "bold"), ": ", (word, style), f": {printable(message)}")
