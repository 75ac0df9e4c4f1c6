"""Rules: functions that look at one record and say what is wrong with it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from hlo_lsp.analysis.frames import Tables
from hlo_lsp.analysis.scopes import Scopes
from hlo_lsp.analysis.sizes import Target
from hlo_lsp.analysis.target import target_of
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.instruction_text import Span
from hlo_lsp.syntax.memory_records import LiveRangeLabel
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Broken, Record
from hlo_lsp.syntax.tokens import fields, rule_of
from hlo_lsp.syntax.used_value import UsedValue

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Rule(Generic[R]):
    """One rule. Its documentation is the docstring of its function.

    It looks at records of a type and of the types below it; of instructions only at those with one
    of ``opcodes``, if there are any.
    """

    code: str
    severity: Severity
    applies_to: type[R]
    check: "Callable[[Case[R]], Iterator[Finding]]"
    opcodes: frozenset[str] | None = None

    def concerns(self, kind: type[Record], opcode: str) -> bool:
        """Whether the rule looks at records of this type; the opcode is empty for most."""
        fits = self.opcodes is None or opcode in self.opcodes
        return fits and issubclass(kind, self.applies_to)

    @property
    def explanation(self) -> str:
        """What the rule says and why it always holds."""
        return (self.check.__doc__ or "").strip()


class Context:
    """What all rules of one run share; facts of the set that are worth looking up once."""

    def __init__(self, dump: DumpSet) -> None:
        self.dump = dump
        self._scopes: dict[DumpFile, Scopes] = {}
        self._tables: dict[DumpFile, Tables] = {}

    def scopes(self, file: DumpFile) -> Scopes:
        """The computations of a module text."""
        known = self._scopes.get(file)
        if known is None:
            known = self._scopes[file] = Scopes(file)
        return known

    def tables(self, file: DumpFile) -> Tables:
        """The tables of source locations of a module text."""
        known = self._tables.get(file)
        if known is None:
            known = self._tables[file] = Tables(file)
        return known

    @cached_property
    def target(self) -> Target:
        """The backend and its tuple granule."""
        return target_of(self.dump)

    @cached_property
    def schedule(self) -> Located[LiveRangeLabel] | None:
        """The line that says how long the schedule is."""
        return self.dump.label(LiveRangeLabel)

    @cached_property
    def knows_assignment(self) -> bool:
        """Whether the allocations are among the files."""
        return any(len(file.memory.assigned) for file in self.dump.files)

    @cached_property
    def misses_assigned(self) -> bool:
        """Whether a line is broken that may have been an allocation or a value in one."""
        return any(
            isinstance(record, Broken) and not record.text.startswith("  ")
            for file in self.dump.files
            if len(file.memory.assigned)
            for record in file.memory.damaged
        )

    @cached_property
    def misses_entries(self) -> bool:
        """Whether the header of an entry is broken or gone."""
        return any(
            isinstance(record, UsedValue) and record.id is None
            for file in self.dump.files
            for record in file.memory.damaged
        )

    @cached_property
    def knows_entries(self) -> bool:
        """Whether the used values are among the files."""
        return any(len(file.memory.entries) for file in self.dump.files)


@dataclass(frozen=True, slots=True)
class Case(Generic[R]):
    """One record that a rule looks at, with what all rules of the run know."""

    context: Context
    file: DumpFile
    record: R
    code: str
    severity: Severity

    def finding(self, message: str, role: str | None = None, *related: Related) -> Finding:
        """A finding at a field of the record's first line, or at all of the line."""
        return Finding(self.code, self.severity, self.place(role), message, related)

    def place(self, role: str | None = None) -> Place:
        """A field of the record's first line, or all of the line."""
        return field_place(self.file, self.record, role)

    def finding_at(self, row: int, start: int, end: int, message: str) -> Finding:
        """A finding at columns of line ``row`` of the record."""
        place = Place(self.file, self.record.line + row, start, end)
        return Finding(self.code, self.severity, place, message)

    @property
    def scopes(self) -> Scopes:
        """The computations of the file."""
        return self.context.scopes(self.file)

    @property
    def tables(self) -> Tables:
        """The tables of source locations of the file."""
        return self.context.tables(self.file)

    def accuse(self, place: Place, message: str, *related: Related) -> Finding:
        """A finding at a place."""
        return Finding(self.code, self.severity, place, message, related)


def span_place(file: DumpFile, record: Record, text: str, start: int, end: int) -> Place:
    """A part of the text of a record, which may take several lines.

    ``text`` has the columns of the record's lines. What goes on behind a line's end is cut there.
    """
    row = text.count("\n", 0, start)
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    end = end if stop < 0 else min(end, stop)
    return Place(file, record.line + row, start - begin, max(end, start) - begin)


def part_place(file: DumpFile, instruction: InstructionLine, part: Span) -> Place:
    """A part of an instruction."""
    return span_place(file, instruction, instruction.text, part.start, part.end)


def shape_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """The shape of an instruction, or its opcode where the text leaves the shape out."""
    parsed = instruction.parsed
    return part_place(file, instruction, parsed.shape if parsed.shape.text else parsed.opcode)


def name_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """The name of an instruction."""
    return part_place(file, instruction, instruction.parsed.name)


def head_place(file: DumpFile, computation: ComputationLine) -> Place:
    """The name of a computation; of one that is written in place the attribute it belongs to."""
    line = computation.line
    text = file.lines[line]
    inline = isinstance(computation, InlineComputation)
    word = f"{computation.name.rpartition('.')[2]}=" if inline else computation.name
    start = text.find(word)
    if start < 0:
        return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))
    return Place(file, line, start, start + len(word) - inline)


def field_place(file: DumpFile, record: Record, role: str | None = None) -> Place:
    """A field of a record's first line by its name in the grammar, or all of the line."""
    line = record.line
    text = file.lines[line]
    rule = rule_of(record, text)
    if rule is not None and role is not None:
        for field in fields(rule, text):
            if field.role == role:
                return Place(file, line, field.start, field.end)
    return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))


AnyRule = Rule[Any]
