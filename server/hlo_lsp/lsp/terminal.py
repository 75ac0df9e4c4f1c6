"""Cards and findings on a terminal, rendered by rich."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import groupby
from pathlib import PurePath

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hlo_lsp.checks.catalogue import severities
from hlo_lsp.checks.folders import FindingSummary, Spot
from hlo_lsp.checks.framework.explanations import Explanation
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.output import Count, severity_word
from hlo_lsp.model.display import Card, count_noun
from hlo_lsp.text.inert import printable, printable_lines, split_quoted_names
from hlo_lsp.text.wrapping import line_starts

_PIPE_COLUMNS = 1_000_000  # no line is wrapped
_FILE_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\(file:[^()\s]*\)")
_BLANK_LINES = re.compile(r"\n{3,}")

_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold blue",
    Severity.HINT: "bold cyan",
}


def card_text(card: Card) -> str:
    """Return a card as plain text."""
    return _rendered(lambda console: print_card(console, card))


def findings_text(findings: Sequence[FindingSummary]) -> str:
    """Return findings as plain text."""
    return "".join(_rendered(partial(print_finding, finding=finding)) for finding in findings)


def rendered_markdown(markdown: str, columns: int) -> str:
    """Return Markdown as plain text with aligned tables, in lines of at most ``columns``."""
    # The extension for VS Code, which renders Markdown itself, does not bundle the parser.
    from rich.markdown import Markdown  # noqa: PLC0415

    written = StringIO()
    console = Console(file=written, width=columns, highlight=False, color_system=None)
    # The parser leaves links to files as they are written.
    console.print(Markdown(_FILE_LINK.sub(r"\1", markdown), hyperlinks=False))
    text = written.getvalue().replace("\N{NO-BREAK SPACE}", " ")
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip() + "\n"


def print_card(console: Console, card: Card) -> None:
    """Print a card as a table of two columns."""
    console.print(_Words(_with_names(card.title)), style="bold")
    if card.headline:
        console.print(_Words(_with_names(card.headline)))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in card.facts:
        table.add_row(fact.label, _Words(_with_names(fact.text)))
    if card.facts:
        _print_table(console, table)
    if card.text:
        console.print(_Words(_with_names(card.text, has_lines=True)))


def print_note(console: Console, text: str) -> None:
    """Print a line of less importance, such as the path that an answer is from."""
    console.print(_Words(Text(printable(text))), style="dim")


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
        console.print(_Words(Text(printable(path))), style="bold")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        for _ in ("place", "severity"):
            table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for finding in found:
            text = _with_names(finding.message).append(f" [{finding.code}]", "dim")
            severity = Text(finding.severity.value, _STYLES[finding.severity])
            table.add_row(_place(finding.spot, path), severity, _Words(text))
            for other in finding.related:
                note = Text("note", _STYLES[Severity.INFORMATION])
                table.add_row(_place(other.spot, path), note, _Words(_with_names(other.message)))
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
        table.add_row(rule.code, severity, _Words(_with_names(rule.what)))
    _print_table(console, table)


def make_console() -> Console:
    """Return the console; in a pipe, lines are not wrapped."""
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_COLUMNS
    return Console(width=wide, highlight=False)


def _rendered(show: Callable[[Console], None]) -> str:
    """Return what ``show`` prints, as plain text and independent of the environment."""
    written = StringIO()
    show(Console(file=written, width=_PIPE_COLUMNS, highlight=False, color_system=None))
    return written.getvalue()


def _print_table(console: Console, table: Table) -> None:
    """Print a table; in a pipe, without trailing spaces."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().removesuffix("\n").split("\n"):
        console.print(line.rstrip(), soft_wrap=True, markup=False)


def _line(spot: Spot, word: str, style: str, message: str) -> Text:
    where = printable(f"{spot.path}:{spot.line}:{spot.column}")
    return Text.assemble((where, "bold"), ": ", (word, style), f": {printable(message)}")


@dataclass(frozen=True, slots=True)
class _Words:
    """A text whose lines end between words, or at a sign inside of a long name."""

    text: Text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.text)

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[Text]:
        for part in self.text.split(allow_blank=True):
            for line in part.divide(line_starts(part.plain, options.max_width)):
                line.rstrip()
                yield line


def _with_names(text: str, *, has_lines: bool = False) -> Text:
    result = Text()
    shown = printable_lines(text) if has_lines else printable(text)
    for is_name, part in split_quoted_names(shown):
        result.append(part, style="green" if is_name else "")
    return result
