"""Edits of blanks and line ends that format a module text as XLA prints it."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import chain, takewhile
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.ide.formatting.statement_format import (
    format_computation_end,
    format_computation_head,
    format_instruction,
    format_module_header,
    format_table_row,
    has_same_words,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.module_records import (
    Comment,
    ComputationEnd,
    ComputationLine,
    FrameRow,
    InstructionLine,
    LocationRow,
    ModuleHeader,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Record, UnknownSection
from hlo_lsp.syntax.scanners import module_scanner
from hlo_lsp.syntax.statements import without_comments
from hlo_lsp.text.document import changed_parts

_INDENT = "  "
_TABLE_RECORDS = (TableLabel, NameRow, LocationRow, FrameRow)


class FormattingEdit(NamedTuple):
    """The replacement of the text from one (line, column) to another."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True)
class _Statement:
    """A record with the position of its words and its nesting level."""

    record: Record
    text: str  # the whole lines of the record
    next_line: str
    is_inside: bool  # True inside of a computation

    @property
    def begin(self) -> tuple[int, int]:
        """The position of the first word."""
        before = self.text[: len(self.text) - len(self.text.lstrip())]
        return _advance(self.record.line, 0, before)

    @property
    def end(self) -> tuple[int, int]:
        """The position after the last word."""
        return _advance(self.record.line, 0, self.text.rstrip())


def format_module(file: DumpFile, first: int = 0, end: int | None = None) -> list[FormattingEdit]:
    """Return the edits of the lines from ``first`` to ``end`` (from 0, exclusive), in order.

    Each instruction gets a line of its own with two blanks of indentation, and computations are
    separated by an empty line. Unrecognized statements and statements that contain comments or
    nested computations are unchanged. Only module texts have edits.
    """
    edits: list[FormattingEdit] = []
    end = len(file.lines) if end is None else end
    if file.kind is not FileKind.MODULE:
        return edits
    before: _Statement | None = None
    for statement in _statements(file, first):
        checkpoint()
        line = statement.record.line
        if line + statement.record.line_count >= first:
            edits += _gap_edits(file, before, statement)
            old = (_strip_trailing_comment(statement.text) or "").strip()
            new = _format_statement(statement)
            if new is not None and new != old:
                edits.append(_minimal_edit(*statement.begin, old, new))
        if line >= end:  # the gap above it may begin in the range
            break
        before = statement
    return [edit for edit in edits if first <= edit.start[0] and edit.end[0] < end]


def _statements(file: DumpFile, first: int) -> Iterator[_Statement]:
    """Yield the statements from the last one above a line on, because a gap begins at its end."""
    at = file.records.at(min(first, len(file.lines) - 1))
    while at is not None and at.line > 0 and (at.line >= first or isinstance(at, BlankLine)):
        at = file.records.at(at.line - 1)
    if at is None:
        return
    inside = _is_in_computation(file, at)
    for record in chain([at], file.records.after(at)):
        if isinstance(record, BlankLine):
            continue
        if isinstance(record, ComputationEnd) or (
            record.is_head and not isinstance(record, BrokenRecord)
        ):
            inside = False
        end = record.line + record.line_count
        next_line = file.lines[end] if end < len(file.lines) else ""
        yield _Statement(record, "\n".join(file.lines[record.line : end]), next_line, inside)
        if isinstance(record, ComputationLine):
            inside = not record.members


def _is_in_computation(file: DumpFile, record: Record) -> bool:
    head = file.records.readable_head_of(record)
    if not isinstance(head, ComputationLine) or head.members:
        return False
    between = takewhile(lambda other: other is not record, file.records.after(head))
    return not any(isinstance(other, ComputationEnd) for other in between)


def _format_statement(statement: _Statement) -> str | None:
    """Return a statement as XLA prints it; None if unknown or if it would change meaning."""
    words = _strip_trailing_comment(statement.text)
    new = None if words is None else _format_record(statement.record, words)
    if words is None or new is None or new == words.strip():
        return new
    return new if has_same_words(words, new) and _has_same_meaning(statement, new) else None


def _strip_trailing_comment(text: str) -> str | None:
    """Return a statement without its trailing comment; None if it contains other comments."""
    clean = without_comments(text)
    if clean == text:
        return text
    words = clean.rstrip()
    return words if text.startswith(words) and words.strip() else None


def _format_record(record: Record, text: str) -> str | None:
    match record:
        case InstructionLine():
            return format_instruction(text)
        case ComputationLine() if record.members:
            return _format_inline_computation(record, text)
        case ComputationLine():
            return format_computation_head(text)
        case ComputationEnd():
            return format_computation_end(text)
        case ModuleHeader():
            return format_module_header(text)
    return format_table_row(text) if isinstance(record, _TABLE_RECORDS) else None


def _format_inline_computation(record: ComputationLine, text: str) -> str | None:
    """Return a computation that is one record, with each instruction on a line of its own."""
    match = load_grammar("module").expression("whole_computation").fullmatch(text)
    opening = len(text) if match is None else match.start("OPENING")
    head = format_computation_head(f"{text[:opening]} {{")
    members = [format_instruction(each.text, each.column) for each in record.members]
    if head is None or None in members:
        return None
    return "\n".join([head, *(f"{_INDENT}{member}" for member in members), "}"])


