"""Tokens: parts of a line, each with what it is."""

from collections.abc import Iterable
from enum import IntEnum, IntFlag
from functools import lru_cache
from re import Match
from typing import NamedTuple, TypeAlias

from hlo_lsp.syntax.grammar import load
from hlo_lsp.syntax.instruction_text import CALLING
from hlo_lsp.syntax.tokens import Field, fields
from hlo_lsp.syntax.used_value import instruction_column


class TokenType(IntEnum):
    """What a part of a line is; the values count the names of the legend from 0."""

    ELEMENT_TYPE = 0
    OPCODE = 1
    INSTRUCTION = 2
    COMPUTATION = 3
    ATTRIBUTE = 4
    MEMORY_SPACE = 5
    TILE = 6
    NUMBER = 7
    STRING = 8
    COMMENT = 9


class Modifier(IntFlag):
    """What else is to be said of it; the names of the legend stand for the bits from the lowest."""

    NONE = 0
    DECLARATION = 1
    UNUSED = 2
    THREAD_LOCAL = 4


class Token(NamedTuple):
    """A part of one line: line and columns from 0, in code points, the end exclusive."""

    line: int
    start: int
    end: int
    type: TokenType
    modifiers: int


# A token of a text that may have several lines: offsets, type and modifiers. There are very many
# of them.
Piece: TypeAlias = tuple[int, int, TokenType, int]


def piece_tokens(text: str, pieces: list[Piece], line: int, column: int = 0) -> list[Token]:
    """The tokens of pieces in order. The text begins at this line and column.

    What goes over several lines becomes a token for each, without the blanks in front.
    """
    if "\n" not in text:
        return [Token(line, column + a, column + b, kind, more) for a, b, kind, more in pieces]
    tokens: list[Token] = []
    begin, break_ = -column, text.find("\n")
    for first, end, kind, more in pieces:
        start = first
        while 0 <= break_ < end:
            if text[start:break_].strip():
                tokens.append(Token(line, start - begin, break_ - begin, kind, more))
            line, begin, break_ = line + 1, break_ + 1, text.find("\n", break_ + 1)
            start = max(start, begin)
            start += len(text[start:end]) - len(text[start:end].lstrip(" \t"))
        if start < end:
            tokens.append(Token(line, start - begin, end - begin, kind, more))
    return tokens


_TYPES = {
    "ELEMENT_TYPE": TokenType.ELEMENT_TYPE,
    "TILES": TokenType.TILE,
    "MEMORY_SPACE": TokenType.MEMORY_SPACE,
    "NUMBER": TokenType.NUMBER,
    "COMMENT": TokenType.COMMENT,
}


@lru_cache(maxsize=1 << 12)
def array_pieces(text: str) -> tuple[Piece, ...]:
    """The parts of an array shape; remembered, as a module has few and prints them often."""
    return tuple(shape_pieces(text))


def shape_pieces(text: str, end: int | None = None) -> list[Piece]:
    """The parts of a shape, or of a list of them, in its first ``end`` characters."""
    lexemes = load("lexemes").expression("shape_lexeme")
    return [
        (match.start(), match.end(), _TYPES[match.lastgroup or ""], Modifier.NONE)
        for match in lexemes.finditer(text, 0, len(text) if end is None else end)
    ]


_KEYWORDS = frozenset({"ROOT", "ENTRY", "HloModule"})
_WITHOUT_OPERANDS = frozenset({"constant", "parameter"})
_STATEMENTS_TYPES = {
    "STRING": TokenType.STRING,
    "COMMENT": TokenType.COMMENT,
    "NUMBER": TokenType.NUMBER,
}
_MAY_DEFINE = frozenset({" ", "=", "\n", "\t"})
_BLANKS = 80  # that may stand between a name and its sign


class _Names(NamedTuple):
    """What names are in a part of a text: those with a sign, and words without one."""

    signed: TokenType
    bare: TokenType | None


_ELSEWHERE = _Names(TokenType.INSTRUCTION, None)
_OPERANDS = _Names(TokenType.INSTRUCTION, TokenType.INSTRUCTION)
_CALLED = _Names(TokenType.COMPUTATION, TokenType.COMPUTATION)


