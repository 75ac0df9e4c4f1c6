"""Definitions, declarations, type definitions, and implementations of the cursor target.

A mention of a value leads to its entry under ``Used values``. The header of that entry and the line
in the allocation lead to the instruction in the module text, otherwise to each other; declarations
and type definitions lead from one to the other, too. An instruction
in a memory file leads to the entry of the value that it defines at the printed index, otherwise to
its line in the module text, otherwise to its schedule row. A name in module text leads to its line
in the same computation.
"""

from collections.abc import Iterable

from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.navigation.filecheck import capture_places
from hlo_lsp.memory.memory_usage_report import ReportedRow, reported_row
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord, Place, Value, name_place
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.unprinted_instructions import TupleElement
from hlo_lsp.program.collective_roles import annotations_of
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.instruction_owners import owner_of_line
from hlo_lsp.program.schedule import thunk_instruction
from hlo_lsp.program.stages import counterparts
from hlo_lsp.syntax.memory_records import AssignedValue, TableRow
from hlo_lsp.syntax.module_records import InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue


def definitions(dump: Compile, target: CursorTarget) -> list[Place]:
    """Return the places that define the cursor target, the best one first."""
    module = target.place.file.module
    match target.entity:
        case targets.ValueTarget() as entity:
            return _value_definitions(dump, target, entity)
        case targets.InstructionTarget(name=name, index=index):
            if target.is_in_module_text:
                line = targets.resolve_instruction(dump, target, name)
                shortened = None if line else targets.resolve_shortened(target, name)
                return _name_places([line]) if shortened is None else [shortened.place]
            return _instruction_definitions(dump, name, index or "{}")
        case targets.ThunkTarget(row=row):
            thunk_name = thunk_instruction(dump, row)
            return [] if thunk_name is None else _instruction_definitions(dump, thunk_name, None)
        case targets.ComputationTarget(name=name):
            head = targets.resolve_computation(dump, target, name)
            return _name_places([head]) or _instruction_definitions(dump, name, None)
        case targets.CaptureTarget() as entity:
            return capture_places(target.place.file, entity)
        case targets.AllocationTarget(number=number):
            return _name_places([dump.allocation(number)])
        case targets.TupleElementTarget(number=number):
            assert isinstance(target.record, InstructionLine)
            operand = next(iter(module.operands(target.record)), None)
            sources = [] if operand is None else ModuleFlow(module).producers(operand, (number,))
            return _module_places(target, sources)
        case targets.ParameterTarget(number=number):
            parameter = targets.resolve_parameter(target, number)
            if parameter is None or isinstance(target.record, ModuleHeader):
                return _name_places([parameter])
            passed = ModuleFlow(module).arguments(parameter.record)
            return _module_places(target, [operand for _, operand in passed])
        case targets.LocationRowTarget() as entity:
            return _name_places([targets.resolve_location_row(dump, target, entity)])
    reported = reported_row_at(dump, target)
    return [] if reported is None else _name_places(reported.values)


def declaration(dump: Compile, target: CursorTarget) -> Place | None:
    """Return the allocation line of the value at the cursor."""
    value: Value | None = None
    match target.entity:
        case targets.ValueTarget() as entity:
            value = targets.target_value(dump, entity)
        case targets.InstructionTarget(name=name, index=index):
            value = dump.value_of_key(name + (index or "{}"))
            if value is None and target.is_in_module_text:
                value = _first_value_of_instruction(dump, name)
        case targets.AllocationTarget(number=number):
            return next(iter(_name_places([dump.allocation(number)])), None)
        case _:
            reported = reported_row_at(dump, target)
            return None if reported is None else reported.allocation.name_place
    return None if value is None or value.allocation is None else value.allocation.name_place


def type_definitions(dump: Compile, target: CursorTarget) -> list[Place]:
    """Return the shardings that ask for a collective, and the computations of an instruction.

    For an element such as ``tuple#1``, return the instructions that compute it. In a memory file,
    return the entry of the value that flows through the instruction.
    """
    entity = target.entity
    if isinstance(entity, targets.ValueTarget):
        return _memory_file_places(dump, target, entity)
    if isinstance(entity, targets.ComputationTarget):
        return definitions(dump, target)
    if not isinstance(entity, targets.InstructionTarget):
        return []
    if target.is_in_module_text:
        meant = targets.resolve_instruction(dump, target, entity.name)
        if meant is None:
            return []
        if isinstance(meant.record, TupleElement):
            return _origin_places(meant)
        called = meant.file.module.called_by(meant.record)
        heads = (LocatedRecord(meant.file, head) for head in called)
        return _name_places([*annotations_of(dump, meant), *heads])
    for entry in dump.entries_at(entity.name):
        for position in entry.record.positions:
            if position.name == entity.name and (position.index or "{}") == (entity.index or "{}"):
                return [entry.name_place]
    return []


