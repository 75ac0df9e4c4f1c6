"""Cards of labeled facts: what hovers, inspection, and explanations show of one subject."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.display.table import Table, markdown_blocks
from hlo_lsp.model.source import SourceLine
from hlo_lsp.text.inert import markdown_lines, markdown_text


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a card; ``text`` has names from dumps in backticks.

    ``source`` is the Python line in the text, for clients that support links; ``callers`` are the
    lines that call it, from the inside out, which are not in the text.
    """

    label: str
    text: str
    source: SourceLine | None = None
    callers: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """The facts about one subject, the most relevant first; ``headline`` sums them up.

    ``table`` is for answers of commands; hovers do not show it.
    """

    title: str
    facts: tuple[Fact, ...] = ()
    text: str = ""
    headline: str = ""
    table: Table | None = None


def card_markdown(card: Card) -> Iterator[str]:
    """Yield the lines of a card in Markdown, without links."""
    yield f"## {markdown_text(card.title)}"
    if card.headline:
        yield from ("", markdown_text(card.headline))
    yield ""
    yield from (f"- **{fact.label}** {markdown_text(fact.text)}" for fact in card.facts)
    if card.text:
        yield from ("", markdown_lines(card.text))
    if card.table is not None:
        yield from ("", *markdown_blocks([card.table]))
