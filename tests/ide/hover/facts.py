"""Hovers as dictionaries."""

from hlo_lsp.display.cards import Card
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.hover.values import value_card
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile


def facts(card: Card | None) -> dict[str, str]:
    """Return the facts of a card by label; labels are unique."""
    assert card is not None
    found = {fact.label: fact.text for fact in card.facts}
    assert len(found) == len(card.facts)
    return found


def value_facts(dump: Compile, value_id: int) -> dict[str, str]:
    """Return the facts of a value's card."""
    value = dump.value(value_id)
    assert value is not None
    return facts(value_card(dump, value))


def dump_of(text: str, path: str = "dump.txt") -> Compile:
    """Return a compile with one file."""
    return Compile([DumpFile.of_text(text, path)])


def card_at(text: str, line: int, column: int, path: str = "dump.txt") -> Card | None:
    """Return the card at a position in a text."""
    file = DumpFile.of_text(text, path)
    found = cursor_target_at(file, line, column)
    return None if found is None else hover_card(Compile([file]), found)
