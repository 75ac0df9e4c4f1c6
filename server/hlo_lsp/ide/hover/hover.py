"""The hover of a cursor target."""

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
from hlo_lsp.ide.navigation.definitions import target_value
from hlo_lsp.model.card import Card
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.thunks import thunk_instruction


def hover_card(dump: DumpSet, target: CursorTarget) -> Card | None:
    """Return the hover of a cursor target, or None if nothing is known about it."""
    kind = target.subject
    if isinstance(kind, ValueTarget):
        value = target_value(dump, kind)
        if value is not None:
            return value_card(dump, value)
        return instruction_card(dump, kind.key.partition("{")[0])
    if isinstance(kind, InstructionTarget):
        index = kind.index if kind.operand is None else None
        line = resolve_instruction(dump, target, kind.name)
        return instruction_card(dump, kind.name, index, line)
    if isinstance(kind, ComputationTarget):
        head = resolve_computation(dump, target, kind.name)
        return instruction_card(dump, kind.name) if head is None else computation_card(head)
    if isinstance(kind, AllocationTarget):
        allocation = dump.allocation(kind.number)
        return None if allocation is None else allocation_card(dump, allocation)
    if isinstance(kind, ShapeTarget):
        return shape_card(kind.text, target_of(dump) if kind.has_layout else None)
    if isinstance(kind, MemorySpaceTarget):
        return space_card(kind.number, target_of(dump).backend)
    if isinstance(kind, TermTarget):
        return report_row_card(dump, target) or term_card(kind.word)
    if isinstance(kind, ThunkTarget):
        return thunk_card(dump, kind.row, thunk_instruction(dump, kind.row))
    return _module_text_card(dump, target)


def _module_text_card(dump: DumpSet, target: CursorTarget) -> Card | None:
    """Return the hover of a target that only module text contains."""
    kind = target.subject
    if isinstance(kind, AttributeTarget):
        return attribute_card(dump, target, kind)
    if isinstance(kind, LocationRowTarget):
        return location_row_card(dump, target, kind)
    if isinstance(kind, ParameterTarget):
        return parameter_card(dump, target, kind)
    if isinstance(kind, TupleElementTarget):
        return tuple_element_card(dump, target, kind)
    if isinstance(kind, ModuleTarget):
        return module_card(dump, target.place.file)
    return None
