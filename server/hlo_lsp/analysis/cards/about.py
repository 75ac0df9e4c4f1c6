"""The card for whatever the cursor is on."""

from hlo_lsp.analysis.cards.card import Card
from hlo_lsp.analysis.cards.others import (
    allocation_card,
    instruction_card,
    space_card,
    thunk_card,
    word_card,
)
from hlo_lsp.analysis.cards.shapes import shape_card
from hlo_lsp.analysis.cards.values import value_card
from hlo_lsp.analysis.navigation import value_of
from hlo_lsp.analysis.subject import (
    AllocationSubject,
    Found,
    InstructionSubject,
    ShapeSubject,
    SpaceSubject,
    ThunkSubject,
    ValueSubject,
    WordSubject,
)
from hlo_lsp.analysis.target import target_of
from hlo_lsp.analysis.thunks import instruction_of
from hlo_lsp.model.dump_set import DumpSet


def card_about(dump: DumpSet, found: Found) -> Card | None:
    """What a reader is told, or None where there is nothing to tell."""
    subject = found.subject
    if isinstance(subject, ValueSubject):
        value = value_of(dump, subject)
        if value is not None:
            return value_card(dump, value)
        return instruction_card(dump, subject.key.partition("{")[0])
    if isinstance(subject, InstructionSubject):
        index = subject.index if subject.operand is None else None
        return instruction_card(dump, subject.name, index)
    if isinstance(subject, AllocationSubject):
        allocation = dump.allocation(subject.number)
        return None if allocation is None else allocation_card(dump, allocation)
    if isinstance(subject, ShapeSubject):
        return shape_card(subject.text, target_of(dump) if subject.has_layout else None)
    if isinstance(subject, SpaceSubject):
        return space_card(subject.number, target_of(dump).backend)
    if isinstance(subject, WordSubject):
        return word_card(subject.word)
    if isinstance(subject, ThunkSubject):
        name = instruction_of(dump, subject.row)
        return thunk_card(dump, subject.row, name)
    return instruction_card(dump, subject.name)
