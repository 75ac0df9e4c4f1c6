"""The semantic tokens of one line or statement."""

from collections.abc import Iterable
from enum import IntEnum, IntFlag
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from hlo_lsp.hlo.vocabulary import CALL_ATTRIBUTES
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import OPCODES_WITHOUT_OPERANDS
from hlo_lsp.syntax.scanners import LineField, fields_of_line
from hlo_lsp.syntax.used_value import instruction_column


class TokenType(IntEnum):
    """The type of a token; the values index the legend."""

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


class TokenModifier(IntFlag):
    """The modifiers of a token, as bits in the order of the legend."""

    NONE = 0
    DECLARATION = 1
    UNUSED = 2
    THREAD_LOCAL = 4


class SemanticToken(NamedTuple):
    """A part of one line: columns from 0 in code points, with an exclusive end."""

    line: int
    start: int
    end: int
    type: TokenType
    modifiers: int


# Start and end offset, type, and modifiers of a token in a text of one or more lines. A plain
# tuple, because large dumps have millions of them.
TokenSpan: TypeAlias = tuple[int, int, TokenType, int]


def tokens_of_spans(text: str, pieces: list[TokenSpan], line: int) -> list[SemanticToken]:
    """Return the tokens of ordered spans in a text that begins on this line.

    A span over several lines becomes one token per line, without leading blanks.
    """
    if "\n" not in text:
        return [SemanticToken(line, *piece) for piece in pieces]
    tokens: list[SemanticToken] = []
    begin, break_ = 0, text.find("\n")
    for first, end, kind, more in pieces:
        start = first
        while 0 <= break_ < end:
            if text[start:break_].strip():
                tokens.append(SemanticToken(line, start - begin, break_ - begin, kind, more))
            line, begin, break_ = line + 1, break_ + 1, text.find("\n", break_ + 1)
            start = max(start, begin)
            start += len(text[start:end]) - len(text[start:end].lstrip(" \t"))
        if start < end:
            tokens.append(SemanticToken(line, start - begin, end - begin, kind, more))
    return tokens


_SHAPE_TOKEN_TYPES = {
    "ELEMENT_TYPE": TokenType.ELEMENT_TYPE,
    "TILES": TokenType.TILE,
    "MEMORY_SPACE": TokenType.MEMORY_SPACE,
    "NUMBER": TokenType.NUMBER,
    "COMMENT": TokenType.COMMENT,
}


@lru_cache(maxsize=1 << 12)
def shape_spans(text: str) -> tuple[TokenSpan, ...]:
    """Return the spans of a shape, or of a list of shapes; a module repeats few distinct ones."""
    lexemes = load_grammar("lexemes").expression("shape_lexeme")
    return tuple(
        (match.start(), match.end(), _SHAPE_TOKEN_TYPES[match.lastgroup or ""], TokenModifier.NONE)
        for match in lexemes.finditer(text)
    )


_KEYWORDS = frozenset({"ROOT", "ENTRY", "HloModule"})
_STATEMENT_TOKEN_TYPES = {
    "STRING": TokenType.STRING,
    "COMMENT": TokenType.COMMENT,
    "NUMBER": TokenType.NUMBER,
}
_CHARACTERS_AFTER_DEFINITION = frozenset({" ", "=", "\n", "\t"})
_MAX_BLANKS_BEFORE_EQUALS = 80
# The token types of names with ``%`` and of bare words in a part of a statement.
_NameTypes = tuple[TokenType, TokenType | None]
_DEFAULT_NAME_TYPES: _NameTypes = (TokenType.INSTRUCTION, None)
_OPERAND_NAME_TYPES: _NameTypes = (TokenType.INSTRUCTION, TokenType.INSTRUCTION)
_CALL_NAME_TYPES: _NameTypes = (TokenType.COMPUTATION, TokenType.COMPUTATION)


