"""Rules: functions that check a record or a compile and report findings."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, auto
from typing import Any, Generic, NamedTuple, TypeVar

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.incremental_values import CleanValues, clean_values
from hlo_lsp.checks.framework.options import Limits
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.computation import Callee, Computation
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, Place, field_place, part_place
from hlo_lsp.model.query_cache import Query, current_result
from hlo_lsp.model.sections import ending, is_joined
from hlo_lsp.model.source import SourceTables
from hlo_lsp.model.unknown_forms import is_complete
from hlo_lsp.program.computation_forms import ComputationForms
from hlo_lsp.syntax.instruction_text import attributes_column
from hlo_lsp.syntax.module_records import ComputationLine, InnerInstruction, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.texts_without_names import without_names

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)


class RuleContext:
    """The input of the check of a rule; ``code`` and ``severity`` are those of the rule."""

    code: str
    severity: Severity

    def report(self, place: Place, message: str, *related: Related) -> Finding:
        """Return a finding at a place."""
        return Finding(self.code, self.severity, place, message, related)


class ResolvedOperands(NamedTuple):
    """The operands of an instruction in its scope.

    Attributes:
        names: Names of the operands, `tuple#1` for an element; empty for an inline operand.
        operands: The instructions with these names, None for unknown and inline ones.
        is_plain: Whether all operands are on earlier lines and no other instruction is named.
    """

    scope: Computation
    names: tuple[str, ...]
    operands: tuple[InstructionLine | None, ...]
    is_plain: bool


def _plain_operands(
    instruction: InstructionLine, scope: Computation
) -> list[InstructionLine] | None:
    """Return the operands if all are on earlier lines and no other instruction is named."""
    if "control-predecessors=" in instruction.text:
        return None
    find, line = scope.names.get, instruction.line
    found = []
    for name in instruction.operands:
        operand = find(name) or scope.instruction(name)  # an element such as `tuple#1`
        if operand is None or operand.line >= line:
            return None
        found.append(operand)
    return found


# What is left of an instruction without names: opcode, shape, attributes, shapes of operands, and
# forms of callees. If these are unknown, the attributes have the names of the callees.
InstructionForm = tuple[str | int, ...]


def instruction_form(
    instruction: InstructionLine, scope: Computation, forms: ComputationForms | None = None
) -> InstructionForm | None:
    """Return the form of an instruction with plain operands, else None.

    ``forms`` are those of computations, if all callees of the instruction may be among them.
    """
    plain = _plain_operands(instruction, scope)
    if plain is None:
        return None
    text = instruction.text
    attributes = text[attributes_column(text, instruction.opened) :]
    callees: tuple[int, ...] = ()
    if forms is not None and "=%" in attributes:
        found = forms.of_callees(attributes, instruction.line)
        if found:
            callees, attributes = found, without_names(attributes)
    shapes = [one.shape for one in plain]
    return instruction.spelled, instruction.shape, attributes, *shapes, *callees


def enclosing_computation(file: DumpFile, instruction: InstructionLine) -> Computation | None:
    """Return the scope of an instruction; None after a closing brace or a broken head."""
    head = file.module.computation_of(instruction)
    scope = None if head is None else file.module.computation(head)
    if scope is None or isinstance(instruction, InnerInstruction):
        return scope
    is_after = scope.is_inside or (scope.end is not None and instruction.line > scope.end)
    return None if is_after else scope


@dataclass(eq=False)
class RecordContext(RuleContext, Generic[R]):
    """One record to check, with its compile; all rules on the record share it.

    ``scope`` is the computation that encloses an instruction, and ``form`` the form of one with
    plain operands.
    """

    dump: Compile
    file: DumpFile
    record: R
    scope: Computation | None = None
    form: InstructionForm | None = None

    def place(self, role: str | None = None) -> Place:
        """Return the place of a field of the record's first line, or of the whole line."""
        return field_place(self.file, self.record, role)

    def operand_place(self: "RecordContext[InstructionLine]", number: int) -> Place:
        """Return the place of an operand of the instruction."""
        return part_place(self.file, self.record, self.record.parsed.operands[number])

    def number(self, record: Record) -> int:
        """Return the 1-based line number of another record of the file, for messages."""
        return LocatedRecord(self.file, record).number

    @cached_property
    def resolved(self: "RecordContext[InstructionLine]") -> ResolvedOperands | None:
        """The operands of the instruction; None if it is not in a computation."""
        instruction, scope = self.record, self.scope
        if scope is None:
            return None
        names, plain = instruction.operands, _plain_operands(instruction, scope)
        operands = tuple(map(scope.instruction, names)) if plain is None else tuple(plain)
        return ResolvedOperands(scope, names, operands, plain is not None)

    @property
    def operands(self: "RecordContext[InstructionLine]") -> tuple[InstructionLine | None, ...]:
        """The definitions of the operands, None for unknown ones."""
        resolved = self.resolved
        return () if resolved is None else resolved.operands

    @cached_property
    def callees(self: "RecordContext[InstructionLine]") -> list[Callee]:
        """The computations that the instruction calls."""
        return self.file.module.callees(self.record)

    def computation(self, head: ComputationLine) -> Computation:
        """Return the computation that a head opens."""
        return self.file.module.computation(head)

    @property
    def tables(self) -> SourceTables:
        """The tables of source locations of the file."""
        return self.file.module.tables


