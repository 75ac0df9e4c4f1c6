"""Definitions, declarations, type definitions, and implementations of the cursor target.

A mention of a value leads to its entry under ``Used values``; the header of that entry leads to the
line in the allocation. Both headers also lead to the instruction in the module text. An instruction
in a memory file leads to the entry of the value that it defines at the printed index, otherwise to
its line in the module text, otherwise to its schedule row. A name in module text leads to its line
in the same computation.
"""

from collections.abc import Iterable

from hlo_lsp.ide.cursor.resolution import (
    enclosing_computation,
    name_scope,
    resolve_computation,
    resolve_instruction,
)
from hlo_lsp.ide.cursor.targets import (
    AllocationTarget,
    ComputationTarget,
    CursorTarget,
    InstructionTarget,
    LocationRowTarget,
    ParameterTarget,
    ThunkTarget,
    TupleElementTarget,
    ValueTarget,
    name_columns,
)
from hlo_lsp.ide.navigation.report_rows import reported_row_at
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Place, Value
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.dataflow import (
    element_sources,
    operands_of_parameter,
    parameters_of_operand,
    roots_of,
)
from hlo_lsp.program.passes import counterparts
from hlo_lsp.program.thunks import thunk_instruction
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record


def definitions(dump: DumpSet, target: CursorTarget) -> list[Place]:
    """Return the places that define the cursor target, the best one first."""
    entity = target.entity
    if isinstance(entity, ValueTarget):
        return _value_definitions(dump, target, entity)
    if isinstance(entity, InstructionTarget):
        if name_scope(target.place.file, target.record) is not None:
            return _head_places([resolve_instruction(dump, target, entity.name)])
        return _instruction_definitions(dump, entity.name, entity.index or "{}")
    if isinstance(entity, ThunkTarget):
        name = thunk_instruction(dump, entity.row)
        return [] if name is None else _instruction_definitions(dump, name, None)
    if isinstance(entity, ComputationTarget):
        head = resolve_computation(dump, target, entity.name)
        return _head_places([head]) or _instruction_definitions(dump, entity.name, None)
    if isinstance(entity, AllocationTarget):
        return _head_places([dump.allocation(entity.number)])
    if isinstance(entity, TupleElementTarget):
        return _module_places(target, _tuple_element_sources(target))
    if isinstance(entity, ParameterTarget):
        return _parameter_definitions(target, entity)
    if isinstance(entity, LocationRowTarget):
        return _location_row_definitions(dump, target, entity)
    reported = reported_row_at(dump, target)
    return [] if reported is None else _head_places(reported.values)


def definition(dump: DumpSet, target: CursorTarget) -> Place | None:
    """Return the best place that defines the cursor target, or None."""
    return next(iter(definitions(dump, target)), None)


def declaration(dump: DumpSet, target: CursorTarget) -> Place | None:
    """Return the allocation line of the value at the cursor."""
    entity = target.entity
    value: Value | None = None
    if isinstance(entity, ValueTarget):
        value = target_value(dump, entity)
    elif isinstance(entity, InstructionTarget):
        value = dump.value_of_key(entity.name + (entity.index or "{}"))
        if value is None and name_scope(target.place.file, target.record) is not None:
            value = _first_value_of_instruction(dump, entity.name)
    elif isinstance(entity, AllocationTarget):
        allocation = dump.allocation(entity.number)
        return None if allocation is None else head_place(allocation)
    else:
        reported = reported_row_at(dump, target)
        return None if reported is None else head_place(reported.allocation)
    return None if value is None or value.allocation is None else head_place(value.allocation)


def type_definitions(dump: DumpSet, target: CursorTarget) -> list[Place]:
    """Return the computations that an instruction calls.

    In a memory file, return the entry of the value that flows through the instruction.
    """
    entity = target.entity
    if isinstance(entity, ValueTarget):
        return definitions(dump, target)[:1]
    if not isinstance(entity, InstructionTarget):
        return definitions(dump, target) if isinstance(entity, ComputationTarget) else []
    if name_scope(target.place.file, target.record) is not None:
        meant = resolve_instruction(dump, target, entity.name)
        if meant is None:
            return []
        return _head_places(
            LocatedRecord(meant.file, head) for head in meant.file.module.called_by(meant.record)
        )
    for entry in dump.entries_at(entity.name):
        for position in entry.record.positions:
            if position.name == entity.name and (position.index or "{}") == (entity.index or "{}"):
                return [head_place(entry)]
    return []


