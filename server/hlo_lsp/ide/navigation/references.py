"""References to values, instructions, computations, and allocations in all files of a compile."""

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import (
    CursorTarget,
    LocationRowTarget,
)
from hlo_lsp.ide.navigation.filecheck import capture_and_use_places
from hlo_lsp.memory.memory_usage_report import rows_of_allocation, rows_of_value
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.place import (
    LocatedRecord,
    Place,
    Statement,
    Value,
    name_place,
    named_places,
    part_place,
)
from hlo_lsp.model.sections import peak_row_key
from hlo_lsp.model.unprinted_instructions import TupleElement
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.renaming import element_places, mention_places
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import ReportedAllocation
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.used_value import Position, Use, UsedValue

# The declarations and the other mentions.
ReferencePlaces = tuple[list[Place], list[Place]]


def declarations_and_references(dump: Compile, target: CursorTarget) -> ReferencePlaces:
    """Return the declarations and the other mentions of the cursor target, without duplicates.

    The declarations of a value are its line in the allocation and the header of its entry; the
    declaration of an instruction is its line in the module text.
    """
    declared, mentioned = _target_places(dump, target)
    return _unique_places(declared), _unique_places(mentioned)


def use_places(value: Value) -> list[Place]:
    """Return the rows that list the uses of a value."""
    entry = value.entry
    return [] if entry is None else [_row_place(entry, row) for row in entry.record.uses]


def user_instructions(
    dump: Compile, name: str, line: LocatedRecord[InstructionLine] | None = None
) -> list[str]:
    """Return the instructions that have this one as an operand, in the order of the module text.

    Without module text, return the instructions that use a value that this one defines.
    """
    line = line or dump.instruction(name)
    if line is not None:
        users = sorted(_users(line.file.module, line.record), key=attrgetter("line"))
        return list(dict.fromkeys(user.name for user in users))
    own = (entry.record for entry in dump.entries_at(name) if entry.record.name == name)
    return list(dict.fromkeys(use.name for entry in own for use in entry.uses))


def _users(module: ModuleIndex, record: InstructionLine) -> Iterator[InstructionLine]:
    """Yield the instructions with this one, or an element of it, as an operand."""
    for user in module.users(record):
        if isinstance(user, TupleElement):
            yield from _users(module, user)
        else:
            yield user


def _unique_places(places: Iterable[Place]) -> list[Place]:
    unique = {(place.file.uri, place.number, place.start): place for place in places}
    return [unique[key] for key in sorted(unique)]


def _target_places(dump: Compile, target: CursorTarget) -> ReferencePlaces:
    match target.entity:
        case targets.ValueTarget() as entity:
            value = targets.target_value(dump, entity)
            return ([], []) if value is None else _value_places(dump, value)
        case targets.ComputationTarget(name=name):
            head = targets.resolve_computation(dump, target, name)
            return ([], []) if head is None else _computation_places(head)
        case targets.ParameterTarget(number=number):
            parameter = targets.resolve_parameter(target, number)
            return ([], []) if parameter is None else _parameter_places(parameter)
        case LocationRowTarget() as entity:
            row = targets.resolve_location_row(dump, target, entity)
            if row is None:
                return [], []
            return [row.name_place], list(_location_row_mentions(row.file, entity))
        case targets.AllocationTarget(number=number):
            return _allocation_places(dump, number)
        case targets.CaptureTarget() as entity:
            return capture_and_use_places(target.place.file, entity)
    instruction = targets.target_instruction(dump, target.entity)
    return ([], []) if instruction is None else _instruction_places(dump, target, instruction)


def _instruction_places(dump: Compile, target: CursorTarget, instruction: str) -> ReferencePlaces:
    if isinstance(target.entity, targets.InstructionTarget) and target.entity.holder is not None:
        instruction = target.entity.holder
    line = targets.resolve_instruction(dump, target, instruction)
    names: Sequence[str] = (instruction,)
    if line is not None and isinstance(line.record, TupleElement):
        names = omitted_instructions(dump).names.get(line.record.name, ())
    mentioned = [place for name in names for place in _memory_file_mentions(dump, name)]
    if line is not None:
        return [line.name_place], [*mentioned, *_mentions(line)]
    shortened = targets.resolve_shortened(target, instruction)
    if shortened is None:
        return [], mentioned
    for user in shortened.readers:
        mentioned += named_places(user.file, user.record, user.record.parsed.reads, instruction)
    return [shortened.place], mentioned


