"""Rules: functions that look at a record, or at a compile, and say what is wrong with it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, Generic, TypeVar

from hlo_lsp.checks.case import Case, Survey
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import TotalLine
from hlo_lsp.syntax.records import Record

R = TypeVar("R", bound=Record)


class Pace(IntEnum):
    """In which order rules run: those that need little come first, so that their findings do."""

    LINE = 0  # looks at the record alone
    FILE = 1  # looks at other records, too
    COMPILE = 2  # looks at all records of a kind, in all files


@dataclass(frozen=True, slots=True)
class Rule(Generic[R]):
    """A rule on one record. What a user reads about it is the text of its code in ``codes/``.

    It looks at records of a type and of the types below it; of instructions only at those with one
    of ``opcodes``, if there are any. A rule of pace LINE says the same of a record as long as its
    text stays: of one that was well nothing new is asked.
    """

    code: str
    severity: Severity
    applies_to: type[R]
    check: "Callable[[Case[R]], Iterator[Finding]]"
    opcodes: frozenset[str] | None = None
    pace: Pace = Pace.FILE

    def concerns(self, kind: type[Record], opcode: str) -> bool:
        """Whether the rule looks at records of this type; the opcode is empty for most."""
        fits = self.opcodes is None or opcode in self.opcodes
        return fits and issubclass(kind, self.applies_to)


class Part(Enum):
    """What a file of a compile may hold. VALUES are ALLOCATIONS but for sizes and offsets.

    ORIGINAL is the text before optimizations, which is one of ``DumpSet.others``.
    """

    ALLOCATIONS = "allocations"
    VALUES = "values"
    ENTRIES = "used values"
    RANGES = "live ranges"
    REPORT = "memory report"
    MODULE = "module text"
    ORIGINAL = "text before optimizations"

    def is_in(self, file: DumpFile) -> bool:
        """Whether a file holds it, or a part of it."""
        if self in {Part.ALLOCATIONS, Part.VALUES}:
            return bool(len(file.memory.allocations) or len(file.memory.assigned))
        if self is Part.ENTRIES:
            return bool(len(file.memory.entries)) or file.memory.label(TotalLine) is not None
        if self is Part.RANGES:
            return bool(len(file.memory.ranges) or len(file.memory.steps))
        if self is Part.REPORT:
            return file.kind is FileKind.REPORT
        return self is Part.MODULE and file.kind is FileKind.MODULE


@dataclass(frozen=True, slots=True)
class WholeRule:
    """A rule on a compile as a whole, or on all of one kind of record at once.

    ``check`` yields findings in any of the files. They hold until a file changes that has one of
    the parts that it ``reads``.
    """

    code: str
    severity: Severity
    check: "Callable[[Survey], Iterator[Finding]]"
    reads: frozenset[Part]
    # Whether it says nothing of files that are cut off, or two dumps in one.
    needs_whole_files: bool = True


AnyRule = Rule[Any] | WholeRule


def error(
    code: str,
    applies_to: type[R],
    check: "Callable[[Case[R]], Iterator[Finding]]",
    opcodes: Iterable[str] = (),
    pace: Pace = Pace.FILE,
) -> AnyRule:
    """A rule that no dump breaks which a compiler printed."""
    return Rule(code, Severity.ERROR, applies_to, check, frozenset(opcodes) or None, pace)


def warning(
    code: str, applies_to: type[R], check: "Callable[[Case[R]], Iterator[Finding]]"
) -> AnyRule:
    """A rule that a compiler may break without harm."""
    return Rule(code, Severity.WARNING, applies_to, check)