def implementations(dump: DumpSet, target: CursorTarget) -> list[Place]:
    """Return the roots of the computations that an instruction calls.

    For an operand of a call, return the parameter that it is passed as. For an instruction that
    calls nothing, return the instructions for the same operation in the other texts of the module.
    """
    entity = target.entity
    if isinstance(entity, ComputationTarget):
        head = resolve_computation(dump, target, entity.name)
        root = None if head is None else head.file.module.computation(head.record).root
        return [] if head is None or root is None else [head_place(LocatedRecord(head.file, root))]
    if not isinstance(entity, InstructionTarget):
        return []
    record, file = target.record, target.place.file
    if isinstance(record, InstructionLine) and entity.operand is not None:
        return _module_places(target, parameters_of_operand(file.module, record, entity.operand))
    meant = resolve_instruction(dump, target, entity.name)
    if meant is None:
        return []
    roots = roots_of(meant.file.module, meant.record)
    if roots:
        return _head_places(LocatedRecord(meant.file, root) for root in roots)
    return _head_places(counterparts(dump, meant))


def innermost_python_line(dump: DumpSet, target: CursorTarget) -> SourceLine | None:
    """Return the innermost Python line of the instruction or value at the cursor."""
    entity = target.entity
    if isinstance(entity, ValueTarget):
        text = dump.text_of(entity.key.partition("{")[0])
    elif isinstance(entity, InstructionTarget):
        line = resolve_instruction(dump, target, entity.name)
        text = dump.text_of(entity.name) if line is None else line.record.parsed
    else:
        return None
    return None if text is None else next(iter(dump.stack(text)), None)


def target_value(dump: DumpSet, entity: ValueTarget) -> Value | None:
    """Return the value of a cursor target, by id if it has one, otherwise by name and index."""
    by_id = None if entity.id is None else dump.value(entity.id)
    return by_id or dump.value_of_key(entity.key)


def head_place(located: LocatedRecord[Record]) -> Place:
    """Return the first line of a record, with the columns of its name."""
    file, record = located.file, located.record
    line = record.line
    text = file.lines[line]
    start, end = name_columns(record, text)
    return Place(file, line, start, end)


def unique_places(places: Iterable[Place]) -> list[Place]:
    """Return each place once, ordered by file and line."""
    unique = {(place.file.uri, place.number, place.start): place for place in places}
    return [unique[key] for key in sorted(unique)]


def _value_definitions(dump: DumpSet, target: CursorTarget, entity: ValueTarget) -> list[Place]:
    value = target_value(dump, entity)
    if value is None:
        return _instruction_definitions(dump, entity.key.partition("{")[0], None)
    parts = [value.entry, value.assigned]
    if target.is_own_header:
        parts.reverse()
    places = _head_places(parts)[:1]
    if target.is_own_header or isinstance(target.record, AssignedValue):
        places += _head_places([dump.instruction(value.name)])
    return places


def _instruction_definitions(dump: DumpSet, name: str, index: str | None) -> list[Place]:
    """Return the value that an instruction defines at ``index``, otherwise its line."""
    if index is not None:
        value = dump.value_of_key(name + index)
        if value is not None and value.entry is not None:
            return [head_place(value.entry)]
    return _head_places([dump.instruction(name)]) or _head_places([dump.step(name)])


def _tuple_element_sources(target: CursorTarget) -> list[InstructionLine]:
    """Return the instructions that define the element of a ``get-tuple-element``."""
    module, record, entity = target.place.file.module, target.record, target.entity
    assert isinstance(record, InstructionLine)
    assert isinstance(entity, TupleElementTarget)
    operand = next(iter(module.operands(record)), None)
    return [] if operand is None else element_sources(module, operand, entity.number)


def _parameter_definitions(target: CursorTarget, entity: ParameterTarget) -> list[Place]:
    """Return the operands that are passed as a parameter; in the module header, the parameter."""
    module = target.place.file.module
    around = enclosing_computation(target)
    if around is None:
        return []
    parameter = module.computation(around.record).parameters.get(entity.number)
    if parameter is None:
        return []
    if isinstance(target.record, ModuleHeader):
        return _module_places(target, [parameter])
    return _module_places(
        target, [operand for _, operand in operands_of_parameter(module, parameter)]
    )


def _location_row_definitions(
    dump: DumpSet, target: CursorTarget, entity: LocationRowTarget
) -> list[Place]:
    files = [target.place.file, *dump.files]
    for file in files:
        rows = file.module.tables.rows[entity.table]
        if 0 < entity.number <= len(rows):
            return [head_place(LocatedRecord(file, rows[entity.number - 1]))]
    return []


def _first_value_of_instruction(dump: DumpSet, name: str) -> Value | None:
    """Return the first value that an instruction defines, otherwise one that flows through it."""
    entries = sorted(dump.entries_at(name), key=lambda entry: entry.record.name != name)
    ids = (entry.record.id for entry in entries)
    return next((dump.value(value_id) for value_id in ids if value_id is not None), None)


def _module_places(target: CursorTarget, records: Iterable[InstructionLine]) -> list[Place]:
    file = target.place.file
    return list(dict.fromkeys(_head_places(LocatedRecord(file, record) for record in records)))


def _head_places(parts: Iterable[LocatedRecord[Record] | None]) -> list[Place]:
    return [head_place(part) for part in parts if part is not None]
