"""Rules: functions that check a record or a compile and report findings."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, Generic, TypeVar

from hlo_lsp.checks.case import CompileCheck, RecordCheck
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import TotalLine
from hlo_lsp.syntax.records import Record

R = TypeVar("R", bound=Record)


class Pace(IntEnum):
    """The cost class of a rule. Rules of a lower class run first, so users see results early."""

    LINE = 0  # reads only the record
    FILE = 1  # also reads other records of the file
    COMPILE = 2  # reads all records of a kind in all files


@dataclass(frozen=True, slots=True)
class Rule(Generic[R]):
    """A rule on one record. The ``rules.toml`` of its topic explains the code to users.

    The rule applies to records of a type and its subtypes, and to instructions only with one of
    ``opcodes``, if that is set. The findings of a rule of pace LINE depend only on the text of the
    record, so an unchanged record without findings is not checked again.
    """

    code: str
    severity: Severity
    applies_to: type[R]
    check: "Callable[[RecordCheck[R]], Iterator[Finding]]"
    opcodes: frozenset[str] | None = None
    pace: Pace = Pace.FILE

    def concerns(self, kind: type[Record], opcode: str) -> bool:
        """Return True if the rule applies to records of this type and opcode.

        The opcode is empty for records other than instructions.
        """
        fits = self.opcodes is None or opcode in self.opcodes
        return fits and issubclass(kind, self.applies_to)


class Part(Enum):
    """A part of a compile's dumps that a rule depends on.

    VALUES are ALLOCATIONS without sizes and offsets. ORIGINAL is the text before optimizations,
    which is one of ``DumpSet.others``.
    """

    ALLOCATIONS = "allocations"
    VALUES = "values"
    ENTRIES = "used values"
    RANGES = "live ranges"
    REPORT = "memory report"
    MODULE = "module text"
    ORIGINAL = "text before optimizations"

    def is_in(self, file: DumpFile) -> bool:
        """Return True if a file has at least some of this part."""
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
    """A rule on a whole compile, or on all records of one kind.

    ``check`` yields findings in any of the files. They stay valid until a file changes that has
    one of the parts in ``reads``.
    """

    code: str
    severity: Severity
    check: "Callable[[CompileCheck], Iterator[Finding]]"
    reads: frozenset[Part]
    # If True, the rule is skipped for truncated files and for files with two dumps in one.
    needs_whole_files: bool = True


AnyRule = Rule[Any] | WholeRule


def error(
    code: str,
    applies_to: type[R],
    check: "Callable[[RecordCheck[R]], Iterator[Finding]]",
    opcodes: Iterable[str] = (),
    pace: Pace = Pace.FILE,
) -> AnyRule:
    """Return a rule with severity error: no dump that a compiler prints violates it."""
    return Rule(code, Severity.ERROR, applies_to, check, frozenset(opcodes) or None, pace)


def warning(
    code: str, applies_to: type[R], check: "Callable[[RecordCheck[R]], Iterator[Finding]]"
) -> AnyRule:
    """Return a rule with severity warning: a compiler may violate it without harm."""
    return Rule(code, Severity.WARNING, applies_to, check)