def _value_places(dump: Compile, value: Value) -> ReferencePlaces:
    parts = (value.assigned, value.entry, dump.instruction(value.name))
    declared = [part.name_place for part in parts if part is not None]
    mentioned = [] if value.live is None else [value.live.name_place]
    if value.entry is not None:
        mentioned += [_row_place(value.entry, row) for row in value.entry.record.positions]
        mentioned += use_places(value)
        for use in value.entry.record.uses:
            user = dump.instruction(use.name)
            is_printed = user is not None and user.record.printed is user.record
            operands = user.record.parsed.operands if user is not None and is_printed else ()
            if user is not None and use.operand < len(operands):
                mentioned.append(part_place(user.file, user.record, operands[use.operand]))
    for file in dump.files:
        for row in file.memory.peak_names.all(value.name):
            if (row.key or peak_row_key(file, row)) == value.key:
                mentioned.append(name_place(file, row))
    if value.assigned is not None:
        mentioned += (row.name_place for row in rows_of_value(dump, value.assigned))
    return declared, mentioned


def _memory_file_mentions(dump: Compile, name: str) -> Iterator[Place]:
    for entry in dump.entries_at(name):
        yield from (_row_place(entry, row) for row in entry.record.positions if row.name == name)
        if entry.record.name == name:
            assigned = dump.find(lambda index: index.assigned, entry.record.id or 0)
            for part in (entry, assigned, dump.live(entry.record.key or "")):
                if part is not None:
                    yield part.name_place
    for entry in dump.entries_used_by(name):
        yield from (_row_place(entry, row) for row in entry.record.uses if row.name == name)
    for file in dump.files:
        for row in (*file.memory.step_names.all(name), *file.memory.peak_names.all(name)):
            yield name_place(file, row)


def _mentions(located: LocatedRecord[InstructionLine]) -> list[Place]:
    """Return the mentions of an instruction in readable lines without the one that defines it."""
    file, record = located.file, located.record
    if isinstance(record, TupleElement):
        return element_places(file, record)
    own = part_place(file, record, record.parsed.name)
    return [
        place
        for place in mention_places(file, record)
        if place != own and not isinstance(file.records.at(place.line), BrokenRecord)
    ]


def _computation_places(head: LocatedRecord[ComputationLine]) -> ReferencePlaces:
    file, name = head.file, head.record.name
    heads = file.module.computations.all(name)
    return [name_place(file, record) for record in heads], [
        place
        for caller in file.module.callers(head.record)
        for place in named_places(file, caller.printed, caller.printed.parsed.called, name)
    ]


def _parameter_places(parameter: LocatedRecord[InstructionLine]) -> ReferencePlaces:
    file = parameter.file
    mentioned = _mentions(parameter)
    for caller, operand in ModuleFlow(file.module).arguments(parameter.record):
        mentioned += named_places(file, caller, caller.parsed.reads, operand.name)
    return [parameter.name_place], mentioned


def _location_row_mentions(file: DumpFile, target: LocationRowTarget) -> Iterator[Place]:
    printed = target.number + (target.table == "StackFrames")  # XLA prints parent ids plus one.
    field = re.compile(rf"{targets.LOCATION_FIELDS[target.table]}={printed}(?!\d)")
    tables = file.module.tables
    for row in (*tables.locations, *tables.frames):
        match = field.search(file.lines[row.line])
        if match is not None:
            yield Place(file, row.line, match.start(), match.end())
    if target.table == "StackFrames":
        mention = re.compile(rf"stack_frame_id={target.number}(?!\d)")
        for record in file.module.printed_instructions():
            for match in mention.finditer(record.text):
                yield Statement(file, record.line, record.text).place(*match.span())


def _allocation_places(dump: Compile, number: int) -> ReferencePlaces:
    allocation = dump.allocation(number)
    reported = [
        LocatedRecord(file, record)
        for file in dump.files
        if file.kind is FileKind.REPORT
        for record in file.records
        if isinstance(record, ReportedAllocation) and record.number == number
    ]
    return [] if allocation is None else [allocation.name_place], [
        row.name_place for row in (*reported, *rows_of_allocation(dump, number))
    ]


def _row_place(entry: LocatedRecord[UsedValue], row: Position | Use) -> Place:
    """Return the place of the name (and index) in a position or use row."""
    start = 2
    end = start + len(row.name)
    if isinstance(row, Position) and row.index is not None:
        end = len(entry.record.lines[row.row])
    return Place(entry.file, entry.line + row.row, start, end)
