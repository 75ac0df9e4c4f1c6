"""The positions of values: where they appear in the program, by the entries of ``Used values``.

Dataflow analysis assigns each part of each instruction to exactly one value
(``HloDataflowAnalysis`` in hlo_dataflow_analysis.cc): of 53,473 positions in real dumps, none is
repeated or missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.framework.incremental_values import ValueRecord
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, field_place, line_place, shape_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import shape_indexes
from hlo_lsp.program.stages import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.used_value import UsedValue

LABEL_ROW = 1  # the line of ``positions:`` in a whole entry
_FIRST_ROW = 2  # the first position


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


@dataclass(frozen=True, slots=True, eq=False)
class _PositionRows:
    """The rows of positions of all entries.

    Attributes:
        owners: The first entry with each row.
        misplaced: Entries whose first row is not their own position.
        repeated: Rows that are not the first of their text: the text, the line in the entry, the
            wrong entry and the other one, which is the same if it repeats a row.
    """

    owners: dict[str, UsedValue]
    misplaced: list[UsedValue]
    repeated: list[tuple[str, int, UsedValue, UsedValue]]


@query
def _position_rows_of_file(file: DumpFile) -> _PositionRows:
    found = _PositionRows({}, [], [])
    owners = found.owners
    for entry in file.memory.entries.in_order():
        checkpoint()
        own = row_of(entry.name or "", entry.index)
        if not entry.whole:
            continue
        rows = position_rows(entry)
        if not rows or rows[0] != own:
            found.misplaced.append(entry)
        for at, row in enumerate(rows, _FIRST_ROW):
            owner = owners.get(row)
            if owner is None:
                owners[row] = entry
            else:
                one, other = (owner, entry) if row == own else (entry, owner)
                found.repeated.append((row, at, one, other))
    return found


def position_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report positions that are not parts of instructions, or that another value has."""
    file = context.dump.used_values_file
    if file is None:
        return
    found = _position_rows_of_file(file)
    reported: set[object] = set()
    for finding in chain(_in_entries(context, file, found), _in_program(context, file, found)):
        entry = file.records.at(finding.place.line)
        if entry not in reported:  # one finding for each entry
            reported.add(entry)
            yield finding


def _in_entries(context: CompileContext, file: DumpFile, found: _PositionRows) -> Iterator[Finding]:
    for entry in found.misplaced:
        rows, own = position_rows(entry), row_of(entry.name or "", entry.index)
        position = f"is `{rows[0].strip()}`" if rows else "is missing"
        place = line_place(file, entry.line + (_FIRST_ROW if rows else LABEL_ROW))
        message = f"first position {position}, expected `{own.strip()}`"
        value = Related(field_place(file, entry), f"value {entry.id} `{entry.key}`")
        yield context.report(place, message, value)
    for row, at, one, other in found.repeated:
        related = Related(_position_place(file, other, row), "the same position")
        if one is other:
            place = line_place(file, one.line + at)
            message = f"position `{row.strip()}` is repeated in this entry"
            yield context.report(place, message, related).fixed(Fix.drop(file, place.line, 1))
        else:
            message = f"is repeated: value {other.id} `{other.key}` has it, too"
            yield _wrong(context, file, one, row, message, related)


def _wrong(
    context: CompileContext,
    file: DumpFile,
    entry: UsedValue,
    row: str,
    problem: str,
    *related: Related,
) -> Finding:
    place = _position_place(file, entry, row)
    return context.report(place, f"position `{row.strip()}` {problem}", *related)


def _position_place(file: DumpFile, entry: UsedValue, row: str) -> Place:
    return line_place(file, entry.line + _FIRST_ROW + position_rows(entry).index(row))


def _in_program(context: CompileContext, file: DumpFile, found: _PositionRows) -> Iterator[Finding]:
    """Compare the entries with the instructions and the data flow of the module text."""
    module = module_at_buffer_assignment(context.dump)
    if module is None:
        return
    has_all = is_complete_module(module)
    instructions = module.module.instructions
    clean = _clean_positions(context, file, module, has_all)
    wrong: set[UsedValue] = set()
    for row, entry in found.owners.items():
        if entry in clean:
            continue
        checkpoint()
        name, index = parts_of(row)
        located = None if name in instructions else context.dump.instruction(name)
        line = instructions.first(name) if located is None else located.record
        if line is None:
            if has_all and not is_named(context.dump, name):
                wrong.add(entry)
                problem = f"does not exist: the module text has no instruction `{name}`"
                yield _wrong(context, file, entry, row, problem)
        elif line.shape and index not in _parts(line.shape) and len(instructions.all(name)) < 2:
            problem = f"`{name}` has no part `{index}`" if index else f"`{name}` is a tuple"
            problem = problem if line.shape.startswith("(") else f"`{name}` is not a tuple"
            related = Related(shape_place(module, line), "its shape")
            wrong.add(entry)
            yield _wrong(context, file, entry, row, f"does not exist: {problem}", related)
    checkpoint()
    clean.update(set(found.owners.values()) - wrong)


def _clean_positions(
    context: CompileContext, file: DumpFile, module: DumpFile, has_all: bool
) -> set[ValueRecord]:
    """Return the entries whose positions are parts of instructions."""
    clean, positions = context.clean, file.memory.rows.positions
    clean.refresh(
        context.dump, module, lambda names: (one for name in names for one in positions.all(name))
    )
    if clean.facts is not has_all:  # an instruction may be missing from a damaged text
        clean.facts = has_all
        clean.records.clear()
    return clean.records


def is_named(dump: Compile, name: str) -> bool:
    """Return whether an instruction that the module text lacks is scheduled, or defines a value.

    A text with ``slice-start`` has no names for what it runs, such as parameters.
    """
    if any(file.module.omitted_count for file in dump.files):
        return True
    keys = (f"{name}{{}}", f"{name}{{0}}")
    is_defined = any(dump.find(lambda index: index.entry_keys, key) for key in keys)
    return is_defined or dump.step(name) is not None


@lru_cache(maxsize=1 << 12)
def _parts(shape: str) -> "Mapping[str | None, None]":
    return dict.fromkeys(shape_indexes(shape))


RULES: tuple[AnyRule, ...] = (WholeRule("position-mismatch", Severity.ERROR, position_mismatch),)
