"""Rules: functions that check a record or a compile and report findings."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, TypeVar

from hlo_lsp.checks.case import CompileCheck, RecordCheck
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.options import Thresholds
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.query import Query, current_result
from hlo_lsp.model.sections import ending, is_joined
from hlo_lsp.syntax.records import Record

logger = logging.getLogger(__name__)

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


@dataclass(frozen=True, slots=True)
class WholeRule:
    """A rule on a whole compile, or on all records of one kind.

    ``check`` yields findings in any of the files.

    Attributes:
        code: The code.
        severity: The severity of the findings.
        check: The function that yields the findings.
        ignores_sizes: The findings do not depend on sizes and offsets of values.
        needs_whole_files: The findings are dropped if the check read a file that is truncated or
            that consists of two dumps.
        findings: The query of the findings, given the compile, the same with foreign files, and
            the thresholds.
    """

    code: str
    severity: Severity
    check: "Callable[[CompileCheck], Iterator[Finding]]"
    ignores_sizes: bool = False
    needs_whole_files: bool = True
    findings: Query[[DumpSet, DumpSet, Thresholds], list[Finding]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        findings = Query(self._findings, ignores_sizes=self.ignores_sizes)
        object.__setattr__(self, "findings", findings)

    def _findings(self, dump: DumpSet, folder: DumpSet, thresholds: Thresholds) -> list[Finding]:
        found: list[Finding] = []
        case = CompileCheck(dump, folder, thresholds, self.code, self.severity)
        try:
            found.extend(self.check(case))
        except Exception:  # an exception in one rule must not stop the others
            logger.exception("rule %s failed on %s", self.code, dump.files[0].label)
        if self.needs_whole_files and not all(map(_is_whole, _files_read())):
            return []
        for finding in found:  # line numbers depend on the whole text
            for place in (finding.place, *(related.place for related in finding.related)):
                place.file.read()
        return found


def _files_read() -> set[DumpFile]:
    """Return the files with records that the current query has read."""
    parts = current_result().inputs()
    return {part.owner for part in parts if not part.is_empty and isinstance(part.owner, DumpFile)}


def _is_whole(file: DumpFile) -> bool:
    """Return True if a file is exactly one complete dump."""
    return ending(file) is None and not is_joined(file)


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
