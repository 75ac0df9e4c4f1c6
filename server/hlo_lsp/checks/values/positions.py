"""The positions of values: where they appear in the program, by the entries of ``Used values``.

Data flow gives every part of every instruction to exactly one value (``HloDataflowAnalysis`` in
hlo_dataflow_analysis.cc): over 53 473 positions of real dumps none is doubled and none missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from hlo_lsp.checks.case import CompileCheck, field_place, part_place, shape_place
from hlo_lsp.checks.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import Place
from hlo_lsp.model.sizes import shape_indexes
from hlo_lsp.program.dataflow import operands_of_parameter, roots_of
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

LABEL_ROW = 1  # the line of ``positions:`` in a whole entry
_FIRST_ROW = 2  # the first position
_CHUNK = 1000  # entries, or instructions, between two checkpoints
_HANDED_ON = frozenset({"bitcast", "opt-barrier", "domain", "add-dependency", "async-update"})
_COPIED = {("copy-start", "1"): "", ("copy-done", ""): "0"}
_Wrong = tuple[UsedValue, Finding]
_Owners = Mapping[str, UsedValue]  # entries by the rows of their positions


def entry_file(dump: DumpSet) -> DumpFile | None:
    """Return the file with the entries of ``Used values``."""
    return next((file for file in dump.files if len(file.memory.entries)), None)


def position_rows(entry: UsedValue) -> Sequence[str]:
    """Return the rows of positions of a whole entry, as printed: ``  fusion.5 {1}``."""
    return entry.lines[_FIRST_ROW : entry.lines.index(" uses:")]


def row_place(file: DumpFile, entry: UsedValue, row: int) -> Place:
    """Return the place of a line of an entry."""
    text = entry.lines[row]
    return Place(file, entry.line + row, len(text) - len(text.lstrip()), len(text.rstrip()))


def row_of(name: str, index: str | None) -> str:
    """Return the row of a position; the index is None where the instruction is no tuple."""
    return f"  {name}" if index is None else f"  {name} {index}"


def parts_of(row: str) -> tuple[str, str | None]:
    """Return name and index of a row of a position."""
    name, _, index = row[2:].partition(" ")
    return name, index or None


def position_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """The positions of a value are parts of instructions, which no other value has.

    The first one is the instruction that makes the value. With a module text, every part of every
    scheduled instruction is a position of a value. One finding is reported for an entry.
    """
    file = entry_file(survey.dump)
    if file is None:
        return
    owners: dict[str, UsedValue] = {}
    found = chain(_in_entries(survey, file, owners), _in_program(survey, file, owners))
    reported: set[UsedValue] = set()
    for entry, finding in found:
        if entry not in reported:
            reported.add(entry)
            yield finding


def _in_entries(
    survey: CompileCheck, file: DumpFile, owners: dict[str, UsedValue]
) -> Iterator[_Wrong]:
    """Compare the entries with each other, and enter their positions."""
    for count, entry in enumerate(file.memory.entries.records()):
        if count % _CHUNK == _CHUNK - 1:
            checkpoint()
        if not entry.whole:
            continue
        rows = position_rows(entry)
        own = row_of(entry.name or "", entry.index)
        if not rows or rows[0] != own:
            position = f"is `{rows[0].strip()}`" if rows else "is missing"
            place = row_place(file, entry, _FIRST_ROW if rows else LABEL_ROW)
            message = f"first position {position}, expected `{own.strip()}`"
            value = Related(field_place(file, entry), f"value {entry.id} `{entry.key}`")
            yield entry, survey.report(place, message, value)
        for at, row in enumerate(rows):
            owner = owners.get(row)
            if owner is None:
                owners[row] = entry
            elif owner is not entry:
                one, other = (owner, entry) if row == own else (entry, owner)
                message = f"is repeated: value {other.id} `{other.key}` has it, too"
                related = Related(_position_place(file, other, row), "the same position")
                yield _wrong(survey, file, one, row, message, related)
            else:
                place = row_place(file, entry, at + _FIRST_ROW)
                message = f"position `{row.strip()}` is repeated in this entry"
                related = Related(_position_place(file, entry, row), "the same position")
                finding = survey.report(place, message, related)
                yield entry, finding.fixed(Fix.drop(file, place.line, 1))


def _wrong(
    survey: CompileCheck,
    file: DumpFile,
    entry: UsedValue,
    row: str,
    problem: str,
    *related: Related,
) -> _Wrong:
    place = _position_place(file, entry, row)
    return entry, survey.report(place, f"position `{row.strip()}` {problem}", *related)


def _position_place(file: DumpFile, entry: UsedValue, row: str) -> Place:
    return row_place(file, entry, position_rows(entry).index(row) + _FIRST_ROW)


def _in_program(survey: CompileCheck, file: DumpFile, owners: _Owners) -> Iterator[_Wrong]:
    """Compare the entries with the instructions and the data flow of the module text."""
    module = module_at_buffer_assignment(survey.dump)
    if module is None:
        return
    has_all = is_complete_module(module)
    instructions = module.module.instructions
    for count, (row, entry) in enumerate(owners.items()):
        if count % _CHUNK == _CHUNK - 1:
            checkpoint()
        name, index = parts_of(row)
        line = instructions.first(name)
        if line is None:
            if has_all and not is_named(survey.dump, name):
                problem = f"does not exist: the module text has no instruction `{name}`"
                yield _wrong(survey, file, entry, row, problem)
        elif line.shape and index not in _parts(line.shape) and len(instructions.all(name)) == 1:
            problem = f"`{name}` has no part `{index}`" if index else f"`{name}` is a tuple"
            problem = problem if line.shape.startswith("(") else f"`{name}` is not a tuple"
            related = Related(shape_place(module, line), "its shape")
            yield _wrong(survey, file, entry, row, f"does not exist: {problem}", related)
    if has_all and not file.memory.damaged:
        yield from _flow(survey, file, module, owners)


def is_named(dump: DumpSet, name: str) -> bool:
    """Return whether an instruction that the module text lacks is scheduled, or defines a value."""
    keys = (f"{name}{{}}", f"{name}{{0}}")
    is_defined = any(dump.find(lambda index: index.entry_keys, key) for key in keys)
    return is_defined or dump.step(name) is not None


@lru_cache(maxsize=1 << 12)
def _parts(shape: str) -> "frozenset[str | None]":
    return frozenset(shape_indexes(shape))


def _flow(
    survey: CompileCheck, file: DumpFile, module: DumpFile, owners: _Owners
) -> Iterator[_Wrong]:
    """Compare the positions with the data flow of the computations that have buffers."""
    covered = {parts_of(row)[0] for row in owners}
    defined = {row_of(entry.name or "", entry.index) for entry in file.memory.entries.records()}
    for computation in module.module.all_computations():
        members = module.module.members(computation)
        if not any(member.name in covered for member in members):
            continue  # inside of a fusion there are no buffers
        for count, member in enumerate(members):
            if count % _CHUNK == _CHUNK - 1:
                checkpoint()
            if member.shape and (member.name in covered or survey.dump.step(member.name)):
                for row in (row_of(member.name, index) for index in shape_indexes(member.shape)):
                    source = None
                    if row not in owners and row not in defined:
                        source = _source_row(module.module, member, row, owners)
                    if source is not None:
                        place = row_place(file, owners[source], LABEL_ROW)
                        message = f"position `{row.strip()}` is missing: its value is that of"
                        related = Related(shape_place(module, member), "the instruction")
                        finding = survey.report(place, f"{message} `{source.strip()}`", related)
                        yield owners[source], finding
            for row, number, value in _elements(member, owners):
                problem = f"must be of value {value.id} `{value.key}`, which is operand {number}"
                operand = part_place(module, member, member.parsed.operands[number])
                related = Related(operand, f"operand {number}")
                head = Related(field_place(file, value), f"value {value.id}")
                yield _wrong(survey, file, owners[row], row, problem, related, head)
        checkpoint()


def _source_row(
    module: ModuleIndex, member: InstructionLine, row: str, owners: _Owners
) -> str | None:
    """Return the row of a position from which data flow takes the value of another one."""
    path = (parts_of(row)[1] or "{}")[1:-1]
    for source, rest in _sources(module, member, path):
        index = f"{{{rest}}}" if source.shape.startswith("(") else None
        if row_of(source.name, index) in owners:
            return row_of(source.name, index)
    return None


def _elements(member: InstructionLine, owners: _Owners) -> Iterator[tuple[str, int, UsedValue]]:
    """Yield the elements of a tuple, with their operands, that are of other values than those."""
    for number, operand in enumerate(member.operands if member.opcode == "tuple" else ()):
        row = row_of(member.name, f"{{{number}}}")
        source = owners.get(row_of(operand, None)) or owners.get(row_of(operand, "{}"))
        if source is not None and owners.get(row, source) is not source:
            yield row, number, source


def _sources(
    module: ModuleIndex, instruction: InstructionLine, path: str
) -> Iterator[tuple[InstructionLine, str]]:
    """Yield the instructions, with indexes, from which a part of one takes its value.

    None where it makes a value of its own. Several where control flow merges: then that makes one,
    unless all are the same.
    """
    opcode = instruction.opcode
    operands = [one for one in module.operands(instruction) if one is not None]
    if opcode == "parameter":
        yield from ((operand, path) for _, operand in operands_of_parameter(module, instruction))
    elif opcode in {"call", "conditional", "while"}:
        yield from ((root, path) for root in roots_of(module, instruction))
        if opcode == "while":
            yield from ((operand, path) for operand in operands[:1])
    elif opcode == "tuple" or (opcode == "async-start" and path.startswith("0,")):
        number, _, rest = path.removeprefix("0," if opcode == "async-start" else "").partition(",")
        if number and int(number) < len(operands):
            yield operands[int(number)], rest
    elif opcode == "get-tuple-element":
        element = instruction.parsed.attribute("index")
        if element is not None and operands:
            yield operands[0], ",".join(filter(None, (element.text.strip(), path)))
    elif operands and (opcode in _HANDED_ON or (opcode == "copy" and path)):
        yield operands[0], path
    elif operands and (opcode, path) in _COPIED:
        yield operands[0], _COPIED[opcode, path]


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "position-mismatch",
        Severity.ERROR,
        position_mismatch,
        frozenset({Part.ENTRIES, Part.RANGES, Part.MODULE}),
    ),
)
