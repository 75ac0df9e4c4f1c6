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
from hlo_lsp.checks.places import field_place
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import LiveRangeLabel
from hlo_lsp.syntax.records import Broken, Record
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

    def number(self, record: Record) -> int:
        """The line of another record of the file, as people count lines: for a message."""
        return Located(self.file, record).number

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


AnyRule = Rule[Any]