@dataclass(eq=False)
class CompileContext(RuleContext):
    """One compile to check; ``with_foreign`` also has the foreign files in its place."""

    dump: Compile
    with_foreign: Compile
    thresholds: Limits

    @property
    def clean(self) -> CleanValues:
        """The values in which the rule found nothing in its last run."""
        return clean_values(self.dump, self.code)


class Reads(Flag):
    """The parts of a dump that a check reads, which determine when it runs, also after an edit.

    Attributes:
        TEXT: The text of a record. The rule finds nothing in a text that is regular.
        RECORD: A record.
        OPERANDS: An instruction and its operands. The rule finds nothing if these are plain.
        FORM: ``RecordContext.form``, and the tables of source locations of the file.
        CALLEES: The form of an instruction, and the computations that it calls.
        SCOPE: A record, and what ``checks/incremental_records.py`` lists.
        STRUCTURE: A compile without the sizes and offsets of values.
        SIZES: A compile.
        PARTS: A compile, even if a file is truncated or consists of two dumps. The findings of
            other rules are dropped if the check read such a file.
        UNKNOWN_FORMS: A compile, even if a file has a form that this version does not know.
    """

    TEXT = auto()
    RECORD = auto()
    OPERANDS = auto()
    FORM = auto()
    CALLEES = auto()
    SCOPE = auto()
    STRUCTURE = auto()
    SIZES = auto()
    PARTS = auto()
    UNKNOWN_FORMS = auto()


class Pace(IntEnum):
    """The cost class of a rule. Rules of a lower class run first, so users see results early."""

    LINE = 0  # reads only the record, which is one of a memory file
    FILE = 1  # also reads other records of the file


