"""The unfinished statement at the cursor, split into the text before and after the cursor.

A statement that is being typed rarely parses, so this module uses records only to find where the
statement begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.instruction_text import CALL_ATTRIBUTES
from hlo_lsp.syntax.statements import (
    INDEX_MARK,
    tokens_with_depth,
    top_level_commas,
    without_comments,
)

_COMMENT_OR_STRING = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|/\*[\s\S]*?\*/|(//[^\n]*|/\*[\s\S]*)\Z|//[^\n]*'
)
_INSTRUCTION_START = re.compile(r"(?<![\w.\-%])(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s+=\s")
_BODY_START = re.compile(
    rf"(?:\b(?:{'|'.join(sorted(CALL_ATTRIBUTES))})=|(?<=[\w\])}}])\s+|^\s*)\Z"
)
_COMPUTATION_NAME = re.compile(r"\s*(?:ENTRY\s+)?%?[A-Za-z_][\w.\-]*\b")
_NAME_LIST = re.compile(r"\s*(?:%?[A-Za-z_][\w.\-]*\s*(?:,\s*|\Z))*%?\Z")
_COMPUTATION_LIST_KEYS = ("computations=",)
_MAX_ATTRIBUTE_NAME_LENGTH = 32
_WORD = re.compile(r"[%\w.\-]*")
_WORD_BEFORE = re.compile(r"[%\w.\-]*\Z")


@dataclass(frozen=True)
class Draft:
    """A statement with the cursor in it.

    Comments are replaced by blanks in both texts. ``line`` and ``column`` are the cursor position
    in code points, from 0. ``body`` is the text between the start of the computation body and the
    statement, if the whole computation is one record.
    """

    file: DumpFile
    line: int
    column: int
    text_before: str
    text_after: str
    body: str | None = None

    @cached_property
    def text(self) -> str:
        """The whole statement."""
        return self.text_before + self.text_after

    @cached_property
    def open_brackets(self) -> list[int]:
        """The offsets in ``text_before`` of the open brackets, outermost first."""
        return open_brackets(self.text_before)

    @property
    def word(self) -> tuple[int, int]:
        """The columns of the word at the cursor; both are the cursor column if there is no word."""
        line = self.file.lines[self.line]
        before = _WORD_BEFORE.search(line, 0, self.column)
        after = _WORD.match(line, self.column)
        assert before is not None and after is not None  # noqa: PT018  # Both match an empty text.
        return before.start(), after.end()

    def column_of(self, offset: int) -> int | None:
        """Return the column of an offset in ``text_before``; None if it is on an earlier line."""
        if "\n" in self.text_before[offset:]:
            return None
        return self.column - (len(self.text_before) - offset)


def draft_at(file: DumpFile, line: int, column: int) -> Draft | None:
    """Return the statement at a position, or None inside comments and strings."""
    record = file.records.at(line)
    if record is None:
        return None
    lines = file.lines[record.line : record.line + record.line_count]
    row = line - record.line
    before = "\n".join([*lines[:row], lines[row][:column]])
    if any(match[1] for match in _COMMENT_OR_STRING.finditer(before)):
        return None
    after = "\n".join([lines[row][column:], *lines[row + 1 :]])
    clean = without_comments(before)
    if any(match[0] == '"' for match, _ in tokens_with_depth(clean, 0)):
        return None
    body, start = _innermost_statement(clean)
    after = without_comments(after)
    if body is None:
        return Draft(file, line, column, clean, after)
    return Draft(file, line, column, clean[start:], _rest_of_statement(after), clean[body:start])


def split_instructions(text: str) -> Iterator[str]:
    """Yield the instructions in the body of a computation, each up to the next one."""
    starts = [match.start() for match in _instruction_starts(text, 0, len(text))]
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        yield text[start:end]


def open_brackets(text: str) -> list[int]:
    """Return the offsets of the unclosed brackets, outermost first."""
    found: list[int] = []
    for match, _ in tokens_with_depth(text, 0):
        if match[0] in ("(", "[", "{"):
            found.append(match.start())
        elif match[0] in (")", "]", "}") and found:
            found.pop()
    return found


def comma_separated_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between the commas that are outside of brackets."""
    for comma in top_level_commas(text, start, end):
        yield start, comma
        start = comma + 1
    yield start, end


def _innermost_statement(before: str) -> tuple[int | None, int]:
    """Return the offsets of the innermost computation body (None without one) and statement."""
    body = None
    opened = open_brackets(before)
    for at in opened:
        if before[at] == "{" and _opens_body(before, at):
            body = at + 1
    if body is None:
        return None, 0
    unclosed = next((at for at in opened if at >= body), len(before))
    starts = [match.start() for match in _instruction_starts(before, body, unclosed)]
    return body, starts[-1] if starts else body


def _instruction_starts(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the offsets of instructions that are outside of brackets and strings."""
    covered = list(_nested_spans(text, start))
    for match in _INSTRUCTION_START.finditer(text, start, end):
        if not any(first <= match.start() < last for first, last in covered):
            yield match


def _opens_body(before: str, at: int) -> bool:
    """Return whether a brace opens a computation body rather than a value or a layout."""
    head = before[max(at - _MAX_ATTRIBUTE_NAME_LENGTH, 0) : at]
    if not _BODY_START.search(head) or head.rstrip().endswith(","):
        return False
    if head.endswith(_COMPUTATION_LIST_KEYS):
        return _NAME_LIST.match(before, at + 1) is None
    if head.endswith("="):
        return True
    # A computation head contains no equals sign except in ``/*index=5*/`` comments.
    return _COMPUTATION_NAME.match(before) is not None and "=" not in before[:at].replace(
        INDEX_MARK, ""
    )


def _nested_spans(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of closed brackets and strings after an offset."""
    opened = start
    for match, depth in tokens_with_depth(text, start):
        if match[0][0] == '"':
            yield match.span()
        elif depth == 0 and match[0] in ("(", "[", "{"):
            opened = match.start()
        elif depth == 0 and match[0] in (")", "]", "}"):
            yield opened, match.end()


def _rest_of_statement(after: str) -> str:
    """Return the text up to the next instruction or the end of the computation body."""
    following = _INSTRUCTION_START.search(after)
    end = len(after) if following is None else following.start()
    for match, depth in tokens_with_depth(after, 0, end):
        if depth == -1 and match[0] == "}":
            return after[: match.start()]
    return after[:end]
