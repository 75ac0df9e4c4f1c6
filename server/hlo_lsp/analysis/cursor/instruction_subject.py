"""What the cursor is on inside of the text of an instruction."""

import re

from hlo_lsp.analysis.cursor.shape_subject import in_shape
from hlo_lsp.analysis.cursor.subjects import (
    AttributeSubject,
    ComputationSubject,
    ElementSubject,
    InstructionSubject,
    ParameterSubject,
    RowSubject,
    Subject,
)
from hlo_lsp.syntax.instruction_text import Attribute, InstructionText, Span
from hlo_lsp.syntax.metadata import metadata_fields
from hlo_lsp.syntax.tokens import Field, leaf_at

_NUMBER = re.compile(r"\d{1,9}")


def in_names(parsed: InstructionText, column: int, role: str) -> tuple[Subject, Span] | None:
    """A shape or a name under a column: the result, an operand, a predecessor, a computation.

    ``role`` says what a shape is: ``SHAPE`` where its layout is that of memory.
    """
    if column in parsed.shape and parsed.shape.text:
        shape = parsed.shape
        return in_shape(Field(role, shape.start, shape.end, shape.text), column)
    for number, span in enumerate(parsed.operands):
        if span.text and span.start - 1 <= column <= span.end:
            return InstructionSubject(span.text, None, number), span
    for span in (*parsed.reads, *parsed.predecessors):
        if span.start - 1 <= column <= span.end:
            return InstructionSubject(span.text, None), span
    for span in parsed.called:
        if span.start - 1 <= column <= span.end:
            return ComputationSubject(span.text), span
    return _in_operand_shape(parsed, column, role)


def in_attributes(parsed: InstructionText, column: int) -> tuple[Subject, Span] | None:
    """The parameter's number, an attribute or a part of it under a column."""
    opcode = parsed.opcode.text
    if opcode == "parameter" and column in parsed.literal:
        number = _NUMBER.search(parsed.literal.text)
        if number is not None:
            start = parsed.literal.start + number.start()
            span = Span(start, start + len(number[0]), number[0])
            return ParameterSubject(int(number[0])), span
    for attribute in parsed.attributes:
        start = attribute.value.start - len(attribute.name) - 1
        if start <= column <= attribute.value.end:
            return _in_attribute(parsed, attribute, column)
    return None


def _in_attribute(
    parsed: InstructionText, attribute: Attribute, column: int
) -> tuple[Subject, Span]:
    value = attribute.value
    name = Span(value.start - len(attribute.name) - 1, value.start - 1, attribute.name)
    opcode = parsed.opcode.text
    if attribute.name == "metadata":
        found = _in_metadata(parsed, name.start, opcode, column)
        if found is not None:
            return found
    if attribute.name == "index" and opcode == "get-tuple-element":
        number = value.text.strip()
        if _NUMBER.fullmatch(number):
            return ElementSubject(parsed.name.text, int(number)), _stripped(value)
    subject = AttributeSubject(attribute.name, opcode, value.text.strip())
    return subject, name if column <= name.end or "\n" in value.text else _stripped(value)


def _in_metadata(
    parsed: InstructionText, at: int, opcode: str, column: int
) -> tuple[Subject, Span] | None:
    for field in metadata_fields(parsed.line, at):
        if field.start <= column <= field.end:
            span = Span(field.start, field.end, parsed.line[field.start : field.end])
            if field.name == "stack_frame_id" and _NUMBER.fullmatch(field.value):
                return RowSubject("StackFrames", int(field.value)), span
            return AttributeSubject("metadata", opcode, field.value, field.name), span
    return None


def _in_operand_shape(
    parsed: InstructionText, column: int, role: str
) -> tuple[Subject, Span] | None:
    """The shape in front of an operand, which texts up to jax 0.4 print."""
    if not parsed.opcode.end < column < parsed.attributes_at:
        return None
    operands = Field(role, 0, parsed.attributes_at, parsed.line[: parsed.attributes_at])
    leaf = leaf_at(operands, column)
    return None if leaf is operands else in_shape(leaf, column)


def _stripped(span: Span) -> Span:
    text = span.text.strip()
    start = span.start + len(span.text) - len(span.text.lstrip())
    return Span(start, start + len(text), text)
