"""textDocument/hover."""

from dataclasses import replace

from lsprotocol import types

from hlo_lsp.analysis.cards.about import card_about
from hlo_lsp.analysis.cards.card import Fact
from hlo_lsp.analysis.cursor.subjects import (
    AllocationSubject,
    ComputationSubject,
    InstructionSubject,
    ValueSubject,
)
from hlo_lsp.features.markup import markdown, plain
from hlo_lsp.features.session import Asked

# What several files of a compile speak of.
_SHARED = (AllocationSubject, ComputationSubject, InstructionSubject, ValueSubject)


def hover(asked: Asked, position: types.Position) -> types.Hover | None:
    """What the cursor is on, as a card."""
    found = asked.at(position)
    card = None if found is None else card_about(asked.dump, found)
    if found is None or card is None:
        return None
    if asked.unread and isinstance(found.subject, _SHARED):
        names = ", ".join(f"`{path.name}`" for path in asked.unread)
        card = replace(card, facts=(*card.facts, Fact("not read yet", names)))
    if asked.client.reads_markdown:
        contents = types.MarkupContent(types.MarkupKind.Markdown, markdown(card, asked.sources.uri))
    else:
        contents = types.MarkupContent(types.MarkupKind.PlainText, plain(card, asked.sources.uri))
    return types.Hover(contents, asked.convert.range(found.place))
