"""Selection ranges around the cursor, from the word to the whole file."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from hlo_lsp.ide.navigation.outline import depth_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Statement, statement_at
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.module_records import ComputationEnd, InnerInstruction, with_inner_records
from hlo_lsp.syntax.records import BlankLine, Record
from hlo_lsp.syntax.scanners import fields_of_line, rule_of
from hlo_lsp.syntax.statements import tokens_with_depth
from hlo_lsp.syntax.used_value import instruction_column

_MAX_STATEMENT_LINES = 200  # In longer statements only the line of the cursor is read.
_MAX_BRACKET_PREFIX_LENGTH = 80
_MAX_NESTED_BRACKETS = 50  # around the cursor, the innermost; real texts have 15
_WORD = re.compile(r"[%@]?([\w.\-]+)")
_ELEMENT = re.compile(r"(?<![\w.\-%#])%?[\w.\-]+(?:#\d+)+")  # of a tuple, as an operand
# The text before a bracket that is selected together with it.
_BRACKET_PREFIX = re.compile(r"(?<![\w.\-])[A-Za-z][\w.\-]*(?:=|\[[^\]]*\])?$")
_Span = tuple[int, int]


class TextExtent(NamedTuple):
    """A range of lines and columns, from 0 in code points, with an exclusive end."""

    start: tuple[int, int]
    end: tuple[int, int]


def selection_extents(file: DumpFile, line: int, column: int) -> list[TextExtent]:
    """Return the extents around a position, the smallest first; each contains the previous one.

    No extent is empty, except in an empty file. The last one is the whole file.
    """
    last = len(file.lines) - 1
    whole = TextExtent((0, 0), (last, len(file.lines[last])))
    inner = TextExtent((line, column), (line, column))
    found: list[TextExtent] = []
    record = file.records.at(line) if file.kind.has_records else None
    parts: Iterable[TextExtent] = ()
    if record is not None:
        parts = chain(
            _extents_in_text(file, record, line, column), _outer_extents(file, record, line)
        )
    for extent in (*parts, whole):
        is_around = extent.start <= inner.start and inner.end <= extent.end
        if extent.start < extent.end and is_around and inner != extent:
            found.append(extent)
            inner = extent
    return found or [whole]


def _outer_extents(file: DumpFile, record: Record, line: int) -> Iterator[TextExtent]:
    yield _line_extent(file, line, line)
    rows = record.statement_rows(line - record.line)
    yield _line_extent(file, record.line + rows.start, record.line + rows.stop - 1)
    if not isinstance(record, BlankLine):
        yield _line_extent(file, record.line, record.line + record.line_count - 1)
    if file.kind is not FileKind.THUNKS:
        yield from _section_extents(file, record)


def _extents_in_text(file: DumpFile, record: Record, line: int, column: int) -> list[TextExtent]:
    statement = Statement(file, line, file.lines[line])
    if len(record.statement_rows(line - record.line)) <= _MAX_STATEMENT_LINES:
        statement = statement_at(file, record, line)
    first, text = statement.line, statement.text
    begins = [0, *accumulate(len(part) + 1 for part in text.split("\n"))]
    at = begins[line - first] + column
    spans = {*_word_spans(text, begins[line - first], at), *_bracket_spans(text, at)}
    if first == record.line:
        for member in with_inner_records(record):
            if not isinstance(member, InnerInstruction):
                continue
            begin = begins[member.line - first]
            spans.add(_strip_span(text, begin + member.column, begin + len(member.text)))
    if file.kind is not FileKind.MODULE and not isinstance(record, BlankLine):
        begin, rule = instruction_column(text), rule_of(record, text)
        if begin:
            spans.add(_strip_span(text, begin, len(text)))
        elif rule is not None:
            read = fields_of_line(rule, text)
            spans.update(_strip_span(text, field.start, field.end) for field in read)
    holding = sorted((s for s in spans if s[0] <= at <= s[1]), key=lambda s: s[1] - s[0])
    return [TextExtent(*(_position(begins, first, end) for end in span)) for span in holding]


def _word_spans(text: str, begin: int, at: int) -> Iterator[_Span]:
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    lexemes = load_grammar("lexemes").expression("lexeme")
    for match in _ELEMENT.finditer(text, begin, end):
        if match.start() <= at <= match.end():
            yield match.span()
    for match in (*_WORD.finditer(text, begin, end), *lexemes.finditer(text, begin, end)):
        is_word = match.re is _WORD
        if match.start() <= at <= match.end():
            if is_word:
                yield match.span(1)
            if match.lastgroup == "STRING":
                yield match.start() + 1, match.end() - 1
            if is_word or match.lastgroup in {"STRING", "ARRAY", "COMMENT"}:
                yield match.span()


def _bracket_spans(text: str, at: int) -> Iterator[_Span]:
    """Yield the contents of brackets and of the items between commas at an offset.

    Brackets are also yielded with their delimiters and with the name before them. Outside of
    brackets, the items between commas are the attributes of an instruction.
    """
    open_: list[list[int]] = []  # for each open bracket, its offset and those of its commas
    around: list[list[int]] = []  # the same for brackets around the offset, the innermost first
    top = [-1]
    for match, _ in tokens_with_depth(text, 0):
        sign, start = match[0], match.start()
        if sign == ",":
            (open_[-1] if open_ else top).append(start)
        elif sign in "([{":
            open_.append([start])
        elif sign in ")]}" and open_:
            stops = [*open_.pop(), start]
            if stops[0] < at <= start + 1:
                around.append(stops)
    around += ([*stops, len(text)] for stops in reversed(open_) if stops[0] < at)
    for stops in around[:_MAX_NESTED_BRACKETS]:
        yield from _spans_in_bracket(text, stops, at)
    yield from _item_spans(text, [*top, len(text)], at)


def _item_spans(text: str, stops: list[int], at: int) -> Iterator[_Span]:
    for first, last in pairwise(stops):
        if first < at <= last or first < 0 == at:
            yield _strip_span(text, first + 1, last)


def _spans_in_bracket(text: str, stops: list[int], at: int) -> Iterator[_Span]:
    begin, end = stops[0], stops[-1]
    yield from _item_spans(text, stops, at)
    yield _strip_span(text, begin + 1, end)
    closed = min(end + 1, len(text))
    yield begin, closed
    before = _BRACKET_PREFIX.search(text, max(begin - _MAX_BRACKET_PREFIX_LENGTH, 0), begin)
    if before is not None:
        yield before.start(), closed


def _strip_span(text: str, start: int, end: int) -> _Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def _section_extents(file: DumpFile, record: Record) -> Iterator[TextExtent]:
    depth = 99
    head = file.records.head_of(record)
    while head is not None:
        if depth_of(head) < depth:
            depth = depth_of(head)
            yield _line_extent(file, head.line, _last_line(file, head, depth))
        above = file.records.at(head.line - 1) if depth > 0 and head.line > 0 else None
        head = None if above is None else file.records.head_of(above)


def _last_line(file: DumpFile, head: Record, depth: int) -> int:
    last = head
    for record in file.records.after(head):
        if record.is_head and depth_of(record) <= depth:
            break
        if not isinstance(record, BlankLine):
            last = record
        if isinstance(record, ComputationEnd):
            break
    return last.line + last.line_count - 1


def _line_extent(file: DumpFile, first: int, last: int) -> TextExtent:
    text = file.lines[first]
    start = len(text) - len(text.lstrip())
    return TextExtent((first, start), (last, len(file.lines[last].rstrip())))


def _position(begins: list[int], first: int, at: int) -> tuple[int, int]:
    row = bisect_right(begins, at) - 1
    return first + row, at - begins[row]
