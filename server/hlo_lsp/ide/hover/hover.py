"""The card for whatever the cursor is on."""

from hlo_lsp.ide.cursor.resolution import resolve_computation, resolve_instruction
from hlo_lsp.ide.cursor.targets import (
    AllocationTarget,
    AttributeTarget,
    ComputationTarget,
    CursorTarget,
    InstructionTarget,
    LocationRowTarget,
    MemorySpaceTarget,
    ModuleTarget,
    ParameterTarget,
    ShapeTarget,
    TermTarget,
    ThunkTarget,
    TupleElementTarget,
    ValueTarget,
)
from hlo_lsp.ide.hover.allocations import (
    allocation_card,
    report_row_card,
    space_card,
    term_card,
    thunk_card,
)
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.hover.modules import (
    attribute_card,
    computation_card,
    location_row_card,
    module_card,
    parameter_card,
    tuple_element_card,
)
from hlo_lsp.ide.hover.shapes import shape_card
from hlo_lsp.ide.hover.values import value_card
from hlo_lsp.ide.navigation.definitions import value_of
from hlo_lsp.model.card import Card
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.thunks import thunk_instruction


def hover_card(dump: DumpSet, found: CursorTarget) -> Card | None:
    """What a reader is told, or None where there is nothing to tell."""
    subject = found.subject
    if isinstance(subject, ValueTarget):
        value = value_of(dump, subject)
        if value is not None:
            return value_card(dump, value)
        return instruction_card(dump, subject.key.partition("{")[0])
    if isinstance(subject, InstructionTarget):
        index = subject.index if subject.operand is None else None
        line = resolve_instruction(dump, found, subject.name)
        return instruction_card(dump, subject.name, index, line)
    if isinstance(subject, ComputationTarget):
        head = resolve_computation(dump, found, subject.name)
        return instruction_card(dump, subject.name) if head is None else computation_card(head)
    if isinstance(subject, AllocationTarget):
        allocation = dump.allocation(subject.number)
        return None if allocation is None else allocation_card(dump, allocation)
    if isinstance(subject, ShapeTarget):
        return shape_card(subject.text, target_of(dump) if subject.has_layout else None)
    if isinstance(subject, MemorySpaceTarget):
        return space_card(subject.number, target_of(dump).backend)
    if isinstance(subject, TermTarget):
        return report_row_card(dump, found) or term_card(subject.word)
    if isinstance(subject, ThunkTarget):
        return thunk_card(dump, subject.row, thunk_instruction(dump, subject.row))
    return _module_text_card(dump, found)


def _module_text_card(dump: DumpSet, found: CursorTarget) -> Card | None:
    """What only module text has."""
    subject = found.subject
    if isinstance(subject, AttributeTarget):
        return attribute_card(dump, found, subject)
    if isinstance(subject, LocationRowTarget):
        return location_row_card(dump, found, subject)
    if isinstance(subject, ParameterTarget):
        return parameter_card(dump, found, subject)
    if isinstance(subject, TupleElementTarget):
        return tuple_element_card(dump, found, subject)
    if isinstance(subject, ModuleTarget):
        return module_card(dump, found.place.file)
    return None
