"""The parts of a line that is a record, or a row of one, by the rule that reads it."""

from collections.abc import Iterable
from functools import lru_cache

from hlo_lsp.analysis.colours.shapes import shape_pieces
from hlo_lsp.analysis.colours.statements import statement_pieces
from hlo_lsp.analysis.colours.token import Modifier, Piece, TokenType
from hlo_lsp.syntax.grammar import load
from hlo_lsp.syntax.tokens import Field, fields
from hlo_lsp.syntax.used_value import instruction_column

_NUMBERS = (
    "ALLOCATION", "SIZE", "OFFSET", "PAGE", "PARAMETER", "VALUE_ID", "TOTAL", "HUMAN", "OPERAND",
    "MAX", "STEP", "START", "END", "MOMENT", "BYTES", "CUMULATIVE", "PERCENT", "CURRENT",
    "REMAINING", "REST", "COUNT", "REMAINDER", "NUMBER", "THUNK", "PREVIOUS", "PREVIOUS_DISTANCE",
    "NEXT", "NEXT_DISTANCE",
)  # fmt: skip
_WORDS = ("CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI", "TABLE_HEADER")
_TYPES: dict[str, TokenType] = {
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
    kind = _TYPES.get(field.role)
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
