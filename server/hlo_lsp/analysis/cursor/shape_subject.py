"""What the cursor is on inside of a shape."""

from hlo_lsp.analysis.cursor.subjects import ShapeSubject, SpaceSubject, Subject
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.instruction_text import Span
from hlo_lsp.syntax.tokens import Field, leaf_at, space_at


def in_shape(field: Field, column: int) -> tuple[Subject, Span]:
    """The memory space, or the array of a shape field, under a column."""
    if field.role == "SHAPES":
        field = _row_shape(field, column)
    space = space_at(field, column)
    if space is not None:
        return SpaceSubject(space[1]), span_of(space[0])
    leaf = leaf_at(field, column)
    return ShapeSubject(leaf.text, field.role == "SHAPE" or "T(" in leaf.text), span_of(leaf)


def span_of(field: Field) -> Span:
    """Where a field stands."""
    return Span(field.start, field.end, field.text)


def _row_shape(field: Field, column: int) -> Field:
    """The shape of a report row (``2×f32[8], (s8[], f32[4])``) that a column is in or next to."""
    start = field.start
    for text in element_texts(f"({field.text})") or [field.text]:
        start = field.start + field.text.index(text, start - field.start)
        end = start + len(text)
        if column <= end:
            count, _, shape = text.rpartition("×")
            return Field(field.role, start + len(count) + bool(count), end, shape)
        start = end
    return field
