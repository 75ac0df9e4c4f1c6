"""The positions of values: where they appear in the program, by the entries of ``Used values``.

Data flow gives every part of every instruction to exactly one value (``HloDataflowAnalysis`` in
hlo_dataflow_analysis.cc): over 53 473 positions of real dumps none is doubled and none missing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from hlo_lsp.checks.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.rule import AnyRule, CompileCheck, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place, field_place, line_place, shape_place
from hlo_lsp.model.shape import shape_indexes
from hlo_lsp.program.dataflow import direct_sources
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

LABEL_ROW = 1  # the line of ``positions:`` in a whole entry
_FIRST_ROW = 2  # the first position
# Opcodes with the value of their first operand, or of this element of it.
_HANDED_ON: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("bitcast", "opt-barrier", "domain", "add-dependency", "async-update"), ()),
    "copy-done": (0,),
}
_Owners = Mapping[str, UsedValue]  # entries by the rows of their positions


def entry_file(dump: DumpSet) -> DumpFile | None:
    """Return the file with the entries of ``Used values``."""
    return next((file for file in dump.files if len(file.memory.entries)), None)


def position_rows(entry: UsedValue) -> Sequence[str]:
    """Return the rows of positions of a whole entry, as printed: ``  fusion.5 {1}``."""
    return entry.lines[_FIRST_ROW : entry.lines.index(" uses:")]


def row_of(name: str, index: str | None) -> str:
    """Return the row of a position; the index is None unless the instruction is a tuple."""
    return f"  {name}" if index is None else f"  {name} {index}"


def parts_of(row: str) -> tuple[str, str | None]:
    """Return name and index of a row of a position."""
    name, _, index = row[2:].partition(" ")
    return name, index or None


def position_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report positions that are not parts of instructions, or that another value has."""
    file = entry_file(survey.dump)
    if file is None:
        return
    owners: dict[str, UsedValue] = {}
    reported: set[object] = set()
    for finding in chain(_in_entries(survey, file, owners), _in_program(survey, file, owners)):
        entry = file.records.at(finding.place.line)
        if entry not in reported:  # one finding for each entry
            reported.add(entry)
            yield finding


def _in_entries(
    survey: CompileCheck, file: DumpFile, owners: dict[str, UsedValue]
) -> Iterator[Finding]:
    for entry in file.memory.entries.records():
        checkpoint()
        if not entry.whole:
            continue
        rows = position_rows(entry)
        own = row_of(entry.name or "", entry.index)
        if not rows or rows[0] != own:
            position = f"is `{rows[0].strip()}`" if rows else "is missing"
            place = line_place(file, entry.line + (_FIRST_ROW if rows else LABEL_ROW))
            message = f"first position {position}, expected `{own.strip()}`"
            value = Related(field_place(file, entry), f"value {entry.id} `{entry.key}`")
            yield survey.report(place, message, value)
        for at, row in enumerate(rows, entry.line + _FIRST_ROW):
            owner = owners.get(row)
            if owner is None:
                owners[row] = entry
            elif owner is not entry:
                one, other = (owner, entry) if row == own else (entry, owner)
                message = f"is repeated: value {other.id} `{other.key}` has it, too"
                related = Related(_position_place(file, other, row), "the same position")
                yield _wrong(survey, file, one, row, message, related)
            else:
                message = f"position `{row.strip()}` is repeated in this entry"
                related = Related(_position_place(file, entry, row), "the same position")
                finding = survey.report(line_place(file, at), message, related)
                yield finding.fixed(Fix.drop(file, at, 1))


def _wrong(
    survey: CompileCheck,
    file: DumpFile,
    entry: UsedValue,
    row: str,
    problem: str,
    *related: Related,
) -> Finding:
    place = _position_place(file, entry, row)
    return survey.report(place, f"position `{row.strip()}` {problem}", *related)


def _position_place(file: DumpFile, entry: UsedValue, row: str) -> Place:
    return line_place(file, entry.line + _FIRST_ROW + position_rows(entry).index(row))


def _in_program(survey: CompileCheck, file: DumpFile, owners: _Owners) -> Iterator[Finding]:
    """Compare the entries with the instructions and the data flow of the module text."""
    module = module_at_buffer_assignment(survey.dump)
    if module is None:
        return
    has_all = is_complete_module(module)
    instructions = module.module.instructions
    for row, entry in owners.items():
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
        yield from _missing(survey, file, module, owners)


def _missing(
    survey: CompileCheck, file: DumpFile, module: DumpFile, owners: _Owners
) -> Iterator[Finding]:
    covered = {parts_of(row)[0] for row in owners}
    defined = {row_of(entry.name or "", entry.index) for entry in file.memory.entries.records()}
    for computation in module.module.all_computations():
        members = module.module.members(computation)
        if not any(member.name in covered for member in members):
            continue  # the instructions in a fusion have no buffers
        for member in members:
            checkpoint()
            if not member.shape or not (member.name in covered or survey.dump.step(member.name)):
                continue
            for index in shape_indexes(member.shape):
                row = row_of(member.name, index)
                found = row not in owners and row not in defined
                source = next(_source_rows(module, member, index, owners), None) if found else None
                if source is not None:
                    place = line_place(file, owners[source].line + LABEL_ROW)
                    message = f"position `{row.strip()}` is missing: its value is that of"
                    related = Related(shape_place(module, member), "the instruction")
                    yield survey.report(place, f"{message} `{source.strip()}`", related)
        checkpoint()


def _source_rows(
    module: DumpFile, member: InstructionLine, index: str | None, owners: _Owners
) -> Iterator[str]:
    """Yield the rows of the positions from which data flow takes the value of another one."""
    path = tuple(map(int, filter(None, (index or "{}")[1:-1].split(","))))
    sources: Iterable[tuple[InstructionLine | None, tuple[int, ...]]] = ()
    if member.opcode in _HANDED_ON:
        operands = module.module.operands(member)
        sources = [(operand, (*_HANDED_ON[member.opcode], *path)) for operand in operands[:1]]
    elif path or member.opcode != "tuple":  # a tuple itself is a value
        sources = direct_sources(module.module, member, path)
    for source, rest in sources:
        if source is not None:
            is_tuple = source.shape.startswith("(")
            row = row_of(source.name, f"{{{','.join(map(str, rest))}}}" if is_tuple else None)
            if row in owners:
                yield row


def is_named(dump: DumpSet, name: str) -> bool:
    """Return whether an instruction that the module text lacks is scheduled, or defines a value."""
    keys = (f"{name}{{}}", f"{name}{{0}}")
    is_defined = any(dump.find(lambda index: index.entry_keys, key) for key in keys)
    return is_defined or dump.step(name) is not None


@lru_cache(maxsize=1 << 12)
def _parts(shape: str) -> "frozenset[str | None]":
    return frozenset(shape_indexes(shape))


RULES: tuple[AnyRule, ...] = (WholeRule("position-mismatch", Severity.ERROR, position_mismatch),)
