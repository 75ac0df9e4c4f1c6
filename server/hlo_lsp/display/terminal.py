"""Cards and tables on a terminal, rendered by rich."""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hlo_lsp.display.cards import Card
from hlo_lsp.display.table import text_lines
from hlo_lsp.text.inert import printable, printable_lines, split_quoted_names
from hlo_lsp.text.wrapping import line_starts

_PIPE_COLUMNS = 1_000_000  # no line is wrapped


def card_text(card: Card) -> str:
    """Return a card as plain text."""
    return rendered(lambda console: print_card(console, card))


def print_card(console: Console, card: Card) -> None:
    """Print a card as a table of two columns."""
    console.print(Words(with_names(card.title)), style="bold")
    if card.headline:
        console.print(Words(with_names(card.headline)))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in card.facts:
        table.add_row(fact.label, Words(with_names(fact.text)))
    if card.facts:
        print_table(console, table)
    if card.text:
        console.print(Words(with_names(card.text, has_lines=True)))
    for line in () if card.table is None else text_lines([card.table]):
        console.print(Words(Text(printable(line))))


def print_note(console: Console, text: str) -> None:
    """Print a line of less importance, such as the path that an answer is from."""
    console.print(Words(Text(printable(text))), style="dim")


class _Console(Console):
    """A console that leaves a closed pipe to the command; rich would exit with status 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make_console() -> Console:
    """Return the console; in a pipe, lines are not wrapped."""
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_COLUMNS
    return _Console(width=wide, highlight=False)


def rendered(show: Callable[[Console], None]) -> str:
    """Return what ``show`` prints, as plain text and independent of the environment."""
    written = StringIO()
    show(Console(file=written, width=_PIPE_COLUMNS, highlight=False, color_system=None))
    return written.getvalue()


def print_table(console: Console, table: Table) -> None:
    """Print a table; in a pipe, without trailing spaces."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().removesuffix("\n").split("\n"):
        console.print(line.rstrip(), soft_wrap=True, markup=False)


@dataclass(frozen=True, slots=True)
class Words:
    """A text whose lines end between words, or at a sign inside of a long name."""

    text: Text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.text)

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[Text]:
        for part in self.text.split(allow_blank=True):
            for line in part.divide(line_starts(part.plain, options.max_width)):
                line.rstrip()
                yield line


def with_names(text: str, *, has_lines: bool = False) -> Text:
    """Return a text with its names, which are in backticks, in color."""
    result = Text()
    shown = printable_lines(text) if has_lines else printable(text)
    for is_name, part in split_quoted_names(shown):
        result.append(part, style="green" if is_name else "")
    return result
