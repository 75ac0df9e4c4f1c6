"""Where a subject is defined, declared and implemented.

One rule everywhere: a mention of a value leads to its entry under ``Used values``, and the entry's
own header to its line in the allocation; from both headers a second place is the line of the
instruction in the module text. An instruction that a memory file mentions leads to the entry of
the value that it defines at the printed index, else to its line in the module text, else to its
schedule row. In module text a name leads to its line in the same computation.
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
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.value import LocatedRecord, Value
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


def definitions(dump: DumpSet, found: CursorTarget) -> list[Place]:
    """Where to jump from a mention, the best place first; empty where nothing defines it."""
    subject = found.subject
    if isinstance(subject, ValueTarget):
        return _of_value(dump, found, subject)
    if isinstance(subject, InstructionTarget):
        if name_scope(found.place.file, found.record) is not None:
            return _heads([resolve_instruction(dump, found, subject.name)])
        return _of_name(dump, subject.name, subject.index or "{}")
    if isinstance(subject, ThunkTarget):
        name = thunk_instruction(dump, subject.row)
        return [] if name is None else _of_name(dump, name, None)
    if isinstance(subject, ComputationTarget):
        head = resolve_computation(dump, found, subject.name)
        return _heads([head]) or _of_name(dump, subject.name, None)
    if isinstance(subject, AllocationTarget):
        return _heads([dump.allocation(subject.number)])
    if isinstance(subject, TupleElementTarget):
        return _in_module(found, _element(found))
    if isinstance(subject, ParameterTarget):
        return _of_parameter(found, subject)
    if isinstance(subject, LocationRowTarget):
        return _of_row(dump, found, subject)
    reported = reported_row_at(dump, found)
    return [] if reported is None else _heads(reported.values)


def definition(dump: DumpSet, found: CursorTarget) -> Place | None:
    """The best place to jump to from a mention, or None where nothing defines it."""
    return next(iter(definitions(dump, found)), None)


def declaration(dump: DumpSet, found: CursorTarget) -> Place | None:
    """The allocation line of the value that is meant."""
    subject = found.subject
    value: Value | None = None
    if isinstance(subject, ValueTarget):
        value = value_of(dump, subject)
    elif isinstance(subject, InstructionTarget):
        value = dump.value_of_key(subject.name + (subject.index or "{}"))
        if value is None and name_scope(found.place.file, found.record) is not None:
            value = _any_value(dump, subject.name)
    elif isinstance(subject, AllocationTarget):
        allocation = dump.allocation(subject.number)
        return None if allocation is None else head_place(allocation)
    else:
        reported = reported_row_at(dump, found)
        return None if reported is None else head_place(reported.allocation)
    return None if value is None or value.allocation is None else head_place(value.allocation)


def type_definitions(dump: DumpSet, found: CursorTarget) -> list[Place]:
    """What an instruction runs: the computations that it calls.

    In a memory file the value that flows through an instruction: the one with a position there.
    """
    subject = found.subject
    if isinstance(subject, ValueTarget):
        return definitions(dump, found)[:1]
    if not isinstance(subject, InstructionTarget):
        return definitions(dump, found) if isinstance(subject, ComputationTarget) else []
    if name_scope(found.place.file, found.record) is not None:
        meant = resolve_instruction(dump, found, subject.name)
        if meant is None:
            return []
        return _heads(
            LocatedRecord(meant.file, head) for head in meant.file.module.called_by(meant.record)
        )
    for entry in dump.entries_at(subject.name):
        for position in entry.record.positions:
            if position.name == subject.name and (position.index or "{}") == (
                subject.index or "{}"
            ):
                return [head_place(entry)]
    return []


def implementations(dump: DumpSet, found: CursorTarget) -> list[Place]:
    """Where the result of an instruction comes from: the roots of the computations it calls.

    Of an operand of a fusion or another call: the parameter that it becomes inside. Of what calls
    nothing: the instructions for the same operation in the other texts of the module.
    """
    subject = found.subject
    if isinstance(subject, ComputationTarget):
        head = resolve_computation(dump, found, subject.name)
        root = None if head is None else head.file.module.computation(head.record).root
        return [] if head is None or root is None else [head_place(LocatedRecord(head.file, root))]
    if not isinstance(subject, InstructionTarget):
        return []
    record, file = found.record, found.place.file
    if isinstance(record, InstructionLine) and subject.operand is not None:
        return _in_module(found, parameters_of_operand(file.module, record, subject.operand))
    meant = resolve_instruction(dump, found, subject.name)
    if meant is None:
        return []
    roots = roots_of(meant.file.module, meant.record)
    if roots:
        return _heads(LocatedRecord(meant.file, root) for root in roots)
    return _heads(counterparts(dump, meant))


def python_line(dump: DumpSet, found: CursorTarget) -> SourceLine | None:
    """The innermost Python line that an instruction, or the one that defines a value, is from."""
    subject = found.subject
    if isinstance(subject, ValueTarget):
        text = dump.text_of(subject.key.partition("{")[0])
    elif isinstance(subject, InstructionTarget):
        line = resolve_instruction(dump, found, subject.name)
        text = dump.text_of(subject.name) if line is None else line.record.parsed
    else:
        return None
    return None if text is None else next(iter(dump.stack(text)), None)


def value_of(dump: DumpSet, subject: ValueTarget) -> Value | None:
    """The value that is meant: by its id, else by its name and index."""
    by_id = None if subject.id is None else dump.value(subject.id)
    return by_id or dump.value_of_key(subject.key)


def head_place(located: LocatedRecord[Record]) -> Place:
    """The first line of a record, with the columns of the name it is about."""
    file, record = located.file, located.record
    line = record.line
    text = file.lines[line]
    start, end = name_columns(record, text)
    return Place(file, line, start, end)


def all_places(places: Iterable[Place]) -> list[Place]:
    """Each place once, in the order of files and lines."""
    unique = {(place.file.uri, place.number, place.start): place for place in places}
    return [unique[key] for key in sorted(unique)]


def _of_value(dump: DumpSet, found: CursorTarget, subject: ValueTarget) -> list[Place]:
    value = value_of(dump, subject)
    if value is None:
        return _of_name(dump, subject.key.partition("{")[0], None)
    parts = [value.entry, value.assigned]
    if found.is_own_header:
        parts.reverse()
    places = _heads(parts)[:1]
    if found.is_own_header or isinstance(found.record, AssignedValue):
        places += _heads([dump.instruction(value.name)])
    return places


def _of_name(dump: DumpSet, name: str, index: str | None) -> list[Place]:
    """An instruction: the value it defines at an index (where one is asked for), else its text."""
    if index is not None:
        value = dump.value_of_key(name + index)
        if value is not None and value.entry is not None:
            return [head_place(value.entry)]
    return _heads([dump.instruction(name)]) or _heads([dump.step(name)])


def _element(found: CursorTarget) -> list[InstructionLine]:
    """The instructions that flow into the element that a ``get-tuple-element`` takes."""
    module, record, subject = found.place.file.module, found.record, found.subject
    assert isinstance(record, InstructionLine)
    assert isinstance(subject, TupleElementTarget)
    operand = next(iter(module.operands(record)), None)
    return [] if operand is None else element_sources(module, operand, subject.number)


def _of_parameter(found: CursorTarget, subject: ParameterTarget) -> list[Place]:
    """The operands that a parameter stands for; from the first line of a module the parameter."""
    module = found.place.file.module
    around = enclosing_computation(found)
    if around is None:
        return []
    parameter = module.computation(around.record).parameters.get(subject.number)
    if parameter is None:
        return []
    if isinstance(found.record, ModuleHeader):
        return _in_module(found, [parameter])
    return _in_module(found, [operand for _, operand in operands_of_parameter(module, parameter)])


def _of_row(dump: DumpSet, found: CursorTarget, subject: LocationRowTarget) -> list[Place]:
    files = [found.place.file, *dump.files]
    for file in files:
        rows = file.module.tables.rows[subject.table]
        if 0 < subject.number <= len(rows):
            return [head_place(LocatedRecord(file, rows[subject.number - 1]))]
    return []


def _any_value(dump: DumpSet, name: str) -> Value | None:
    """The value that an instruction defines at its first leaf, else one that flows through it."""
    entries = sorted(dump.entries_at(name), key=lambda entry: entry.record.name != name)
    ids = (entry.record.id for entry in entries)
    return next((dump.value(value_id) for value_id in ids if value_id is not None), None)


def _in_module(found: CursorTarget, records: Iterable[InstructionLine]) -> list[Place]:
    file = found.place.file
    return list(dict.fromkeys(_heads(LocatedRecord(file, record) for record in records)))


def _heads(parts: Iterable[LocatedRecord[Record] | None]) -> list[Place]:
    return [head_place(part) for part in parts if part is not None]
