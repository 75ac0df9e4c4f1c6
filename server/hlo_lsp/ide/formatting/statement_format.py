"""The formatting of single statements and their shapes."""

import re
from functools import lru_cache

from hlo_lsp.hlo.vocabulary import AttributeKind, vocabulary
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import (
    OPCODES_WITHOUT_OPERANDS,
    InstructionText,
    parse_instruction,
)
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_texts, is_balanced

_SHAPE_TOKEN = re.compile(r"/\*index=\d+\*/|\s+|[()\[\]{},]|[^\s()\[\]{},]+")


@lru_cache(maxsize=1 << 12)
def format_shape(text: str) -> str | None:
    """Return a shape, or several, with blanks only after the commas of tuples."""
    depth = 0  # the number of open brackets in which no blank follows a comma
    found: list[str] = []
    for match in _SHAPE_TOKEN.finditer(text):
        part = match[0]
        if part.isspace():
            continue
        if part in "[{":
            depth += 1
        elif part in "]}":
            depth -= 1
        found.append(", " if part == "," and depth == 0 else part)
    return "".join(found) if depth == 0 else None


_ARRAY_SHAPE = re.compile(r"[a-z]\w*\[([^\]]*)\](?:\{[^{}]*\})?")
_SEPARATE_WORDS = re.compile(r"[^\s{}(),]\s+[^\s{}(),]")
# Attributes whose values are lists, and whether a blank follows their commas.
_LISTS = {
    AttributeKind.INTEGERS: False,
    AttributeKind.ENUMS: False,
    AttributeKind.COMPUTATIONS: True,
    AttributeKind.INSTRUCTIONS: True,
}


def format_literal(text: str, shape: str) -> str:
    """Return the literal of a constant as XLA prints it; that of a matrix is unchanged.

    Args:
        text: The text between the parentheses of the constant.
        shape: The shape of the constant, as XLA prints it.
    """
    array = _ARRAY_SHAPE.fullmatch(shape)
    if array is None or "," in array[1]:
        return text.strip()
    return _format_list(text.strip(), has_blanks=True)


def format_attribute_value(name: str, value: str) -> str:
    """Return the value of an attribute without blanks at its ends; a list as XLA prints it."""
    words = vocabulary()
    known = words.attributes.get(name) or words.header.get(name)
    has_blanks = None if known is None else _LISTS.get(known.kind)
    if has_blanks is None or closing_bracket(value, 0) != len(value) - 1:
        return value
    return _format_list(value, has_blanks=has_blanks)


def _format_list(text: str, *, has_blanks: bool) -> str:
    if _SEPARATE_WORDS.search(text) is not None:
        return text
    return "".join(text.split()).replace(",", ", " if has_blanks else ",")


_WORDS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.\-+%]+|\\\S|\S')


def has_same_words(one: str, other: str) -> bool:
    """Return whether two texts differ only in blanks and line ends between words."""
    return _WORDS.findall(one) == _WORDS.findall(other)


