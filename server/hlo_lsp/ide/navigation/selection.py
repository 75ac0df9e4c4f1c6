"""What an editor selects around the cursor, step by step: from the word to the whole file."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from hlo_lsp.ide.navigation.outline import depth_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Statement, statement_at
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load
from hlo_lsp.syntax.module_records import ComputationEnd, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Blank, Record
from hlo_lsp.syntax.scanners import BranchLabel, ThunkRow
from hlo_lsp.syntax.statements import nested
from hlo_lsp.syntax.tokens import fields, rule_of
from hlo_lsp.syntax.used_value import instruction_column

_MANY = 200  # lines of a statement that is looked at as a whole
_WORD = re.compile(r"[%@]?([\w.\-]+)")
_KEY = re.compile(r"[\w\-]+=")
_NAMED = re.compile(r'[\w\-]+=(?:"(?:[^"\\]|\\.)*"|\{[^{}]*\}|[^\s,"{}()]+)')
_VALUE = re.compile(r"<\d[^<>]*>")
_BEFORE = re.compile(r"[A-Za-z][\w.\-]*(?:=|\[[^\]]*\])?$")  # what belongs to a bracket behind it
_LONGEST_KEY = 80


class Extent(NamedTuple):
    """A part of a file: lines and columns from 0 in code points, the end exclusive."""

    start: tuple[int, int]
    end: tuple[int, int]

    def __contains__(self, other: object) -> bool:
        if isinstance(other, Extent):
            return self.start <= other.start and other.end <= self.end
        return isinstance(other, tuple) and self.start <= other <= self.end


def selections(file: DumpFile, line: int, column: int) -> list[Extent]:
    """What may be selected around a place, the smallest first; each is in the next, and smaller.

    None is empty, but that of an empty file. The last is the whole file.
    """
    whole = Extent((0, 0), _end(file, len(file.lines) - 1))
    place = Extent((line, column), (line, column))
    found: list[Extent] = []
    record = file.records.at(line) if file.kind.has_records else None
    parts = () if record is None else _around(file, record, line, column)
    for extent in (*parts, whole):
        inner = found[-1] if found else place
        if extent.start < extent.end and inner in extent and inner != extent:
            found.append(extent)
    return found or [whole]


def _around(file: DumpFile, record: Record, line: int, column: int) -> Iterator[Extent]:
    yield from _in_text(file, record, line, column)
    yield _lines(file, line, line)
    rows = record.statement_rows(line - record.line)
    yield _lines(file, record.line + rows.start, record.line + rows.stop - 1)
    if not isinstance(record, Blank):
        yield _lines(file, record.line, record.line + record.line_count - 1)
    if file.kind is FileKind.THUNKS:
        yield from _thunks(file, record)
    else:
        yield from _sections(file, record)


def _in_text(file: DumpFile, record: Record, line: int, column: int) -> list[Extent]:
    """The parts of a line, or of a statement of some lines, that hold the place."""
    statement = Statement(file, line, file.lines[line])
    if len(record.statement_rows(line - record.line)) <= _MANY:
        statement = statement_at(file, record, line)
    first, text = statement.line, statement.text
    begins = [0]
    for part in text.split("\n"):
        begins.append(begins[-1] + len(part) + 1)
    at = begins[line - first] + column
    spans = {*_words(text, begins[line - first], at), *_brackets(text, at)}
    if first == record.line:
        for member in _members(record):
            start = begins[member.line - first] + member.column
            stop = begins[member.line - first] + len(member.text)
            spans.add(_stripped(text, start, stop))
    if file.kind is not FileKind.MODULE and not isinstance(record, Blank):
        begin = instruction_column(text)
        rule = rule_of(record, text)
        if begin:
            spans.add(_stripped(text, begin, len(text)))
        elif rule is not None:
            read = fields(rule, text)
            spans.update(_stripped(text, field.start, field.end) for field in read)
    holding = sorted((s for s in spans if s[0] <= at <= s[1]), key=lambda s: s[1] - s[0])
    return [Extent(_place(begins, first, start), _place(begins, first, end))
            for start, end in holding]  # fmt: skip


def _words(text: str, begin: int, at: int) -> Iterator[tuple[int, int]]:
    """Words, names with their sign, strings, shapes, values and ``key=value`` on the line."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    for match in _WORD.finditer(text, begin, end):
        if match.start() > at:
            break
        if at <= match.end():
            yield match.span(1)
            yield match.span()
    for match in load("lexemes").expression("lexeme").finditer(text, begin, end):
        if match.start() > at:
            break
        if at <= match.end() and match.lastgroup in {"STRING", "ARRAY", "COMMENT"}:
            yield match.span()
            if match.lastgroup == "STRING":
                yield match.start() + 1, match.end() - 1
    for match in (*_KEY.finditer(text, begin, end), *_VALUE.finditer(text, begin, end)):
        if match.start() <= at:
            named = _NAMED.match(text, match.start(), end)
            yield match.span() if named is None else named.span()


