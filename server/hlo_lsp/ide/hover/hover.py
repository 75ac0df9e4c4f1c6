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
from hlo_lsp.model.display import Card
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.thunks import thunk_instruction


def hover_card(dump: DumpSet, target: CursorTarget) -> Card | None:
    """Return the hover of a cursor target, or None if nothing is known about it."""
    entity = target.entity
    if isinstance(entity, ValueTarget):
        value = target_value(dump, entity)
        if value is not None:
            return value_card(dump, value)
        return instruction_card(dump, entity.key.partition("{")[0])
    if isinstance(entity, InstructionTarget):
        index = entity.index if entity.operand is None else None
        line = resolve_instruction(dump, target, entity.name)
        return instruction_card(dump, entity.name, index, line)
    if isinstance(entity, ComputationTarget):
        head = resolve_computation(dump, target, entity.name)
        return instruction_card(dump, entity.name) if head is None else computation_card(head)
    if isinstance(entity, AllocationTarget):
        allocation = dump.allocation(entity.number)
        return None if allocation is None else allocation_card(dump, allocation)
    if isinstance(entity, ShapeTarget):
        return shape_card(entity.text, target_of(dump) if entity.has_layout else None)
    if isinstance(entity, MemorySpaceTarget):
        return space_card(entity.number, target_of(dump).backend)
    if isinstance(entity, TermTarget):
        return report_row_card(dump, target) or term_card(entity.word)
    if isinstance(entity, ThunkTarget):
        return thunk_card(dump, entity.row, thunk_instruction(dump, entity.row))
    return _module_text_card(dump, target)


def _module_text_card(dump: DumpSet, target: CursorTarget) -> Card | None:
    """Return the hover of a target that only module text contains."""
    entity = target.entity
    if isinstance(entity, AttributeTarget):
        return attribute_card(dump, target, entity)
    if isinstance(entity, LocationRowTarget):
        return location_row_card(dump, target, entity)
    if isinstance(entity, ParameterTarget):
        return parameter_card(dump, target, entity)
    if isinstance(entity, TupleElementTarget):
        return tuple_element_card(dump, target, entity)
    if isinstance(entity, ModuleTarget):
        return module_card(dump, target.place.file)
    return None
