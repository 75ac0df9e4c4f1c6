"""What may be written at the cursor of a module text, by what stands in front of it.

The text is unfinished: the expressions here read the beginnings of what the grammar of module
text (``grammar/module.lark``) reads whole.
"""

import re
from dataclasses import dataclass

from hlo_lsp.analysis.writing.draft import Draft, pieces
from hlo_lsp.syntax.nesting import closing

_WORD = r"[%\w.\-]*"
_NAME = r"%?[A-Za-z_][\w.\-]*"
_FIRST_WORD = re.compile(rf"\s*{_WORD}\Z")
_HEADER = re.compile(r"\s*HloModule\s+%?[\w.\-]+")
_DEFINED = re.compile(rf"\s*(?:ROOT\s+)?{_NAME}\s*=\s+")
_HEAD = re.compile(rf"\s*(?:ENTRY\s+)?{_NAME}\s*\(")
_RESULT = re.compile(r"->\s*(\S*)\Z")
_ARRAY = re.compile(r"[^\s(\[]+\[\S*(?=\s)")
_OPCODE = re.compile(r"\s*([a-z][\w\-]*)\s*\(")
_PARTIAL_OPCODE = re.compile(r"\s+[\w\-]*\Z")
_OPCODE_IN_FRONT = re.compile(r"([a-z][\w\-]*)\s*\Z")
_PLAIN_WORD = re.compile(r"[%\w.\-]*\Z")
_ATTRIBUTE = re.compile(r"\s*([\w\-]+)=\s*")
_ATTRIBUTE_NAME = re.compile(r"\s*[\w\-]*\Z")
_KEY = re.compile(r"(?<![\w\-])([\w\-]+)=")
_KEY_VALUE = re.compile(r"(?<![\w\-])([\w\-]+)=([\w.\-]*)\Z")
_BEFORE_ITEM = re.compile(r"(?:\A|[\s,])[%\w.\-]*\Z")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first word of a statement. ``outside`` says that it belongs to no computation."""

    outside: bool = False


@dataclass(frozen=True, slots=True)
class ShapeSlot:
    """A shape, or an element of a tuple shape, that begins at ``start`` of the front.

    ``of_instruction`` tells the result of an instruction, where the opcode may follow at once,
    from the shapes of a signature.
    """

    start: int
    of_instruction: bool


@dataclass(frozen=True, slots=True)
class OpcodeSlot:
    """The opcode, behind the shape of its result."""

    shape: str


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """Operand ``number`` (from 0) of an opcode; ``opened`` is where the operands begin."""

    shape: str
    opcode: str
    number: int
    opened: int


@dataclass(frozen=True, slots=True)
class AttributeSlot:
    """The name of an attribute. ``present`` are those that the statement has, before or behind."""

    opcode: str
    present: frozenset[str]


@dataclass(frozen=True, slots=True)
class ValueSlot:
    """The value of an attribute; of the module's where ``opcode`` is None.

    ``within`` is the text between the brace of a list and the cursor, or None in front of it.
    """

    opcode: str | None
    attribute: str
    within: str | None = None


@dataclass(frozen=True, slots=True)
class KeyValueSlot:
    """The value behind a key inside of the braces of an attribute."""

    attribute: str
    key: str


@dataclass(frozen=True, slots=True)
class HeaderSlot:
    """The name of an attribute of the module."""

    present: frozenset[str]


Slot = (
    Beginning
    | ShapeSlot
    | OpcodeSlot
    | OperandSlot
    | AttributeSlot
    | ValueSlot
    | KeyValueSlot
    | HeaderSlot
)


@dataclass(frozen=True, slots=True)
class Parts:
    """How far an instruction is written: its shape, its opcode, where its operands begin."""

    shape: str
    opcode: str
    opened: int


def slot_of(draft: Draft) -> Slot | None:
    """What may stand at the cursor; None where nothing is known of it."""
    front = draft.front
    if _FIRST_WORD.match(front):
        return Beginning()
    header = _HEADER.match(front)
    if header is not None:
        return _in_attributes(draft, None, header.end())
    if _DEFINED.match(front):
        parts = parts_of(front)
        return _in_result(draft) if parts is None else _in_call(draft, parts)
    return _in_signature(draft) if _HEAD.match(front) else None


def parts_of(text: str) -> Parts | None:
    """The parts of an instruction if its text goes on up to the operands."""
    defined = _DEFINED.match(text)
    if defined is None:
        return None
    at = defined.end()
    opcode = _OPCODE.match(text, at)
    if opcode is not None:
        return Parts("", opcode[1], opcode.end())
    end = _shape_end(text, at)
    opcode = None if end is None else _OPCODE.match(text, end)
    return None if opcode is None else Parts(text[at:end], opcode[1], opcode.end())


def operand_texts(text: str, opened: int) -> list[str]:
    """What is written of each operand, from the first to the closing parenthesis or the end."""
    close = closing(text, opened - 1)
    end = len(text) if close is None else close
    found = [text[start:stop].strip() for start, stop in pieces(text, opened, end)]
    return found if any(found) else []


def _shape_end(text: str, at: int) -> int | None:
    if text.startswith("(", at):
        close = closing(text, at)
        return None if close is None else close + 1
    array = _ARRAY.match(text, at)
    return None if array is None else array.end()


def _in_result(draft: Draft) -> Slot | None:
    front = draft.front
    defined = _DEFINED.match(front)
    assert defined is not None
    end = _shape_end(front, defined.end())
    if end is None:
        return _in_shape(draft, defined.end(), of_instruction=True)
    return OpcodeSlot(front[defined.end() : end]) if _PARTIAL_OPCODE.match(front, end) else None


def _in_shape(draft: Draft, start: int, *, of_instruction: bool) -> ShapeSlot | None:
    """A shape that begins at ``start`` and ends at the cursor, or the last of its elements."""
    opened = [at for at in draft.open_brackets if at >= start]
    if any(draft.front[at] != "(" for at in opened):
        return None  # in dimensions or a layout
    if opened:
        start = [piece for piece, _ in pieces(draft.front, opened[-1] + 1, len(draft.front))][-1]
        start += len(draft.front[start:]) - len(draft.front[start:].lstrip())
    if any(sign.isspace() for sign in draft.front[start:]):
        return None
    return ShapeSlot(start, of_instruction and not opened)


def _in_signature(draft: Draft) -> ShapeSlot | None:
    front, opened = draft.front, draft.open_brackets
    result = _RESULT.search(front)
    if result is not None and not opened:
        return _in_shape(draft, result.start(1), of_instruction=False)
    if not opened:
        return None
    start = [piece for piece, _ in pieces(front, opened[0] + 1, len(front))][-1]
    name, colon, shape = front[start:].partition(":")
    if not colon:
        return None
    blanks = len(shape) - len(shape.lstrip())
    at = start + len(name) + 1 + blanks
    return _in_shape(draft, at, of_instruction=False) if blanks else None


def _in_call(draft: Draft, parts: Parts) -> Slot | None:
    close = closing(draft.front, parts.opened - 1)
    if close is not None:
        return _in_attributes(draft, parts.opcode, close + 1)
    inner = draft.open_brackets[-1]
    if draft.front[inner] != "(":
        return None
    opcode = _OPCODE_IN_FRONT.search(draft.front, 0, inner)
    if opcode is None:
        return None  # the shape of an operand
    shape = parts.shape if inner == parts.opened - 1 else ""
    places = list(pieces(draft.front, inner + 1, len(draft.front)))
    return OperandSlot(shape, opcode[1], len(places) - 1, inner + 1)


def _in_attributes(draft: Draft, opcode: str | None, start: int) -> Slot | None:
    """A name or a value in a list of attributes that begins at ``start`` with a comma."""
    front = draft.front
    places = list(pieces(front, start, len(front)))
    piece = front[places[-1][0] :]
    opened = [at for at in draft.open_brackets if at >= start]
    if len(places) < 2:
        return None
    if not opened and _ATTRIBUTE_NAME.match(piece):
        present = _present(draft, start)
        return HeaderSlot(present) if opcode is None else AttributeSlot(opcode, present)
    named = _ATTRIBUTE.match(piece)
    if named is None:
        return None
    value = piece[named.end() :]
    if not opened:
        return ValueSlot(opcode, named[1]) if _PLAIN_WORD.match(value) else None
    if len(opened) > 1 or not value.startswith("{"):
        return None
    within = value[1:]
    key = _KEY_VALUE.search(within)
    if key is not None:
        return KeyValueSlot(named[1], key[1])
    return ValueSlot(opcode, named[1], within) if _BEFORE_ITEM.search(within) else None


def keys_in(text: str) -> frozenset[str]:
    """The keys inside of the braces of an attribute."""
    return frozenset(_KEY.findall(_STRING.sub('""', text)))


def _present(draft: Draft, start: int) -> frozenset[str]:
    """The attributes of the statement but the one that the cursor is in."""
    found = []
    for first, last in pieces(draft.text, start, len(draft.text)):
        match = _ATTRIBUTE.match(draft.text, first, last)
        if match is not None and not first <= len(draft.front) <= last:
            found.append(match[1])
    return frozenset(found)