def _has_same_meaning(statement: _Statement, text: str) -> bool:
    """Return whether the formatted text, which has the same words, is read as the same record."""
    record, lines = statement.record, text.split("\n")
    if isinstance(record, ComputationLine) and record.members:
        found = [module_scanner().read([line, ""], 0) for line in lines[:-1]]
        return [*map(_meaning, found)] == [*map(_meaning, (record, *record.members))]
    margin = _indentation(statement)
    if margin is None:
        row, column = statement.begin
        margin = statement.text.split("\n")[row - record.line][:column]
    lines[0] = margin + lines[0]
    again = module_scanner().read([*lines, statement.next_line], 0)
    return again.line_count == len(lines) and _meaning(again) == _meaning(record)


def _meaning(record: Record) -> tuple[object, ...]:
    """Return the contents of a record that can change with its blanks."""
    if isinstance(record, InstructionLine):
        attributes = [attribute.name for attribute in record.parsed.attributes]
        shape = "".join(record.shape.split())
        return record.name, record.is_root, shape, record.opcode, record.operands, attributes
    if isinstance(record, ComputationLine):
        return record.name, record.is_entry
    return astuple(record) if isinstance(record, _TABLE_RECORDS) else (type(record),)


def _gap_edits(
    file: DumpFile, before: _Statement | None, statement: _Statement
) -> list[FormattingEdit]:
    if before is None or _is_left_unchanged(before) or _is_left_unchanged(statement):
        return []
    (row, column), (line, indentation) = before.end, statement.begin
    if row == line:
        return []
    count, indent = _empty_line_count(before, statement), _indentation(statement)
    between = file.lines[row + 1 : line]
    margin = file.lines[line][:indentation]
    old = "\n".join([file.lines[row][column:], *between, margin])
    new = "\n" * ((len(between) if count is None else count) + 1)
    new += margin if indent is None else indent
    if old == new or not _are_read_apart(before, new, statement):
        return []
    return [_minimal_edit(row, column, old, new)]


def _are_read_apart(before: _Statement, gap: str, statement: _Statement) -> bool:
    """Return whether two formatted statements with a gap are read as the same two records."""
    margin = before.text[: len(before.text) - len(before.text.lstrip())]
    texts = [_formatted_text(each) for each in (before, statement)]
    lines = f"{margin}{gap.join(texts)}\n{statement.next_line}".split("\n")
    line = margin.count("\n")
    for text, record in zip(texts, (before.record, statement.record), strict=True):
        found = module_scanner().read(lines, line)
        if found.line_count != text.count("\n") + 1 or _meaning(found) != _meaning(record):
            return False
        line += found.line_count - 1 + gap.count("\n")
    return True


def _formatted_text(statement: _Statement) -> str:
    """Return a formatted statement without its indentation; inline computations are unchanged."""
    text, old = statement.text.strip(), (_strip_trailing_comment(statement.text) or "").strip()
    is_inline = isinstance(statement.record, ComputationLine) and statement.record.members
    new = None if is_inline else _format_statement(statement)
    return text if new is None else new + text.removeprefix(old)


def _is_left_unchanged(statement: _Statement) -> bool:
    """Return whether the gaps around a statement stay because it may be something else."""
    record = statement.record
    if isinstance(record, ComputationLine):
        return _format_statement(statement) is None
    return isinstance(record, BrokenRecord | UnknownSection)


def _minimal_edit(line: int, column: int, old: str, new: str) -> FormattingEdit:
    """Return the edit at a position without the common prefix and suffix of both texts."""
    first, old_end, new_end = changed_parts(old, new, 64, 1)
    start, end = (_advance(line, column, old[:at]) for at in (first, old_end))
    return FormattingEdit(start, end, new[first:new_end])


def _indentation(statement: _Statement) -> str | None:
    record = statement.record
    if isinstance(record, InstructionLine):
        return _INDENT if statement.is_inside else None
    if isinstance(record, Comment):
        return None if record.line_count > 1 else _INDENT if statement.is_inside else ""
    return ""


def _empty_line_count(before: _Statement, statement: _Statement) -> int | None:
    above, record = before.record, statement.record
    if statement.is_inside or isinstance(record, ComputationEnd):
        return 0 if before.is_inside or isinstance(above, ComputationLine) else None
    if isinstance(above, Comment) or before.is_inside:
        return None
    if isinstance(record, ComputationLine):
        return 2 if isinstance(above, _TABLE_RECORDS) else 1
    if isinstance(record, TableLabel):
        return 1
    is_row = isinstance(record, _TABLE_RECORDS) and isinstance(above, _TABLE_RECORDS)
    return 0 if is_row else None


def _advance(line: int, column: int, text: str) -> tuple[int, int]:
    rows = text.count("\n")
    return line + rows, len(text) - text.rfind("\n") - 1 + (0 if rows else column)
