"""The statement that somebody is writing: what stands in front of the cursor and behind it.

It is mostly broken while it is being typed, so nothing here asks a record more than where its
statement begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.instruction_text import CALLING
from hlo_lsp.syntax.statements import INDEX_MARK, commas, nested, without_comments

_OPEN_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*[\s\S]*?\*/|(//[^\n]*|/\*[\s\S]*)\Z|//[^\n]*')
_DEFINITION = re.compile(r"(?<![\w.\-%])(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s+=\s")
_BODY = re.compile(rf"(?:\b(?:{'|'.join(sorted(CALLING))})=|(?<=[\w\])}}])\s+|^\s*)\Z")
_HEAD = re.compile(r"\s*(?:ENTRY\s+)?%?[A-Za-z_][\w.\-]*\b")
_NAME_LIST = re.compile(r"\s*(?:%?[A-Za-z_][\w.\-]*\s*(?:,\s*|\Z))*%?\Z")
_LISTS = ("computations=",)
_LONGEST_CALL = 32  # characters of an attribute's name
_WORD = re.compile(r"[%\w.\-]*")
_WORD_IN_FRONT = re.compile(r"[%\w.\-]*\Z")


@dataclass(frozen=True)
class Draft:
    """A statement with the cursor in it. ``front`` and ``behind`` have blanks for comments.

    ``line`` and ``column`` are those of the cursor, in code points from 0. ``body`` is what stands
    in front of the statement in the same computation, where that is a part of its own record.
    """

    file: DumpFile
    line: int
    column: int
    front: str
    behind: str
    body: str | None = None

    @cached_property
    def text(self) -> str:
        """All of the statement."""
        return self.front + self.behind

    @cached_property
    def open_brackets(self) -> list[int]:
        """Where the brackets stand in ``front`` that are open at the cursor, outermost first."""
        return open_brackets(self.front)

    @property
    def word(self) -> tuple[int, int]:
        """The columns of the word around the cursor; both are the cursor's where there is none."""
        line = self.file.lines[self.line]
        front = _WORD_IN_FRONT.search(line, 0, self.column)
        behind = _WORD.match(line, self.column)
        assert front is not None and behind is not None  # noqa: PT018  # both match nothing, too
        return front.start(), behind.end()

    def column_of(self, offset: int) -> int | None:
        """The column of a place in ``front``, or None if it is on a line above the cursor's."""
        if "\n" in self.front[offset:]:
            return None
        return self.column - (len(self.front) - offset)


def draft_at(file: DumpFile, line: int, column: int) -> Draft | None:
    """The statement around a place; None inside of comments and strings."""
    record = file.records.at(line)
    if record is None:
        return None
    lines = file.lines[record.line : record.line + record.line_count]
    row = line - record.line
    front = "\n".join([*lines[:row], lines[row][:column]])
    if any(match[1] for match in _OPEN_COMMENT.finditer(front)):
        return None
    behind = "\n".join([lines[row][column:], *lines[row + 1 :]])
    clean = without_comments(front)
    if any(match[0] == '"' for match, _ in nested(clean, 0)):
        return None
    body, start = _own_statement(clean)
    behind = without_comments(behind)
    if body is None:
        return Draft(file, line, column, clean, behind)
    return Draft(file, line, column, clean[start:], _rest(behind), clean[body:start])


def definitions(text: str) -> Iterator[str]:
    """The instructions in the body of a computation, each up to the next."""
    starts = [match.start() for match in _definitions(text, 0, len(text))]
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        yield text[start:end]


def open_brackets(text: str) -> list[int]:
    """Where the brackets stand that nothing closes, outermost first."""
    found: list[int] = []
    for match, _ in nested(text, 0):
        if match[0] in ("(", "[", "{"):
            found.append(match.start())
        elif match[0] in (")", "]", "}") and found:
            found.pop()
    return found


def pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is between the commas outside of brackets, as places in the text."""
    for comma in commas(text, start, end):
        yield start, comma
        start = comma + 1
    yield start, end


def _own_statement(front: str) -> tuple[int | None, int]:
    """Where the innermost body begins (None without one), and the innermost statement."""
    body = None
    opened = open_brackets(front)
    for at in opened:
        if front[at] == "{" and _opens_body(front, at):
            body = at + 1
    if body is None:
        return None, 0
    unclosed = next((at for at in opened if at >= body), len(front))
    starts = [match.start() for match in _definitions(front, body, unclosed)]
    return body, starts[-1] if starts else body


def _definitions(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Where instructions begin that are in no brackets and no string."""
    covered = list(_covered(text, start))
    for match in _DEFINITION.finditer(text, start, end):
        if not any(first <= match.start() < last for first, last in covered):
            yield match


def _opens_body(front: str, at: int) -> bool:
    """Whether the brace at a place begins a computation rather than a value or a layout."""
    head = front[max(at - _LONGEST_CALL, 0) : at]
    if not _BODY.search(head) or head.rstrip().endswith(","):
        return False
    if head.endswith(_LISTS):
        return _NAME_LIST.match(front, at + 1) is None
    if head.endswith("="):
        return True
    # A head has no sign of equality, but where XLA counts its parameters.
    return _HEAD.match(front) is not None and "=" not in front[:at].replace(INDEX_MARK, "")


def _covered(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The parts behind a place that are inside of closed brackets or strings."""
    opened = start
    for match, depth in nested(text, start):
        if match[0][0] == '"':
            yield match.span()
        elif depth == 0 and match[0] in ("(", "[", "{"):
            opened = match.start()
        elif depth == 0 and match[0] in (")", "]", "}"):
            yield opened, match.end()


def _rest(behind: str) -> str:
    """What belongs to a statement inside of a body: up to the next one, or the end of the body."""
    following = _DEFINITION.search(behind)
    end = len(behind) if following is None else following.start()
    for match, depth in nested(behind, 0, end):
        if depth == -1 and match[0] == "}":
            return behind[: match.start()]
    return behind[:end]
