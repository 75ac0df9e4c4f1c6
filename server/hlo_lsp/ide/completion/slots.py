"""The kinds of text that can follow at the cursor in a module text."""

import re
from dataclasses import dataclass

from hlo_lsp.ide.completion.unfinished_statement import (
    Draft,
    InstructionParts,
    result_shape_span,
)
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_spans

_NAME = r"%?[A-Za-z_][\w.\-]*"
_FIRST_WORD = re.compile(r"\s*[%\w.\-]*\Z")
_MODULE_HEADER = re.compile(r"\s*HloModule\s+%?[\w.\-]+")
_COMPUTATION_PREFIX = re.compile(rf"\s*(?:ENTRY\s+)?{_NAME}\s*\(")
_RESULT_SHAPE = re.compile(r"->\s*((?:(?!->)\S)*)\Z")
_PARTIAL_OPCODE = re.compile(r"\s+[\w\-]*\Z")
_OPCODE_BEFORE_BRACKET = re.compile(r"(?<![\w\-])([a-z][\w\-]*)\s*\Z")
_PLAIN_WORD = re.compile(r"[%\w.\-]*\Z")
_ATTRIBUTE = re.compile(r"\s*([\w\-]+)=\s*")
_ATTRIBUTE_NAME = re.compile(r"\s*[\w\-]*\Z")
_KEY = re.compile(r"(?<![\w\-])([\w\-]+)=")
_PARTIAL_KEY_VALUE = re.compile(r"(?<![\w\-])([\w\-]+)=([\w.\-]*)\Z")
_ITEM_START = re.compile(r"(?:\A|[\s,])[%\w.\-]*\Z")
_STRING = re.compile(r'(?<!\\)"(?:[^"\\]|\\.)*"')


class Slot:
    """A kind of text that can follow at the cursor."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class StatementStartSlot(Slot):
    """The first word of a statement."""


@dataclass(frozen=True, slots=True)
class ShapeSlot(Slot):
    """A shape, or an element of a tuple shape.

    ``start`` is the offset of the shape in the text before the cursor. ``of_instruction`` is True
    for the result shape of an instruction, where an opcode may follow instead, and False in a
    signature.
    """

    start: int
    of_instruction: bool


@dataclass(frozen=True, slots=True)
class OpcodeSlot(Slot):
    """The opcode after the result shape."""


@dataclass(frozen=True, slots=True)
class OperandSlot(Slot):
    """An operand of an opcode, by number from 0. ``opened`` is where the operands begin."""

    shape: str
    opcode: str
    number: int
    opened: int


@dataclass(frozen=True, slots=True)
class AttributeSlot(Slot):
    """The name of an attribute of an instruction, or of the module if ``opcode`` is None.

    ``present`` holds the attributes of the statement.
    """

    opcode: str | None
    present: frozenset[str]


@dataclass(frozen=True, slots=True)
class ValueSlot(Slot):
    """The value of an attribute; ``opcode`` is None for an attribute of the module.

    ``within`` is the text between the opening brace of a list and the cursor, or None outside
    braces.
    """

    opcode: str | None
    attribute: str
    within: str | None = None


@dataclass(frozen=True, slots=True)
class KeyValueSlot(Slot):
    """The value of a key inside the braces of an attribute."""

    attribute: str
    key: str


def slot_at(draft: Draft) -> Slot | None:
    """Return the slot at the cursor, or None if nothing is known about it."""
    before = draft.text_before
    if _FIRST_WORD.match(before):
        return StatementStartSlot()
    header = _MODULE_HEADER.match(before)
    if header is not None:
        return _attribute_slot(draft, None, header.end())
    if draft.parts is not None:
        return _call_slot(draft, draft.parts)
    start, end = result_shape_span(before)
    if start is not None:
        if end is None:
            return _shape_slot(draft, start, of_instruction=True)
        return OpcodeSlot() if _PARTIAL_OPCODE.match(before, end) else None
    return _signature_slot(draft) if _COMPUTATION_PREFIX.match(before) else None


def _shape_slot(draft: Draft, start: int, *, of_instruction: bool) -> ShapeSlot | None:
    """Return the slot of a shape from ``start`` to the cursor, or of the last of its elements."""
    before = draft.text_before
    opened = [at for at in draft.open_brackets if at >= start]
    if any(before[at] != "(" for at in opened):
        return None  # The cursor is in dimensions or a layout.
    if opened:
        start = draft.items_before(opened[-1] + 1)[-1][0]
        start += len(before[start:]) - len(before[start:].lstrip())
    if any(sign.isspace() for sign in before[start:]):
        return None
    return ShapeSlot(start, of_instruction and not opened)


def _signature_slot(draft: Draft) -> ShapeSlot | None:
    before, opened = draft.text_before, draft.open_brackets
    result = _RESULT_SHAPE.search(before)
    if not opened:
        if result is None:
            return None
        return _shape_slot(draft, result.start(1), of_instruction=False)
    start = draft.items_before(opened[0] + 1)[-1][0]
    name, _, shape = before[start:].partition(":")
    blanks = len(shape) - len(shape.lstrip())
    if not blanks:
        return None
    return _shape_slot(draft, start + len(name) + 1 + blanks, of_instruction=False)


def _call_slot(draft: Draft, parts: InstructionParts) -> Slot | None:
    close = closing_bracket(draft.text_before, parts.opened - 1)
    if close is not None:
        return _attribute_slot(draft, parts.opcode, close + 1)
    inner = draft.open_brackets[-1]
    if draft.text_before[inner] != "(":
        return None
    opcode = _OPCODE_BEFORE_BRACKET.search(draft.text_before, 0, inner)
    if opcode is None:
        return None  # The cursor is in the shape of an operand.
    shape = parts.shape if inner == parts.opened - 1 else ""
    return OperandSlot(shape, opcode[1], len(draft.items_before(inner + 1)) - 1, inner + 1)


def _attribute_slot(draft: Draft, opcode: str | None, start: int) -> Slot | None:
    """Return the slot of a name or value in a list of attributes after the comma at ``start``."""
    items = draft.items_before(start)
    if len(items) < 2:
        return None
    piece = draft.text_before[items[-1][0] :]
    opened = [at for at in draft.open_brackets if at >= start]
    if not opened and _ATTRIBUTE_NAME.match(piece):
        return AttributeSlot(opcode, _present_attributes(draft, start))
    named = _ATTRIBUTE.match(piece)
    if named is None:
        return None
    value = piece[named.end() :]
    if not opened:
        return ValueSlot(opcode, named[1]) if _PLAIN_WORD.match(value) else None
    if len(opened) > 1 or not value.startswith("{"):
        return None
    within = value[1:]
    key = _PARTIAL_KEY_VALUE.search(within)
    if key is not None:
        return KeyValueSlot(named[1], key[1])
    return ValueSlot(opcode, named[1], within) if _ITEM_START.search(within) else None


def attribute_keys(text: str) -> frozenset[str]:
    """Return the keys inside the braces of an attribute."""
    return frozenset(_KEY.findall(_STRING.sub('""', text)))


def _present_attributes(draft: Draft, start: int) -> frozenset[str]:
    """Return the attributes of the statement except the one at the cursor."""
    found = []
    for first, last in comma_separated_spans(draft.text, start, len(draft.text)):
        match = _ATTRIBUTE.match(draft.text, first, last)
        if match is not None and not first <= len(draft.text_before) <= last:
            found.append(match[1])
    return frozenset(found)