_NAME = r"%?[A-Za-z_][\w.\-]*(?:#\d+)*"
_PLAIN_OPERANDS = re.compile(rf"(?:{_NAME}(?:, {_NAME})*)?")
_OPERAND = re.compile(rf"(/\*index=\d+\*/)?\s*(?:([^\s/](?:.*?\S)?)\s+)?({_NAME})", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w\-]+)=\s*(\S.*)", re.DOTALL)
_PARAMETER = re.compile(r"(%?[A-Za-z_][\w.\-]*)\s*:\s*(\S.*)", re.DOTALL)
_RESULT_ARROW = re.compile(r"\s*->\s*")
_STRING_OR_GAP = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[^"]+')
_BRACES = re.compile(r" ?([{}]) ?")
_SPACED_BRACES = {"{": " {", "}": "}"}  # for the rows of the location tables
_INSTRUCTION_PREFIX = re.compile(r"\s*(ROOT\s+)?(%?)")


def format_instruction(text: str, at: int = 0) -> str | None:
    """Return an instruction on one line without indentation; None if it cannot be formatted.

    ``text`` contains no comments and no other instruction.
    """
    parts = parse_instruction(text, at)
    if parts is None or not parts.is_closed or parts.bodies:
        return None
    line = parts.line
    begin = _INSTRUCTION_PREFIX.match(line, at)
    shape = format_shape(parts.shape.text)
    operands = None if shape is None else _format_operands(parts, shape)
    attributes = _format_attributes(line, parts.attributes_at)
    if begin is None or shape is None or operands is None or attributes is None:
        return None
    mark = "ROOT " if begin[1] else ""
    result = f"{shape} {parts.opcode.text}" if shape else parts.opcode.text
    return f"{mark}{begin[2]}{parts.name.text} = {result}({operands}){attributes}"


def format_computation_head(text: str) -> str | None:
    """Return the first line of a computation, up to its brace."""
    match = load_grammar("module").expression("computation_line").fullmatch(text)
    if match is None:
        return None
    sign = "%" if text[match.start("NAME") - 1 : match.start("NAME")] == "%" else ""
    name = f"{'ENTRY ' if match['ENTRY'] else ''}{sign}{match['NAME']}"
    if match["SIGNATURE"] is None:
        return f"{name} {{"
    signature = _format_signature(match["SIGNATURE"])
    return None if signature is None else f"{name} {signature} {{"


def format_computation_end(text: str) -> str | None:
    """Return the brace that closes a computation, with its attributes."""
    start = text.index("}") + 1
    attributes = _format_attributes(text, start)
    return None if attributes is None else f"}}{attributes}"


def format_module_header(text: str) -> str | None:
    """Return the first line of a module."""
    match = load_grammar("module").expression("module_header").fullmatch(text)
    if match is None or not is_balanced(text, 0):
        return None
    name = text[match.end("SPACE") : match.end("NAME")]
    attributes = _format_attributes(text, match.end("NAME"))
    return None if attributes is None else f"HloModule {name}{attributes}"


def format_table_row(text: str) -> str:
    """Return a label or row of the location tables."""
    parts = (
        part if part[0] == '"' else " ".join(part.split())
        for part in _STRING_OR_GAP.findall(text.strip())
    )
    row = " ".join(filter(None, parts))
    return row if '"' in row else _BRACES.sub(lambda brace: _SPACED_BRACES[brace[1]], row)


def _format_operands(parts: InstructionText, shape: str) -> str | None:
    text = parts.literal.text
    if parts.opcode.text in OPCODES_WITHOUT_OPERANDS:
        return format_literal(text, shape)
    if _PLAIN_OPERANDS.fullmatch(text):
        return text
    found = []
    for piece in comma_separated_texts(text, 0, len(text)):
        match = _OPERAND.fullmatch(piece)
        printed = format_shape(match[2] or "") if match is not None else None
        if match is None or printed is None:  # The operand is a nested instruction.
            return None
        found.append(f"{match[1] or ''}{printed + ' ' if printed else ''}{match[3]}")
    return ", ".join(found)


def _format_attributes(text: str, start: int) -> str | None:
    rest = text[start:].strip()
    if not rest:
        return ""
    if rest[0] != ",":
        return None
    found = []
    for piece in comma_separated_texts(rest, 1, len(rest)) or [""]:
        match = _ATTRIBUTE.fullmatch(piece)
        if match is None:
            return None
        found.append(f", {match[1]}={format_attribute_value(match[1], match[2])}")
    return "".join(found)


def _format_signature(text: str) -> str | None:
    close = closing_bracket(text, 0)
    arrow = None if close is None else _RESULT_ARROW.match(text, close + 1)
    if close is None or arrow is None:
        return None
    found = []
    for piece in comma_separated_texts(text, 1, close):
        match = _PARAMETER.fullmatch(piece)
        shape = None if match is None else format_shape(match[2])
        if match is None or shape is None:
            return None
        found.append(f"{match[1]}: {shape}")
    result = format_shape(text[arrow.end() :].strip())
    return None if result is None else f"({', '.join(found)}) -> {result}"
