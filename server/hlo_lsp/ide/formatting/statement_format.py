"""The formatting of single statements, and the changes between two versions of a text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hlo_lsp.ide.formatting.attribute_values import (
    format_attribute_value,
    format_literal,
    format_shape,
    split_at_commas,
)
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction
from hlo_lsp.syntax.statements import closing_bracket, is_balanced

_WHITESPACE = re.compile(r"\s+")
_WORDS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.\-+%]+|\S')


class TextChange(NamedTuple):
    """The replacement of the text between two offsets."""

    start: int
    end: int
    text: str


def has_same_words(one: str, other: str) -> bool:
    """Return whether two texts differ only in blanks and line ends between words."""
    return _WORDS.findall(one) == _WORDS.findall(other)


def whitespace_changes(old: str, new: str) -> Iterator[TextChange]:
    """Yield the minimal changes that turn a text into another with the same words, in order."""
    at = to = 0
    next_old = next_new = -1  # the offsets of the next blanks
    while at < len(old) or to < len(new):
        blank, other = _WHITESPACE.match(old, at), _WHITESPACE.match(new, to)
        end = at if blank is None else blank.end()
        stop = to if other is None else other.end()
        if old[at:end] != new[to:stop]:
            yield minimal_change(at, old[at:end], new[to:stop])
        next_old = _next_whitespace(old, end) if next_old <= end else next_old
        next_new = _next_whitespace(new, stop) if next_new <= stop else next_new
        length = min(next_old - end, next_new - stop)
        at, to = end + length, stop + length


def _next_whitespace(text: str, at: int) -> int:
    found = _WHITESPACE.search(text, at)
    return len(text) if found is None else found.start()


def minimal_change(start: int, old: str, new: str) -> TextChange:
    """Return the change at an offset without the common prefix and suffix of both texts."""
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return TextChange(start + first, start + len(old) - last, new[first : len(new) - last])


_PLAIN_OPERANDS = re.compile(r"(?:%?[A-Za-z_][\w.\-]*(?:, %?[A-Za-z_][\w.\-]*)*)?")
_OPERAND = re.compile(r"(/\*index=\d+\*/)?\s*(?:(\S.*?)\s+)?(%?[A-Za-z_][\w.\-]*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w\-]+)=\s*(\S.*)", re.DOTALL)
_PARAMETER = re.compile(r"(%?[A-Za-z_][\w.\-]*)\s*:\s*(\S.*)", re.DOTALL)
_RESULT_ARROW = re.compile(r"\s*->\s*")
_STRING_OR_GAP = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[^"]+')
_BRACES = re.compile(r"\s*([{}])\s*")
_SPACED_BRACES = {"{": " {", "}": "}"}  # for the rows of the location tables
_INSTRUCTION_PREFIX = re.compile(r"\s*(ROOT\s+)?(%?)")
_LITERAL_OPCODES = frozenset({"constant", "parameter"})


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
    if parts.opcode.text in _LITERAL_OPCODES:
        return format_literal(text, shape)
    if _PLAIN_OPERANDS.fullmatch(text):
        return text
    found = []
    for piece in split_at_commas(text, 0, len(text)) if text.strip() else ():
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
    for piece in split_at_commas(rest, 1, len(rest)):
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
    for piece in split_at_commas(text, 1, close) if text[1:close].strip() else ():
        match = _PARAMETER.fullmatch(piece)
        shape = None if match is None else format_shape(match[2])
        if match is None or shape is None:
            return None
        found.append(f"{match[1]}: {shape}")
    result = format_shape(text[arrow.end() :].strip())
    return None if result is None else f"({', '.join(found)}) -> {result}"