def statement_pieces(text: str, start: int, end: int, *, is_head: bool = False) -> list[Piece]:
    """The parts of a text between two offsets, in order.

    ``is_head`` says that it begins with the head of a computation: its name, and the parameters in
    its signature. What ``end`` may have cut is left out.
    """
    reader = _Reader(text, is_head)
    add = reader.found.append
    for match in load("lexemes").expression("lexeme").finditer(text, start, end):
        kind = match.lastgroup or ""
        if match.end() == end < len(text):
            break
        if kind == "BRACKET":
            reader.bracket(match[0])
        elif kind in _STATEMENTS_TYPES:
            add((*match.span(), _STATEMENTS_TYPES[kind], Modifier.NONE))
        elif kind == "ARRAY":
            at = match.start()
            for first, last, part, modifiers in array_pieces(match[0]):
                add((at + first, at + last, part, modifiers))
        elif kind == "KEY":
            reader.key(match[0])
            add((*match.span(), TokenType.ATTRIBUTE, Modifier.NONE))
        elif kind == "CALL" and not reader.wants_head:
            reader.call(match)
        else:
            reader.name(match, is_signed=kind == "SIGNED_NAME")
    return reader.found


class _Reader:
    """What the words and brackets so far say of those that follow."""

    def __init__(self, text: str, is_head: bool) -> None:
        self.found: list[Piece] = []
        self.wants_head = is_head
        self._text = text
        self._is_head = is_head
        self._names = _ELSEWHERE
        self._outer: list[_Names] = []  # for each bracket that is open, what names are around it
        self._opens_operands = False  # whether the next bracket does

    def bracket(self, sign: str) -> None:
        """A bracket opens or closes."""
        if sign in ")]}":
            self._names = self._outer.pop() if self._outer else _ELSEWHERE
            return
        self._outer.append(self._names)
        if self._opens_operands:
            self._names = _OPERANDS
            self._opens_operands = False

    def key(self, key: str) -> None:
        """An attribute."""
        if key in CALLING:
            self._names = _CALLED
        else:
            self._names = _OPERANDS if key == "control-predecessors" else _ELSEWHERE

    def call(self, match: Match[str]) -> None:
        """A word with a bracket behind it."""
        if match[0] != "b":  # b(f32[8]) is a shape
            self._opens_operands = match[0] not in _WITHOUT_OPERANDS
            self.found.append((*match.span(), TokenType.OPCODE, Modifier.NONE))

    def name(self, match: Match[str], *, is_signed: bool) -> None:
        """A word that may be a name."""
        start, end = match.span()
        follows = self._text[end : end + 1]
        kind: TokenType | None
        if match[0] in _KEYWORDS:
            return
        modifiers = Modifier.NONE
        if self.wants_head:
            self.wants_head = False
            kind, modifiers = TokenType.COMPUTATION, Modifier.DECLARATION
        elif (follows == ":" and self._is_head) or (follows in _MAY_DEFINE and self._defines(end)):
            self._names = _ELSEWHERE
            kind, modifiers = TokenType.INSTRUCTION, Modifier.DECLARATION
        else:
            kind = self._names.signed if is_signed else self._names.bare
        if kind is not None:
            self.found.append((start, end, kind, modifiers))

    def _defines(self, at: int) -> bool:
        """Whether the name that ends here is defined: only blanks are in front of the sign."""
        if self._text.startswith(" = ", at):
            return True
        return self._text[at : at + _BLANKS].lstrip().startswith("=")


