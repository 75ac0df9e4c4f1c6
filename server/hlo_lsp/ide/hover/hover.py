"""The card for whatever the cursor is on."""

from hlo_lsp.ide.cursor.names import computation_meant, instruction_meant
from hlo_lsp.ide.cursor.targets import (
    AllocationSubject,
    AttributeSubject,
    ComputationSubject,
    ElementSubject,
    Found,
    InstructionSubject,
    ModuleSubject,
    ParameterSubject,
    RowSubject,
    ShapeSubject,
    SpaceSubject,
    ThunkSubject,
    ValueSubject,
    WordSubject,
)
from hlo_lsp.ide.hover.allocations import (
    allocation_card,
    report_row_card,
    space_card,
    thunk_card,
    word_card,
)
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.hover.modules import (
    attribute_card,
    computation_card,
    element_card,
    module_card,
    parameter_card,
    row_card,
)
from hlo_lsp.ide.hover.shapes import shape_card
from hlo_lsp.ide.hover.values import value_card
from hlo_lsp.ide.navigation.definitions import value_of
from hlo_lsp.model.card import Card
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.thunks import instruction_of


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
        line = instruction_meant(dump, found, subject.name)
        return instruction_card(dump, subject.name, index, line)
    if isinstance(subject, ComputationSubject):
        head = computation_meant(dump, found, subject.name)
        return instruction_card(dump, subject.name) if head is None else computation_card(head)
    if isinstance(subject, AllocationSubject):
        allocation = dump.allocation(subject.number)
        return None if allocation is None else allocation_card(dump, allocation)
    if isinstance(subject, ShapeSubject):
        return shape_card(subject.text, target_of(dump) if subject.has_layout else None)
    if isinstance(subject, SpaceSubject):
        return space_card(subject.number, target_of(dump).backend)
    if isinstance(subject, WordSubject):
        return report_row_card(dump, found) or word_card(subject.word)
    if isinstance(subject, ThunkSubject):
        return thunk_card(dump, subject.row, instruction_of(dump, subject.row))
    return _in_module(dump, found)


def _in_module(dump: DumpSet, found: Found) -> Card | None:
    """What only module text has."""
    subject = found.subject
    if isinstance(subject, AttributeSubject):
        return attribute_card(dump, found, subject)
    if isinstance(subject, RowSubject):
        return row_card(dump, found, subject)
    if isinstance(subject, ParameterSubject):
        return parameter_card(dump, found, subject)
    if isinstance(subject, ElementSubject):
        return element_card(dump, found, subject)
    if isinstance(subject, ModuleSubject):
        return module_card(dump, found.place.file)
    return None
