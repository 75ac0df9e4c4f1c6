"""Places in files, records with their files, and values joined from all files of a compile."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    PeakRow,
    RangeRow,
    SequenceRow,
)
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import fields_of_line, rule_of
from hlo_lsp.syntax.used_value import UsedValue

_LINE_END = re.compile(r"\n")


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a line; line and columns count from 0 in code points, the end is exclusive."""

    file: DumpFile
    line: int
    start: int
    end: int

    @property
    def number(self) -> int:
        """The line number for display, from 1 in the whole text."""
        return self.file.first_line + self.line + 1


@dataclass(frozen=True)
class Statement:
    r"""One line, or several that form one text, such as an instruction with line breaks in it.

    ``line`` is the first line in the file, ``text`` joins the lines by ``\n``. Offsets are code
    points of ``text``, from 0.
    """

    file: DumpFile
    line: int
    text: str

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column of the file."""
        return _line_starts(self.text)[line - self.line] + column

    def place(self, start: int, end: int) -> Place:
        """Return the place of a part of the text, truncated to its first line."""
        starts = _line_starts(self.text)
        row = bisect_right(starts, start) - 1
        begin = starts[row]
        if row + 1 < len(starts):
            end = min(end, starts[row + 1] - 1)
        return Place(self.file, self.line + row, start - begin, max(end, start) - begin)


@lru_cache(maxsize=16)  # of an instruction that names a thousand others
def _line_starts(text: str) -> list[int]:
    return [0, *(end.end() for end in _LINE_END.finditer(text))]


def statement_at(file: DumpFile, record: Record, line: int) -> Statement:
    """Return the statement of a record that a line of the record belongs to."""
    rows = record.statement_rows(line - record.line)
    first = record.line + rows.start
    if isinstance(record, UsedValue) and 0 < rows.start == len(record.lines) - 1:
        return Statement(file, first, record.lines[-1])  # without a header that shares its line
    if len(rows) == 1:
        return Statement(file, first, file.lines[first])
    return Statement(file, first, "\n".join(file.lines[first : first + len(rows)]))


R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class LocatedRecord(Generic[R_co]):
    """A record together with its file."""

    file: DumpFile
    record: R_co

    @property
    def line(self) -> int:
        """The current first line of the record, from 0."""
        return self.record.line

    @property
    def number(self) -> int:
        """The line number for display, from 1 in the whole text."""
        return self.file.first_line + self.record.line + 1

    def place(self, role: str | None = None) -> Place:
        """Return the place of a field of the record's first line, or of the whole line."""
        return field_place(self.file, self.record, role)

    @property
    def name_place(self) -> Place:
        """The place of the name of the record in its first line."""
        return name_place(self.file, self.record)


@dataclass(frozen=True, slots=True)
class Value:
    """An HloValue: the result of an instruction at one shape index.

    Records are None if no file of the compile contains them.
    """

    id: int
    name: str
    index: str | None
    phi: bool
    color: int | None
    assigned: LocatedRecord[AssignedValue] | None
    allocation: LocatedRecord[AllocationLine] | None
    entry: LocatedRecord[UsedValue] | None
    live: LocatedRecord[RangeRow] | None

    @property
    def key(self) -> str:
        """Name and index in the notation of live ranges."""
        return self.name + (self.index or "{}")

    @property
    def label(self) -> str:
        """Name and index for display, without the index of a whole array."""
        return self.name + (self.index or "")

    @property
    def space(self) -> int | None:
        """The memory space of its allocation, or the one printed beside its name."""
        return self.color if self.allocation is None else self.allocation.record.color

    @property
    def size(self) -> int | None:
        """The padded size in bytes, None if no allocation has the value."""
        return None if self.assigned is None else self.assigned.record.size

    @property
    def mention(self) -> str:
        """The value in XLA's notation: ``<328 fusion.40{0} @0>``."""
        color = "" if self.color is None else f" @{self.color}"
        return f"<{self.id} {self.name}{self.index or ''}{' (phi)' if self.phi else ''}{color}>"


def span_place(file: DumpFile, record: Record, text: str, start: int, end: int) -> Place:
    """Return the place of a part of the text of a record, which may take several lines.

    ``text`` has the columns of the record's lines.
    """
    return Statement(file, record.line, text).place(start, end)


def part_place(file: DumpFile, instruction: InstructionLine, part: TextSpan) -> Place:
    """Return the place of a part of an instruction; for an element, that of the tuple's name."""
    if instruction.printed is not instruction:
        return name_place(file, instruction.printed)
    return span_place(file, instruction, instruction.text, part.start, part.end)


def named_places(
    file: DumpFile, record: InstructionLine, spans: Iterable[TextSpan], name: str
) -> list[Place]:
    """Return the places of those parts of an instruction's text that are this name."""
    return [part_place(file, record, span) for span in spans if span.text == name]


def shape_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """Return the place of the shape of an instruction, or of its opcode if it has no shape.

    For an element of a tuple, it is the shape of the tuple.
    """
    instruction = instruction.printed
    parsed = instruction.parsed
    return part_place(file, instruction, parsed.shape if parsed.shape.text else parsed.opcode)


def name_place(file: DumpFile, record: Record) -> Place:
    """Return the place of the name of a record in its first line."""
    line = record.line
    return Place(file, line, *name_columns(record, file.lines[line]))


def name_columns(record: Record, text: str) -> tuple[int, int]:
    """Return the columns of the name in the first line of a record.

    For a value these are the columns of ``<2 add.14 @0>``. The columns follow from the fixed parts
    of the line: outlines need them for every record, and scanning the line again is too slow.
    """
    if isinstance(record, UsedValue):
        start, end = text.find("<", record.column), text.rfind(">") + 1
    elif isinstance(record, AssignedValue):
        start, end = text.find("<"), text.find(">") + 1
    elif isinstance(record, RangeRow | PeakRow):
        start = 4
        end = start + len(record.name) + len(record.index or "")
    elif isinstance(record, SequenceRow):
        start, end = text.find(":") + 1, len(text)
    elif isinstance(record, InlineComputation):  # Without a name, the attribute identifies it.
        start = text.find(f"{record.attribute}=")
        end = start + len(record.attribute)
    elif isinstance(record, InstructionLine) and record.printed is not record:
        return name_columns(record.printed, text)
    elif isinstance(record, InstructionLine | ComputationLine):
        start = text.find(record.name, _name_search_start(record, text))
        end = start + len(record.name)
    else:
        start = end = -1
    if start < 0 or end <= start:
        return len(text) - len(text.lstrip()), len(text.rstrip())
    return start, end


def _name_search_start(record: InstructionLine | ComputationLine, text: str) -> int:
    """Return a column after every keyword that can precede the name."""
    if isinstance(record, ComputationLine):
        return text.find("ENTRY") + 5 if record.is_entry else 0
    return text.find("ROOT", record.column) + 4 if record.is_root else record.column


def field_place(file: DumpFile, record: Record, role: str | None = None) -> Place:
    """Return the place of a field of a record's first line, or of the whole line.

    ``role`` is the name of the field in the grammar.
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
