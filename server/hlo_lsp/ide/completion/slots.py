"""What may be written at the cursor of a module text, by what stands in front of it.

The text is unfinished: the expressions here read the beginnings of what the grammar of module
text (``grammar/module.lark``) reads whole.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.ide.completion.draft import Draft, definitions, pieces
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InstructionLine,
)
from hlo_lsp.syntax.records import Broken, Record
from hlo_lsp.syntax.statements import closing, defined_name

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


_NUMBER = re.compile(r"\s*(\d+)\s*\)")


class Definition(NamedTuple):
    """An instruction as far as it can be read: ``shape`` and ``opcode`` may be empty.

    ``number`` is that of a parameter.
    """

    name: str
    shape: str
    opcode: str
    is_root: bool
    number: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``head`` is the computation around the cursor, None outside of all; ``above`` what it
    defines in front of the cursor, nearest first."""

    head: Record | None
    above: tuple[Definition, ...]

    def named(self, name: str) -> Definition | None:
        """The instruction of this name above the cursor."""
        return next((found for found in self.above if found.name == name), None)


def surroundings(draft: Draft) -> Surroundings:
    """What is around the cursor."""
    record = draft.file.records.at(draft.line)
    assert record is not None  # a draft has been read there
    if draft.body is not None:
        found = [_of_text(text, draft.line) for text in definitions(draft.body)]
        return Surroundings(record, tuple(item for item in reversed(found) if item is not None))
    head = _head(draft.file, record)
    if head is None or head is record:  # outside of all, or in the head of one
        return Surroundings(None, ())
    above: list[Definition] = []
    for member in draft.file.records.members(head):
        if member is record:
            break
        if isinstance(member, ComputationEnd):
            return Surroundings(None, ())
        defined = _of_record(member)
        if defined is not None:
            above.append(defined)
    return Surroundings(head, tuple(reversed(above)))


def parameters(file: DumpFile, computation: ComputationLine) -> list[InstructionLine]:
    """The parameters of a computation in order, as its instructions say."""
    found = file.module.computation(computation).parameters
    return [found[number] for number in sorted(found)]


def dimensions(shape: str) -> str:
    """The dimensions of an array, ``[8,128]``; of a tuple all of it."""
    plain = without_layout(shape)
    return plain if plain.startswith("(") else plain[plain.find("[") :]


def _head(file: DumpFile, record: Record) -> Record | None:
    """The head above, past lines at the left edge that cannot be read (yet)."""
    while isinstance(record, Broken) and record.is_head and record.line > 0:
        above = file.records.at(record.line - 1)
        assert above is not None
        record = above
    head = file.records.head_of(record)
    if isinstance(head, Broken) and head is not record:
        return _head(file, head)
    return head if isinstance(head, ComputationLine) else None


def _of_record(record: Record) -> Definition | None:
    if isinstance(record, InstructionLine):
        return _of_text(record.text, record.line, record)
    return _of_text(record.text, record.line) if isinstance(record, Broken) else None


def _of_text(text: str, line: int, read: InstructionLine | None = None) -> Definition | None:
    if read is not None and read.opcode != "parameter":
        return Definition(read.name, read.shape, read.opcode, read.is_root, None, line)
    name = defined_name(text)
    if name is None:
        return None
    is_root = text.lstrip().startswith("ROOT")
    parts = parts_of(text)
    if parts is None:
        return Definition(name, "", "", is_root, None, line)
    number = _NUMBER.match(text, parts.opened) if parts.opcode == "parameter" else None
    return Definition(
        name, parts.shape, parts.opcode, is_root, None if number is None else int(number[1]), line
    )


def callee_of(file: DumpFile, text: str, attribute: str) -> ComputationLine | None:
    """The computation that an attribute of an unfinished instruction names, also in a list."""
    found = re.search(rf"(?<![\w\-]){attribute}=\{{?\s*%?([A-Za-z_][\w.\-]*)", text)
    return None if found is None else file.module.named(found[1])
