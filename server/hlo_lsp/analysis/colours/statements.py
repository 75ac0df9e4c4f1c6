"""The parts of module text: told by themselves and their brackets, so that broken text has some."""

from re import Match
from typing import NamedTuple

from hlo_lsp.analysis.colours.shapes import array_pieces
from hlo_lsp.analysis.colours.token import Modifier, Piece, TokenType
from hlo_lsp.syntax.grammar import load
from hlo_lsp.syntax.instruction_text import CALLING

_KEYWORDS = frozenset({"ROOT", "ENTRY", "HloModule"})
_WITHOUT_OPERANDS = frozenset({"constant", "parameter"})
_TYPES = {
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
        elif kind in _TYPES:
            add((*match.span(), _TYPES[kind], Modifier.NONE))
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
