"""The kinds of text that can follow at the cursor in a module text.

The statement at the cursor is unfinished. The regular expressions in this module match prefixes of
the statements that the grammar (``grammar/module.lark``) defines.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.ide.completion.draft import Draft, comma_separated_spans, split_instructions
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InstructionLine,
)
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.statements import closing_bracket, defined_name

_WORD = r"[%\w.\-]*"
_NAME = r"%?[A-Za-z_][\w.\-]*"
_FIRST_WORD = re.compile(rf"\s*{_WORD}\Z")
_MODULE_HEADER = re.compile(r"\s*HloModule\s+%?[\w.\-]+")
_INSTRUCTION_PREFIX = re.compile(rf"\s*(?:ROOT\s+)?{_NAME}\s*=\s+")
_COMPUTATION_PREFIX = re.compile(rf"\s*(?:ENTRY\s+)?{_NAME}\s*\(")
_RESULT_SHAPE = re.compile(r"->\s*(\S*)\Z")
_ARRAY_SHAPE = re.compile(r"[^\s(\[]+\[\S*(?=\s)")
_OPCODE = re.compile(r"\s*([a-z][\w\-]*)\s*\(")
_PARTIAL_OPCODE = re.compile(r"\s+[\w\-]*\Z")
_OPCODE_BEFORE_BRACKET = re.compile(r"([a-z][\w\-]*)\s*\Z")
_PLAIN_WORD = re.compile(r"[%\w.\-]*\Z")
_ATTRIBUTE = re.compile(r"\s*([\w\-]+)=\s*")
_ATTRIBUTE_NAME = re.compile(r"\s*[\w\-]*\Z")
_KEY = re.compile(r"(?<![\w\-])([\w\-]+)=")
_PARTIAL_KEY_VALUE = re.compile(r"(?<![\w\-])([\w\-]+)=([\w.\-]*)\Z")
_ITEM_START = re.compile(r"(?:\A|[\s,])[%\w.\-]*\Z")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class StatementStartSlot:
    """The first word of a statement."""


@dataclass(frozen=True, slots=True)
class ShapeSlot:
    """A shape, or an element of a tuple shape.

    ``start`` is the offset of the shape in the text before the cursor. ``of_instruction`` is True
    for the result shape of an instruction, where an opcode may follow instead, and False in a
    signature.
    """

    start: int
    of_instruction: bool


@dataclass(frozen=True, slots=True)
class OpcodeSlot:
    """The opcode after the result shape."""

    shape: str


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """An operand of an opcode, by number from 0. ``opened`` is where the operands begin."""

    shape: str
    opcode: str
    number: int
    opened: int


@dataclass(frozen=True, slots=True)
class AttributeSlot:
    """The name of an instruction attribute. ``present`` holds the attributes of the statement."""

    opcode: str
    present: frozenset[str]


@dataclass(frozen=True, slots=True)
class ValueSlot:
    """The value of an attribute; ``opcode`` is None for an attribute of the module.

    ``within`` is the text between the opening brace of a list and the cursor, or None outside
    braces.
    """

    opcode: str | None
    attribute: str
    within: str | None = None


@dataclass(frozen=True, slots=True)
class KeyValueSlot:
    """The value of a key inside the braces of an attribute."""

    attribute: str
    key: str


@dataclass(frozen=True, slots=True)
class HeaderSlot:
    """The name of a module attribute."""

    present: frozenset[str]


Slot = (
    StatementStartSlot
    | ShapeSlot
    | OpcodeSlot
    | OperandSlot
    | AttributeSlot
    | ValueSlot
    | KeyValueSlot
    | HeaderSlot
)


@dataclass(frozen=True, slots=True)
class InstructionParts:
    """The result shape, the opcode, and the offset of the operands of an unfinished instruction."""

    shape: str
    opcode: str
    opened: int


def slot_at(draft: Draft) -> Slot | None:
    """Return the slot at the cursor, or None if nothing is known about it."""
    before = draft.text_before
    if _FIRST_WORD.match(before):
        return StatementStartSlot()
    header = _MODULE_HEADER.match(before)
    if header is not None:
        return _attribute_slot(draft, None, header.end())
    if _INSTRUCTION_PREFIX.match(before):
        parts = instruction_parts(before)
        return _result_slot(draft) if parts is None else _call_slot(draft, parts)
    return _signature_slot(draft) if _COMPUTATION_PREFIX.match(before) else None


def instruction_parts(text: str) -> InstructionParts | None:
    """Return the parts of an instruction if its text reaches the operands."""
    defined = _INSTRUCTION_PREFIX.match(text)
    if defined is None:
        return None
    at = defined.end()
    opcode = _OPCODE.match(text, at)
    if opcode is not None:
        return InstructionParts("", opcode[1], opcode.end())
    end = _shape_end(text, at)
    opcode = None if end is None else _OPCODE.match(text, end)
    return None if opcode is None else InstructionParts(text[at:end], opcode[1], opcode.end())


def operand_texts(text: str, opened: int) -> list[str]:
    """Return the text of each operand, up to the closing parenthesis or the end of the text."""
    close = closing_bracket(text, opened - 1)
    end = len(text) if close is None else close
    found = [text[start:stop].strip() for start, stop in comma_separated_spans(text, opened, end)]
    return found if any(found) else []


def _shape_end(text: str, at: int) -> int | None:
    if text.startswith("(", at):
        close = closing_bracket(text, at)
        return None if close is None else close + 1
    array = _ARRAY_SHAPE.match(text, at)
    return None if array is None else array.end()


def _result_slot(draft: Draft) -> Slot | None:
    before = draft.text_before
    defined = _INSTRUCTION_PREFIX.match(before)
    assert defined is not None
    end = _shape_end(before, defined.end())
    if end is None:
        return _shape_slot(draft, defined.end(), of_instruction=True)
    return OpcodeSlot(before[defined.end() : end]) if _PARTIAL_OPCODE.match(before, end) else None


def _shape_slot(draft: Draft, start: int, *, of_instruction: bool) -> ShapeSlot | None:
    """Return the slot of a shape from ``start`` to the cursor, or of the last of its elements."""
    opened = [at for at in draft.open_brackets if at >= start]
    if any(draft.text_before[at] != "(" for at in opened):
        return None  # The cursor is in dimensions or a layout.
    if opened:
        start = [
            piece
            for piece, _ in comma_separated_spans(
                draft.text_before, opened[-1] + 1, len(draft.text_before)
            )
        ][-1]
        start += len(draft.text_before[start:]) - len(draft.text_before[start:].lstrip())
    if any(sign.isspace() for sign in draft.text_before[start:]):
        return None
    return ShapeSlot(start, of_instruction and not opened)


def _signature_slot(draft: Draft) -> ShapeSlot | None:
    before, opened = draft.text_before, draft.open_brackets
    result = _RESULT_SHAPE.search(before)
    if result is not None and not opened:
        return _shape_slot(draft, result.start(1), of_instruction=False)
    if not opened:
        return None
    start = [piece for piece, _ in comma_separated_spans(before, opened[0] + 1, len(before))][-1]
    name, colon, shape = before[start:].partition(":")
    if not colon:
        return None
    blanks = len(shape) - len(shape.lstrip())
    at = start + len(name) + 1 + blanks
    return _shape_slot(draft, at, of_instruction=False) if blanks else None


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
    places = list(comma_separated_spans(draft.text_before, inner + 1, len(draft.text_before)))
    return OperandSlot(shape, opcode[1], len(places) - 1, inner + 1)


def _attribute_slot(draft: Draft, opcode: str | None, start: int) -> Slot | None:
    """Return the slot of a name or value in a list of attributes after the comma at ``start``."""
    before = draft.text_before
    places = list(comma_separated_spans(before, start, len(before)))
    piece = before[places[-1][0] :]
    opened = [at for at in draft.open_brackets if at >= start]
    if len(places) < 2:
        return None
    if not opened and _ATTRIBUTE_NAME.match(piece):
        present = _present_attributes(draft, start)
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


_PARAMETER_NUMBER = re.compile(r"\s*(\d+)\s*\)")


class PartialInstruction(NamedTuple):
    """The readable part of an instruction. ``shape`` and ``opcode`` may be empty.

    ``number`` is the parameter number of a parameter instruction.
    """

    name: str
    shape: str
    opcode: str
    is_root: bool
    number: int | None
    line: int


@dataclass(frozen=True, slots=True)
class CompletionScope:
    """The computation at the cursor and the instructions before the cursor.

    ``head`` is None outside of computations. ``above`` lists the nearest instruction first.
    """

    head: Record | None
    above: tuple[PartialInstruction, ...]

    def named(self, name: str) -> PartialInstruction | None:
        """Return the instruction of this name above the cursor."""
        return next((found for found in self.above if found.name == name), None)


def completion_scope(draft: Draft) -> CompletionScope:
    """Return the computation and the instructions that are visible at the cursor."""
    record = draft.file.records.at(draft.line)
    assert record is not None  # The draft comes from a record on this line.
    if draft.body is not None:
        found = [_partial_instruction(text, draft.line) for text in split_instructions(draft.body)]
        return CompletionScope(record, tuple(item for item in reversed(found) if item is not None))
    head = _enclosing_head(draft.file, record)
    if head is None or head is record:  # outside of computations, or in a computation head
        return CompletionScope(None, ())
    above: list[PartialInstruction] = []
    for member in draft.file.records.members(head):
        if member is record:
            break
        if isinstance(member, ComputationEnd):
            return CompletionScope(None, ())
        defined = _instruction_of_record(member)
        if defined is not None:
            above.append(defined)
    return CompletionScope(head, tuple(reversed(above)))


def computation_parameters(file: DumpFile, computation: ComputationLine) -> list[InstructionLine]:
    """Return the parameter instructions of a computation, ordered by parameter number."""
    found = file.module.computation(computation).parameters
    return [found[number] for number in sorted(found)]


def dimensions_text(shape: str) -> str:
    """Return the dimensions of an array shape, ``[8,128]``, or the whole text of a tuple shape."""
    plain = without_layout(shape)
    return plain if plain.startswith("(") else plain[plain.find("[") :]


def _enclosing_head(file: DumpFile, record: Record) -> Record | None:
    """Return the computation head above a record, skipping unreadable lines at the left margin."""
    while isinstance(record, BrokenRecord) and record.is_head and record.line > 0:
        above = file.records.at(record.line - 1)
        assert above is not None
        record = above
    head = file.records.head_of(record)
    if isinstance(head, BrokenRecord) and head is not record:
        return _enclosing_head(file, head)
    return head if isinstance(head, ComputationLine) else None


def _instruction_of_record(record: Record) -> PartialInstruction | None:
    if isinstance(record, InstructionLine):
        return _partial_instruction(record.text, record.line, record)
    return (
        _partial_instruction(record.text, record.line) if isinstance(record, BrokenRecord) else None
    )


def _partial_instruction(
    text: str, line: int, read: InstructionLine | None = None
) -> PartialInstruction | None:
    if read is not None and read.opcode != "parameter":
        return PartialInstruction(read.name, read.shape, read.opcode, read.is_root, None, line)
    name = defined_name(text)
    if name is None:
        return None
    is_root = text.lstrip().startswith("ROOT")
    parts = instruction_parts(text)
    if parts is None:
        return PartialInstruction(name, "", "", is_root, None, line)
    number = _PARAMETER_NUMBER.match(text, parts.opened) if parts.opcode == "parameter" else None
    return PartialInstruction(
        name, parts.shape, parts.opcode, is_root, None if number is None else int(number[1]), line
    )


def referenced_computation(file: DumpFile, text: str, attribute: str) -> ComputationLine | None:
    """Return the first computation that an attribute of an unfinished instruction names."""
    found = re.search(rf"(?<![\w\-]){attribute}=\{{?\s*%?([A-Za-z_][\w.\-]*)", text)
    return None if found is None else file.module.named(found[1])
