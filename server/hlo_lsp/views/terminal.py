"""Cards and findings on a terminal, by rich."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hlo_lsp.analysis.cards.card import Card, parts
from hlo_lsp.checks.finding import Finding, Severity

_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold blue",
    Severity.HINT: "bold cyan",
}


def print_card(console: Console, card: Card) -> None:
    """A card as a table of two columns."""
    console.print(_names(card.title), style="bold")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in card.facts:
        table.add_row(fact.label, _names(fact.text))
    if card.facts:
        console.print(table)
    if card.text:
        console.print(_names(card.text))


def print_finding(console: Console, path: str, finding: Finding) -> None:
    """One finding on one line, as compilers print them; editors and terminals make it a link."""
    place = finding.place
    console.print(
        Text.assemble(
            (f"{path}:{place.number}:{place.start + 1}", "bold"),
            ": ",
            (finding.severity.value, _STYLES[finding.severity]),
            f": {finding.message} ",
            (f"[{finding.code}]", "dim"),
        ),
        soft_wrap=True,
    )


def _names(text: str) -> Text:
    """Text in which what stands between backticks is set off."""
    result = Text()
    for is_name, part in parts(text):
        result.append(part, style="green" if is_name else "")
    return result