@dataclass(frozen=True, slots=True)
class Rule(Generic[R]):
    """A rule on one record. The ``rules.toml`` of its topic explains the code to users.

    The rule applies to records of a type and its subtypes, and to instructions only with one of
    ``opcodes``, if that is set. It must read no more than ``reads`` says, because an unchanged
    record without findings is not checked again.
    """

    code: str
    severity: Severity
    applies_to: type[R]
    check: "Callable[[RecordContext[R]], Iterable[Finding]]"
    opcodes: frozenset[str] | None = None
    reads: Reads = Reads.SCOPE

    @property
    def pace(self) -> Pace:
        """The cost class, which is the same for all rules on instructions."""
        is_of_record = self.reads in Reads.TEXT | Reads.RECORD
        return Pace.LINE if is_of_record and self.applies_to is not InstructionLine else Pace.FILE

    def concerns(
        self, kind: type[Record], opcode: str, *, is_regular: bool = False, is_plain: bool = False
    ) -> bool:
        """Return True if the rule applies to records of this type and opcode.

        The opcode is empty for records other than instructions.
        """
        fits = self.opcodes is None or opcode in self.opcodes
        idle = (is_regular and Reads.TEXT, is_plain and Reads.OPERANDS)
        return fits and issubclass(kind, self.applies_to) and self.reads not in idle

    def is_of_form(self, form: InstructionForm) -> bool:
        """Return True if the rule reads no more than the form of an instruction."""
        is_of_callees = self.reads is Reads.CALLEES and isinstance(form[-1], int)
        return self.reads is Reads.FORM or is_of_callees


class Places(Enum):
    """The files of a compile in which a rule can find something; others need no check."""

    ALL = "all files"
    MEMORY = "memory files"
    ALLOCATIONS = "files with allocations"


@dataclass(frozen=True, slots=True)
class WholeRule:
    """A rule on a whole compile, or on all records of one kind.

    ``check`` yields findings in any of the files that ``places`` names. Places that are related to
    a finding can be in others. ``findings`` is the query of the findings, given the compile, the
    same with foreign files, and the thresholds.
    """

    code: str
    severity: Severity
    check: "Callable[[CompileContext], Iterable[Finding]]"
    reads: Reads = Reads.SIZES
    places: Places = Places.MEMORY
    findings: Query[[Compile, Compile, Limits], list[Finding]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        findings = Query(self._findings, ignores_sizes=Reads.STRUCTURE in self.reads)
        object.__setattr__(self, "findings", findings)

    def may_find_in(self, file: DumpFile) -> bool:
        """Return whether a finding can be in a file."""
        match self.places:
            case Places.ALL:
                return True
            case Places.MEMORY:
                return file.kind.is_memory
            case Places.ALLOCATIONS:
                return len(file.memory.allocations) > 0

    def _findings(self, dump: Compile, with_foreign: Compile, thresholds: Limits) -> list[Finding]:
        found: list[Finding] = []
        context = CompileContext(dump, with_foreign, thresholds)
        context.code, context.severity = self.code, self.severity
        checkpoint()
        try:
            found.extend(self.check(context))
        except Exception:  # an exception in one rule must not stop the others
            logger.exception("rule %s failed on %s", self.code, dump.files[0].label)
        files = [owner for owner in current_result().owners if isinstance(owner, DumpFile)]
        if Reads.PARTS not in self.reads and not all(map(_is_whole, files)):
            return []
        if Reads.UNKNOWN_FORMS not in self.reads and not all(map(is_complete, files)):
            return []
        for finding in found:  # line numbers depend on the whole text
            for place in (finding.place, *(related.place for related in finding.related)):
                place.file.depend_on_text()
        return found


def _is_whole(file: DumpFile) -> bool:
    """Return True if a file is exactly one complete dump."""
    return ending(file) is None and not is_joined(file)


AnyRule = Rule[Any] | WholeRule


def error(
    code: str,
    applies_to: type[R],
    check: "Callable[[RecordContext[R]], Iterable[Finding]]",
    opcodes: Iterable[str] = (),
    *,
    reads: Reads = Reads.SCOPE,
) -> AnyRule:
    """Return a rule with severity error: no dump that a compiler prints violates it."""
    return Rule(code, Severity.ERROR, applies_to, check, frozenset(opcodes) or None, reads)


def warning(
    code: str, applies_to: type[R], check: "Callable[[RecordContext[R]], Iterable[Finding]]"
) -> AnyRule:
    """Return a rule with severity warning: a compiler may violate it without harm."""
    return Rule(code, Severity.WARNING, applies_to, check)
