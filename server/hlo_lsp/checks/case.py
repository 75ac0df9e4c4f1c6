"""The inputs of rules: one record or one compile, with the means to report findings."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.options import Thresholds
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Place, Statement
from hlo_lsp.model.source import SourceTables
from hlo_lsp.program.computations import (
    ComputationScopes,
    ResolvedOperands,
    computation_scopes,
)
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.line_fields import fields_of_line, rule_of
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class RecordCheck(Generic[R]):
    """One record to check, with its compile and the rule's code and severity."""

    dump: DumpSet
    file: DumpFile
    record: R
    code: str
    severity: Severity

    def finding(self, message: str, role: str | None = None, *related: Related) -> Finding:
        """Return a finding at a field of the record's first line, or at the whole line."""
        return Finding(self.code, self.severity, self.place(role), message, related)

    def place(self, role: str | None = None) -> Place:
        """Return the place of a field of the record's first line, or of the whole line."""
        return field_place(self.file, self.record, role)

    def operand_place(self: "RecordCheck[InstructionLine]", number: int) -> Place:
        """Return the place of an operand of the instruction."""
        return part_place(self.file, self.record, self.record.parsed.operands[number])

    def number(self, record: Record) -> int:
        """Return the 1-based line number of another record of the file, for messages."""
        return LocatedRecord(self.file, record).number

    @property
    def resolved(self: "RecordCheck[InstructionLine]") -> ResolvedOperands | None:
        """The operands of the instruction; None if it is not in a computation."""
        return computation_scopes(self.file).resolved(self.record)

    @property
    def operands(self: "RecordCheck[InstructionLine]") -> tuple[InstructionLine | None, ...]:
        """The definitions of the operands, None for unknown ones."""
        resolved = self.resolved
        return () if resolved is None else resolved.operands

    @property
    def scopes(self) -> ComputationScopes:
        """The computations of the file."""
        return computation_scopes(self.file)

    @property
    def tables(self) -> SourceTables:
        """The tables of source locations of the file."""
        return self.file.module.tables

    def report(self, place: Place, message: str, *related: Related) -> Finding:
        """Return a finding at a place."""
        return Finding(self.code, self.severity, place, message, related)


@dataclass(frozen=True, slots=True)
class CompileCheck:
    """One compile to check, with the rule's code and severity.

    Attributes:
        dump: The files of the compile.
        folder: The same with the foreign files that are in its place.
        thresholds: The thresholds of advice.
        code: The code of the rule.
        severity: The severity of the rule.
    """

    dump: DumpSet
    folder: DumpSet
    thresholds: Thresholds
    code: str
    severity: Severity

    def report(self, place: Place, message: str, *related: Related) -> Finding:
        """Return a finding at a place."""
        return Finding(self.code, self.severity, place, message, related)

    def finding(
        self, found: "LocatedRecord[Any]", role: str | None, message: str, *related: Related
    ) -> Finding:
        """Return a finding at a field of a record's first line, or at the whole line."""
        return self.report(field_place(found.file, found.record, role), message, *related)


def span_place(file: DumpFile, record: Record, text: str, start: int, end: int) -> Place:
    """Return the place of a part of the text of a record, which may take several lines.

    ``text`` has the columns of the record's lines.
    """
    return Statement(file, record.line, text).place(start, end)


def part_place(file: DumpFile, instruction: InstructionLine, part: TextSpan) -> Place:
    """Return the place of a part of an instruction."""
    return span_place(file, instruction, instruction.text, part.start, part.end)


def shape_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """Return the place of the shape of an instruction, or of its opcode if it has no shape."""
    parsed = instruction.parsed
    return part_place(file, instruction, parsed.shape if parsed.shape.text else parsed.opcode)


def name_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """Return the place of the name of an instruction."""
    return part_place(file, instruction, instruction.parsed.name)


def head_place(file: DumpFile, computation: ComputationLine) -> Place:
    """Return the place of the name of a computation; if it is inline, that of its attribute."""
    line = computation.line
    text = file.lines[line]
    word, end = computation.name, ""
    if isinstance(computation, InlineComputation):
        word, end = computation.attribute, "="
    start = text.find(word + end)
    return line_place(file, line) if start < 0 else Place(file, line, start, start + len(word))


def field_place(file: DumpFile, record: Record, role: str | None = None) -> Place:
    """Return the place of a field of a record's first line, or of the whole line.

    Args:
        file: the file of the record.
        record: the record.
        role: the name of the field in the grammar.
    """
    line = record.line
    text = file.lines[line]
    rule = rule_of(record, text)
    if rule is not None and role is not None:
        for field in fields_of_line(rule, text):
            if field.role == role:
                return Place(file, line, field.start, field.end)
    if isinstance(record, UsedValue) and record.column:
        return Place(file, line, record.column, len(text))
    return line_place(file, line)


def line_place(file: DumpFile, line: int) -> Place:
    """Return the place of a line without the blanks around it."""
    text = file.lines[line]
    return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))


def top_place(file: DumpFile) -> Place:
    """Return the place of the first line of a file that is not empty."""
    line = next((row for row, text in enumerate(file.lines) if text.strip()), 0)
    return Place(file, line, 0, len(file.lines[line]))