def statement_spans(text: str, end: int, *, is_head: bool = False) -> list[TokenSpan]:
    """Return the spans of a statement up to an offset, in order.

    A lexeme that the end offset may cut is left out. If ``is_head``, the text begins with the head
    of a computation, whose names are its own name and the parameters of its signature.
    """
    reader = _StatementReader(text, is_head)
    add = reader.spans.append
    for match in load_grammar("lexemes").expression("lexeme").finditer(text, 0, end):
        kind = match.lastgroup or ""
        if match.end() == end < len(text):
            break
        if kind == "BRACKET":
            reader.bracket(match[0])
        elif kind in _STATEMENT_TOKEN_TYPES:
            add((*match.span(), _STATEMENT_TOKEN_TYPES[kind], TokenModifier.NONE))
        elif kind == "ARRAY":
            reader.spans += _shift_spans(shape_spans(match[0]), match.start())
        elif kind == "KEY":
            reader.key(match[0])
            add((*match.span(), TokenType.ATTRIBUTE, TokenModifier.NONE))
        elif kind == "CALL" and not reader.wants_head:
            if match[0] != "b":  # ``b(f32[8])`` is a shape.
                reader.opens_operands = match[0] not in OPCODES_WITHOUT_OPERANDS
                add((*match.span(), TokenType.OPCODE, TokenModifier.NONE))
        elif match[0] not in _KEYWORDS:
            token_type, modifiers = reader.name(match.end(), is_signed=kind == "SIGNED_NAME")
            if token_type is not None:
                add((*match.span(), token_type, modifiers))
    return reader.spans


class _StatementReader:
    """A reader that classifies names by the preceding words and brackets."""

    def __init__(self, text: str, is_head: bool) -> None:
        self.spans: list[TokenSpan] = []
        self.wants_head = is_head
        self.opens_operands = False  # True if the next bracket opens the operands.
        self._text = text
        self._is_head = is_head
        self._names = _DEFAULT_NAME_TYPES
        self._outer: list[_NameTypes] = []  # for each open bracket, the types outside of it

    def bracket(self, sign: str) -> None:
        """Open or close a bracket."""
        if sign in ")]}":
            self._names = self._outer.pop() if self._outer else _DEFAULT_NAME_TYPES
            return
        self._outer.append(self._names)
        if self.opens_operands:
            self._names = _OPERAND_NAME_TYPES
            self.opens_operands = False

    def key(self, key: str) -> None:
        """Read an attribute name."""
        lists_names = key == "control-predecessors"
        self._names = _OPERAND_NAME_TYPES if lists_names else _DEFAULT_NAME_TYPES
        if key in CALL_ATTRIBUTES:
            self._names = _CALL_NAME_TYPES

    def name(self, end: int, *, is_signed: bool) -> tuple[TokenType | None, int]:
        """Return the type and the modifiers of a word that ends at an offset."""
        follows = self._text[end : end + 1]
        if self.wants_head:
            self.wants_head = False
            return TokenType.COMPUTATION, TokenModifier.DECLARATION
        if (follows == ":" and self._is_head) or (
            follows in _CHARACTERS_AFTER_DEFINITION and self._defines(end)
        ):
            self._names = _DEFAULT_NAME_TYPES
            return TokenType.INSTRUCTION, TokenModifier.DECLARATION
        signed, bare = self._names
        return signed if is_signed else bare, TokenModifier.NONE

    def _defines(self, at: int) -> bool:
        """Return whether an equals sign follows the name that ends at an offset."""
        if self._text.startswith(" = ", at):
            return True
        return self._text[at : at + _MAX_BLANKS_BEFORE_EQUALS].lstrip().startswith("=")