_NUMBERS = (
    "ALLOCATION", "SIZE", "OFFSET", "PAGE", "PARAMETER", "VALUE_ID", "TOTAL", "HUMAN", "OPERAND",
    "MAX", "STEP", "START", "END", "MOMENT", "BYTES", "CUMULATIVE", "PERCENT", "CURRENT",
    "REMAINING", "REST", "COUNT", "REMAINDER", "NUMBER", "THUNK", "PREVIOUS", "PREVIOUS_DISTANCE",
    "NEXT", "NEXT_DISTANCE",
)  # fmt: skip
_WORDS = ("CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI", "TABLE_HEADER")
_LINES_TYPES: dict[str, TokenType] = {
    **dict.fromkeys(_NUMBERS, TokenType.NUMBER),
    **dict.fromkeys(_WORDS, TokenType.ATTRIBUTE),
    "NAME": TokenType.INSTRUCTION,
    "COLOR": TokenType.MEMORY_SPACE,
    "SPACE_NAME": TokenType.MEMORY_SPACE,
    "KIND": TokenType.OPCODE,
    "TITLE": TokenType.STRING,
    "STRING": TokenType.STRING,
    "RULER": TokenType.COMMENT,
}
_SHAPES = frozenset(
    {"SHAPE", "SHAPES", "PARAMETER_SHAPE", "OUTPUT_SHAPE", "INDEX", "PARAMETER_INDEX"}
)
# Heads that the name in them belongs to.
_DECLARING = frozenset({"assigned_value_line", "used_value_line"})
# Rules that list words of the kind of module text.
_STATEMENTS = frozenset({"location_row", "frame_row", "name_row", "proto_line"})
_DETAILS = {
    "INSTRUCTION": TokenType.INSTRUCTION,
    "KERNEL": TokenType.COMPUTATION,
    "FIELD": TokenType.ATTRIBUTE,
    "NUMBER": TokenType.NUMBER,
}
_AROUND = " \t()"
# What can be told without knowing the line: words of module text may be anything elsewhere.
_TOLD_ANYWHERE = frozenset(
    {
        TokenType.ELEMENT_TYPE,
        TokenType.INSTRUCTION,
        TokenType.MEMORY_SPACE,
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.TILE,
    }
)


def line_pieces(rule: str | None, line: str, end: int) -> list[Piece]:
    """The parts of a line of this rule up to column ``end``, in order.

    A line that is not of the rule has those that can be told without it.
    """
    if rule in _STATEMENTS:
        return statement_pieces(line, 0, end)
    read = fields(rule, line) if rule is not None and len(line) == end else []
    if read:
        return [piece for field in read for piece in _field_pieces(rule or "", field)]
    column = instruction_column(line)
    if column:
        return _moved(_instruction_pieces(line[column:end]), column)
    return [
        piece for piece in statement_pieces(line, 0, end)
        if piece[2] in _TOLD_ANYWHERE and not piece[3]
    ]  # fmt: skip


def _field_pieces(rule: str, field: Field) -> list[Piece]:
    start, text = field.start, field.text
    if field.role in _SHAPES:
        return _moved(shape_pieces(text), start)
    if field.role == "INSTRUCTION":
        return _moved(_instruction_pieces(text), start)
    if field.role == "PREVIOUS_INSTRUCTION":
        column = instruction_column(text)
        return _moved(_instruction_pieces(text[column:]), start + column)
    if field.role == "DETAIL":
        return [
            (start + match.start(), start + match.end(), _DETAILS[match.lastgroup or ""], 0)
            for match in load("lexemes").expression("detail_lexeme").finditer(text)
        ]
    if field.role == "OTHER_FIELD":
        return [(start, field.end, TokenType.ATTRIBUTE, Modifier.NONE)]
    kind = _LINES_TYPES.get(field.role)
    if kind is None:
        return []
    declares = field.role == "NAME" and rule in _DECLARING
    start += len(text) - len(text.lstrip(_AROUND))
    end = field.end - len(text) + len(text.rstrip(_AROUND))
    return [(start, end, kind, Modifier.DECLARATION if declares else Modifier.NONE)]


@lru_cache(maxsize=32)
def _instruction_pieces(text: str) -> tuple[Piece, ...]:
    """The parts of an instruction: the same is printed for every element of its tuple."""
    return tuple(statement_pieces(text, 0, len(text)))


def _moved(pieces: Iterable[Piece], by: int) -> list[Piece]:
    return [(start + by, end + by, kind, more) for start, end, kind, more in pieces]
