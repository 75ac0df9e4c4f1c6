"""References to values, instructions, computations, and allocations in all files of a compile."""

from collections.abc import Iterator

from hlo_lsp.ide.cursor.resolution import resolve_computation, resolve_instruction
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
)
from hlo_lsp.ide.navigation.definitions import head_place, target_value, unique_places
from hlo_lsp.ide.navigation.module_references import (
    ReferencePlaces,
    computation_places,
    instruction_mentions,
    location_row_places,
    operand_mentions,
    parameter_places,
)
from hlo_lsp.ide.navigation.report_rows import rows_of_allocation, rows_of_value
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.peak_rows import peak_row_key
from hlo_lsp.model.place import LocatedRecord, Place, Value
from hlo_lsp.program.thunks import thunk_instruction
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, ReportedAllocation
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import Position, Use, UsedValue


def declarations_and_references(
    dump: DumpSet, target: CursorTarget
) -> tuple[list[Place], list[Place]]:
    """Return the declarations and the other mentions of the cursor target, without duplicates.

    The declarations of a value are its line in the allocation and the header of its entry; the
    declaration of an instruction is its line in the module text.
    """
    declared, mentioned = _target_places(dump, target)
    return unique_places(declared), unique_places(mentioned)


def assigned_value_places(dump: DumpSet, allocation: LocatedRecord[AllocationLine]) -> list[Place]:
    """Return the lines of the values in an allocation."""
    file = allocation.file
    return [head_place(LocatedRecord(file, record)) for record in dump.assigned_to(allocation)]


def use_places(value: Value) -> list[Place]:
    """Return the rows that list the uses of a value."""
    entry = value.entry
    return [] if entry is None else [_row_place(entry, row) for row in entry.record.uses]


def user_instructions(
    dump: DumpSet, name: str, line: LocatedRecord[InstructionLine] | None = None
) -> list[str]:
    """Return the instructions that have this one as an operand, in the order of the module text.

    Without module text, return the instructions that use a value that this one defines.
    """
    line = line or dump.instruction(name)
    if line is not None:
        return [user.name for user in line.file.module.users(line.record)]
    uses = (
        use.name
        for entry in dump.entries_at(name)
        if entry.record.name == name
        for use in entry.record.uses
    )
    return list(dict.fromkeys(uses))


def _target_places(dump: DumpSet, target: CursorTarget) -> ReferencePlaces:
    entity = target.entity
    if isinstance(entity, ValueTarget):
        value = target_value(dump, entity)
        return ([], []) if value is None else _value_places(dump, value)
    if isinstance(entity, InstructionTarget):
        return _instruction_places(
            dump, entity.name, resolve_instruction(dump, target, entity.name)
        )
    if isinstance(entity, TupleElementTarget):
        name = entity.instruction
        return _instruction_places(dump, name, resolve_instruction(dump, target, name))
    if isinstance(entity, ThunkTarget):
        name_of_thunk = thunk_instruction(dump, entity.row)
        if name_of_thunk is None:
            return [], []
        return _instruction_places(dump, name_of_thunk, dump.instruction(name_of_thunk))
    if isinstance(entity, ComputationTarget):
        return computation_places(resolve_computation(dump, target, entity.name))
    if isinstance(entity, ParameterTarget):
        return parameter_places(target, entity.number)
    if isinstance(entity, LocationRowTarget):
        return location_row_places(dump, target, entity)
    if isinstance(entity, AllocationTarget):
        return _allocation_places(dump, entity.number)
    return [], []


def _value_places(dump: DumpSet, value: Value) -> ReferencePlaces:
    line = dump.instruction(value.name)
    parts = (value.assigned, value.entry, line)
    declared = [head_place(part) for part in parts if part is not None]
    mentioned = [] if value.live is None else [head_place(value.live)]
    if value.entry is not None:
        entry = value.entry
        mentioned += [_row_place(entry, row) for row in entry.record.positions]
        mentioned += [_row_place(entry, row) for row in entry.record.uses]
        mentioned += operand_mentions(dump, ((row.name, row.operand) for row in entry.record.uses))
    for file in dump.files:
        for row in file.memory.peak_names.all(value.name):
            if (row.key or peak_row_key(file, row)) == value.key:
                mentioned.append(head_place(LocatedRecord(file, row)))
    if value.assigned is not None:
        mentioned += map(head_place, rows_of_value(dump, value.assigned))
    return declared, mentioned


def _instruction_places(
    dump: DumpSet, name: str, line: LocatedRecord[InstructionLine] | None
) -> ReferencePlaces:
    mentioned = list(_memory_file_mentions(dump, name))
    if line is None:
        return [], mentioned
    return [head_place(line)], [*mentioned, *instruction_mentions(line)]


def _memory_file_mentions(dump: DumpSet, name: str) -> Iterator[Place]:
    for entry in dump.entries_at(name):
        yield from (_row_place(entry, row) for row in entry.record.positions if row.name == name)
        if entry.record.name == name:
            yield head_place(entry)
            assigned = dump.find(lambda index: index.assigned, entry.record.id or 0)
            if assigned is not None:
                yield head_place(assigned)
            live = dump.live(entry.record.key or "")
            if live is not None:
                yield head_place(live)
    for entry in dump.entries_used_by(name):
        yield from (_row_place(entry, row) for row in entry.record.uses if row.name == name)
    for file in dump.files:
        for step in file.memory.step_names.all(name):
            yield head_place(LocatedRecord(file, step))
        for peak in file.memory.peak_names.all(name):
            yield head_place(LocatedRecord(file, peak))


def _allocation_places(dump: DumpSet, number: int) -> ReferencePlaces:
    """Return the line of an allocation, and its rows in reports."""
    allocation = dump.allocation(number)
    return ([] if allocation is None else [head_place(allocation)]), [
        head_place(LocatedRecord(file, record))
        for file in dump.files
        if file.kind is FileKind.REPORT
        for record in file.records
        if isinstance(record, ReportedAllocation) and record.number == number
    ] + [head_place(row) for row in rows_of_allocation(dump, number)]


def _row_place(entry: LocatedRecord[UsedValue], row: Position | Use) -> Place:
    """Return the place of the name (and index) in a position or use row."""
    start = 2
    end = start + len(row.name)
    if isinstance(row, Position) and row.index is not None:
        end = len(entry.record.lines[row.row])
    return Place(entry.file, entry.line + row.row, start, end)