_NUMBER_ROLES = (
    *("ALLOCATION", "SIZE", "OFFSET", "PAGE", "PARAMETER", "VALUE_ID", "TOTAL", "HUMAN", "OPERAND"),
    *("MAX", "STEP", "START", "END", "MOMENT", "BYTES", "CUMULATIVE", "PERCENT", "CURRENT"),
    *("REMAINING", "REST", "COUNT", "REMAINDER", "NUMBER"),
    *("THUNK", "PREVIOUS", "PREVIOUS_DISTANCE"),
    *("NEXT", "NEXT_DISTANCE"),
)
_FLAG_ROLES = (
    *("CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI", "TABLE_HEADER"),
    "OTHER_FIELD",
)
_ROLE_TOKEN_TYPES: dict[str, TokenType] = {
    **dict.fromkeys(_NUMBER_ROLES, TokenType.NUMBER),
    **dict.fromkeys(_FLAG_ROLES, TokenType.ATTRIBUTE),
    "NAME": TokenType.INSTRUCTION,
    "COLOR": TokenType.MEMORY_SPACE,
    "SPACE_NAME": TokenType.MEMORY_SPACE,
    "KIND": TokenType.OPCODE,
    "TITLE": TokenType.STRING,
    "STRING": TokenType.STRING,
    "RULER": TokenType.COMMENT,
}
_SHAPE_ROLES = frozenset(
    {"SHAPE", "SHAPES", "PARAMETER_SHAPE", "OUTPUT_SHAPE", "INDEX", "PARAMETER_INDEX"}
)
# The rules of lines that declare the name in them.
_DECLARING_RULES = frozenset({"assigned_value_line", "used_value_line"})
# The rules of lines that are written in the syntax of module text.
_STATEMENT_RULES = frozenset({"location_row", "frame_row", "name_row", "proto_line"})
_DETAIL_TOKEN_TYPES = {
    "INSTRUCTION": TokenType.INSTRUCTION,
    "KERNEL": TokenType.COMPUTATION,
    "FIELD": TokenType.ATTRIBUTE,
    "NUMBER": TokenType.NUMBER,
}
_STRIPPED_CHARACTERS = " \t()"
# The token types that do not depend on the rule of a line.
_RULE_INDEPENDENT_TYPES = frozenset(TokenType) - {
    *(TokenType.OPCODE, TokenType.COMPUTATION, TokenType.ATTRIBUTE, TokenType.COMMENT),
}


def line_spans(rule: str | None, line: str, end: int) -> list[TokenSpan]:
    """Return the spans of a line of this rule up to column ``end``, in order.

    A line that does not match the rule has only the spans that do not depend on it.
    """
    if rule in _STATEMENT_RULES:
        return statement_spans(line, end)
    read = fields_of_line(rule, line) if rule is not None and len(line) == end else []
    if read:
        return [piece for field in read for piece in _field_spans(rule or "", field)]
    column = instruction_column(line)
    if column:
        return _shift_spans(_instruction_spans(line[column:end]), column)
    pieces = statement_spans(line, end)
    return [one for one in pieces if one[2] in _RULE_INDEPENDENT_TYPES and not one[3]]


def _field_spans(rule: str, field: LineField) -> list[TokenSpan]:
    start, text = field.start, field.text
    if field.role in _SHAPE_ROLES:
        return _shift_spans(shape_spans(text), start)
    if field.role == "INSTRUCTION":
        return _shift_spans(_instruction_spans(text), start)
    if field.role == "PREVIOUS_INSTRUCTION":
        column = instruction_column(text)
        return _shift_spans(_instruction_spans(text[column:]), start + column)
    if field.role == "DETAIL":
        lexemes = load_grammar("lexemes").expression("detail_lexeme").finditer(text)
        return _shift_spans(
            [(*each.span(), _DETAIL_TOKEN_TYPES[each.lastgroup or ""], 0) for each in lexemes],
            start,
        )
    kind = _ROLE_TOKEN_TYPES.get(field.role)
    if kind is None:
        return []
    declares = field.role == "NAME" and rule in _DECLARING_RULES
    start += len(text) - len(text.lstrip(_STRIPPED_CHARACTERS))
    end = field.end - len(text) + len(text.rstrip(_STRIPPED_CHARACTERS))
    return [(start, end, kind, TokenModifier.DECLARATION if declares else TokenModifier.NONE)]


@lru_cache(maxsize=32)
def _instruction_spans(text: str) -> tuple[TokenSpan, ...]:
    """Return the spans of an instruction, cached because XLA prints it for each tuple element."""
    return tuple(statement_spans(text, len(text)))


def _shift_spans(pieces: Iterable[TokenSpan], by: int) -> list[TokenSpan]:
    return [(start + by, end + by, kind, more) for start, end, kind, more in pieces]