def _brackets(text: str, at: int) -> Iterator[tuple[int, int]]:
    """What is between commas, and in brackets, without them and with what stands in front.

    Behind the operands of an instruction it is the attributes that are between commas.
    """
    open_: list[list[int]] = []  # where brackets opened, and the commas in them
    top = [0]
    for match, _ in nested(text, 0):
        sign, start = match[0], match.start()
        if sign == ",":
            (open_[-1] if open_ else top).append(start)
        elif sign in "([{":
            open_.append([start])
        elif sign in ")]}" and open_:
            stops = [*open_.pop(), start]
            if stops[0] < at <= start + 1:
                yield from _within(text, stops, at)
    for stops in (*open_, top):
        stops.append(len(text))
        if stops is top or stops[0] < at:
            yield from _within(text, stops, at, is_top=stops is top)


def _within(
    text: str, stops: list[int], at: int, *, is_top: bool = False
) -> Iterator[tuple[int, int]]:
    begin, end = stops[0], stops[-1]
    for first, last in pairwise(stops):
        if first < at <= last or (is_top and first <= at <= last):
            yield _stripped(text, first + (first > 0 or not is_top), last)
    if not is_top:
        yield _stripped(text, begin + 1, end)
        closed = min(end + 1, len(text))
        yield begin, closed
        before = _BEFORE.search(text, max(begin - _LONGEST_KEY, 0), begin)
        if before is not None:
            yield before.start(), closed


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def _members(record: Record) -> Iterator[InstructionLine]:
    """The instructions inside of a record, however deep."""
    if isinstance(record, ComputationLine):
        for member in record.members:
            yield member
            yield from _members(member)
    elif isinstance(record, InstructionLine):
        for body in record.bodies:
            yield from _members(body)


def _sections(file: DumpFile, record: Record) -> Iterator[Extent]:
    """The lines of the heads that a record is under, the nearest first."""
    depth = 99
    head = file.records.head_of(record)
    while head is not None:
        if depth_of(head) < depth:
            depth = depth_of(head)
            yield _lines(file, head.line, _last_line(file, head, depth))
        above = file.records.at(head.line - 1) if depth > 0 and head.line > 0 else None
        head = None if above is None else file.records.head_of(above)


def _last_line(file: DumpFile, head: Record, depth: int) -> int:
    """The last line of what is under a head."""
    last = head
    for record in file.records.after(head):
        if record.is_head and depth_of(record) <= depth:
            break
        if not isinstance(record, Blank):
            last = record
        if isinstance(record, ComputationEnd):
            break
    return last.line + last.line_count - 1


def _thunks(file: DumpFile, record: Record) -> Iterator[Extent]:
    """A thunk with those inside of it, then that which it is inside of, and so on."""
    depth = record.depth if isinstance(record, ThunkRow) else None
    for above in _upwards(file, record):
        if isinstance(above, ThunkRow) and (depth is None or above.depth <= depth):
            last = above.line
            for below in file.records.after(above):
                if isinstance(below, ThunkRow) and below.depth > above.depth:
                    last = below.line
                elif not isinstance(below, BranchLabel):
                    break
            yield _lines(file, above.line, last)
            depth = above.depth - 1


def _upwards(file: DumpFile, record: Record) -> Iterator[Record]:
    for line in range(record.line, -1, -1):
        found = file.records.at(line)
        if found is not None:
            yield found


def _lines(file: DumpFile, first: int, last: int) -> Extent:
    """Whole lines without the blanks around them."""
    text = file.lines[first]
    start = len(text) - len(text.lstrip())
    return Extent((first, start), (last, len(file.lines[last].rstrip())))


def _end(file: DumpFile, line: int) -> tuple[int, int]:
    return line, len(file.lines[line])


def _place(begins: list[int], first: int, at: int) -> tuple[int, int]:
    row = next(row for row in range(len(begins) - 1) if at < begins[row + 1])
    return first + row, at - begins[row]