def implementations(dump: Compile, target: CursorTarget) -> list[Place]:
    """Return the roots of the computations that an instruction calls.

    For an operand of a call, return the parameter that it is passed as. For an instruction that
    calls nothing, return the instructions for the same operation in the other texts of the module.
    """
    entity, record, module = target.entity, target.record, target.place.file.module
    if isinstance(entity, targets.ComputationTarget):
        head = targets.resolve_computation(dump, target, entity.name)
        root = None if head is None else head.file.module.computation(head.record).root
        return [] if head is None or root is None else [name_place(head.file, root)]
    if not isinstance(entity, targets.InstructionTarget):
        return []
    if isinstance(record, InstructionLine) and entity.operand is not None:
        found = ModuleFlow(module).parameters(record, entity.operand)
        if found or "#" not in entity.name:
            return _module_places(target, found)
    meant = targets.resolve_instruction(dump, target, entity.name)
    if meant is None:
        return []
    if isinstance(meant.record, TupleElement):
        return _origin_places(meant)
    roots = list(ModuleFlow(meant.file.module).roots(meant.record))
    by_file = {meant.file: roots} if roots else counterparts(dump, meant)
    return _name_places(
        LocatedRecord(file, record) for file, records in by_file.items() for record in records
    )


def _origin_places(element: LocatedRecord[InstructionLine]) -> list[Place]:
    """Return the instructions that compute an element of a tuple."""
    file, record = element.file, element.record
    assert isinstance(record, TupleElement)
    assert record.holder is not None
    sources = ModuleFlow(file.module).producers(record.holder, (record.number,))
    return list(dict.fromkeys(_name_places(LocatedRecord(file, source) for source in sources)))


def reported_row_at(dump: Compile, target: CursorTarget) -> ReportedRow | None:
    """Return the report row at the cursor, unless the cursor is on one of its shapes."""
    if not isinstance(target.record, TableRow) or not isinstance(target.entity, targets.TermTarget):
        return None
    return reported_row(dump, target.place.file, target.record)


def innermost_python_line(dump: Compile, target: CursorTarget) -> SourceLine | None:
    """Return the innermost Python line of the instruction or value at the cursor."""
    if not isinstance(target.entity, targets.ValueTarget | targets.InstructionTarget):
        return None
    name = targets.target_instruction(dump, target.entity) or ""
    line = targets.resolve_instruction(dump, target, name)
    owner = owner_of_line(dump, line or dump.instruction(name))
    if owner is not None:
        return next(iter(owner.stack), None)
    text = dump.text_of(name) if line is None else line.record.parsed
    return None if text is None else next(iter(dump.stack_of(text.metadata)), None)


def _value_definitions(
    dump: Compile, target: CursorTarget, entity: targets.ValueTarget
) -> list[Place]:
    value = targets.target_value(dump, entity)
    if value is None:
        return _instruction_definitions(dump, entity.key.partition("{")[0], None)
    if _is_entry_header(target) or isinstance(target.record, AssignedValue):
        instruction = _name_places([dump.instruction(value.name)])
        return instruction or _memory_file_places(dump, target, entity)
    return _memory_file_places(dump, target, entity)


def _memory_file_places(
    dump: Compile, target: CursorTarget, entity: targets.ValueTarget
) -> list[Place]:
    """Return the entry of a value under ``Used values`` or, from there, its allocation line."""
    value = targets.target_value(dump, entity)
    if value is None:
        return definitions(dump, target)
    parts = (value.entry, value.assigned)
    return _name_places(reversed(parts) if _is_entry_header(target) else parts)[:1]


def _is_entry_header(target: CursorTarget) -> bool:
    return isinstance(target.record, UsedValue) and target.place.line == target.record.line


def _instruction_definitions(dump: Compile, name: str, index: str | None) -> list[Place]:
    """Return the value that an instruction defines at ``index``, otherwise its line."""
    value = None if index is None else dump.value_of_key(name + index)
    if value is not None and value.entry is not None:
        return [value.entry.name_place]
    return _name_places([dump.instruction(name) or dump.step(name)])


def _first_value_of_instruction(dump: Compile, name: str) -> Value | None:
    """Return the first value that an instruction defines, otherwise one that flows through it."""
    entries = sorted(dump.entries_at(name), key=lambda entry: entry.record.name != name)
    ids = (entry.record.id for entry in entries)
    return next((dump.value(value_id) for value_id in ids if value_id is not None), None)


def _module_places(target: CursorTarget, records: Iterable[InstructionLine]) -> list[Place]:
    file = target.place.file
    return list(dict.fromkeys(_name_places(LocatedRecord(file, record) for record in records)))


def _name_places(parts: Iterable[LocatedRecord[Record] | None]) -> list[Place]:
    return [part.name_place for part in parts if part is not None]
