"""Tokens: parts of a line, each with what it is."""

from enum import IntEnum, IntFlag
from typing import NamedTuple, TypeAlias


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
