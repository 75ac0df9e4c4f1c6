"""Rules on shapes that follow from operands."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hlo_lsp.checks.framework.finding import Finding, Related
from hlo_lsp.checks.framework.rule import AnyRule, RecordContext, error
from hlo_lsp.hlo.vocabulary import ResultKind, opcodes_where
from hlo_lsp.model.place import part_place, shape_place
from hlo_lsp.model.shape import (
    ArrayShape,
    describe_shape,
    element_texts,
    is_compatible,
    shape_difference,
    try_shape,
)
from hlo_lsp.syntax.module_records import InstructionLine

ELEMENTWISE = opcodes_where(lambda one: one.elementwise) | {"clamp"}  # except its limits
_INDEX = re.compile(r"\d{1,9}")  # of an element
_PREDICATES = {"compare", "is-finite"}
# Opcodes whose result may have another element type than the operand; `abs` of complex numbers.
_RETYPING = _PREDICATES | {
    *("abs", "complex", "convert", "imag", "map", "real", "stochastic-convert"),
}
LOGICAL = {*_PREDICATES, "select"}
HANDED = opcodes_where(lambda one: one.returns is ResultKind.OPERAND and one.arity is not None)


class Side(NamedTuple):
    """A shape that is compared, and the words before it in the message.

    ``line`` is an instruction with the shape, and ``about`` describes it as a related place.
    """

    words: str
    shape: str
    line: InstructionLine | None = None
    about: str = ""


def operand_side(operand: InstructionLine) -> Side:
    """Return the shape of an operand."""
    name = f"`{operand.name}`"
    return Side(f"{name} is", operand.shape, operand, f"the shape of {name}")


def compare_shapes(
    context: RecordContext[InstructionLine],
    at: int | None,
    one: Side,
    other: Side,
    *,
    is_typed: bool = True,
    is_loose: bool = False,
    reason: str = "",
) -> Iterator[Finding]:
    """Report two shapes that differ, at operand ``at`` or at the shape of the instruction.

    With ``is_loose``, all floating-point types are equal.
    """
    if one.shape == other.shape or not one.shape or not other.shape:
        return
    found = shape_difference(one.shape, other.shape, types=is_typed, loose=is_loose)
    if found is not None:
        where = found.where
        yield context.report(
            shape_place(context.file, context.record) if at is None else context.operand_place(at),
            f"{one.words} {found.first}{where}, but {other.words} {found.second}{where}{reason}",
            *(
                Related(shape_place(context.file, side.line), side.about)
                for side in (one, other)
                if side.line is not None
            ),
        )


def elementwise(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that operands and result of an elementwise opcode have equal dimensions.

    Most opcodes also keep the element type. All floating point types count as equal, because libtpu
    mixes precisions in fusions. `select` and `clamp` accept scalars for the predicate and the
    limits. Layouts may differ.
    """
    opcode, result = context.record.opcode, context.record.shape
    for number, operand in _operands(context):
        if operand.shape == result:
            continue
        is_selector = opcode == "select" and number == 0
        is_limit = opcode == "clamp" and number != 1
        if (is_selector or is_limit) and _is_scalar(operand.shape):
            continue
        is_typed = opcode not in _RETYPING and not is_selector
        reason = f"`{opcode}` keeps the {'shape' if is_typed else 'dimensions'}"
        yield from _against_result(context, number, operand, reason, is_typed)


def logical_types(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that comparisons return `pred` for operands of one type, and `select` takes `pred`."""
    record = context.record
    operands = dict(_operands(context))
    if record.opcode in _PREDICATES and _element_type(record.shape) not in {"pred", None}:
        yield context.report(
            shape_place(context.file, record),
            f"`{record.opcode}` returns `pred`, not {describe_shape(record.shape)}",
        )
    if record.opcode == "compare" and operands.keys() == {0, 1}:
        left, right = operands[0], operands[1]
        if is_compatible(left.shape, right.shape, types=False):
            sides, reason = (operand_side(right), operand_side(left)), ": both sides have one type"
            yield from compare_shapes(context, 1, *sides, is_loose=True, reason=reason)
    selector = operands.get(0) if record.opcode == "select" else None
    if selector is not None and _element_type(selector.shape) not in {"pred", None}:
        yield context.report(
            context.operand_place(0),
            f"`{selector.name}` is {describe_shape(selector.shape)}; `select` needs `pred`",
            Related(shape_place(context.file, selector), "the shape of the operand"),
        )


def same_as_operand(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that `opt-barrier`, `domain`, and `add-dependency` have the shape of their operand."""
    for number, operand in _operands(context):
        if number == 0:
            reason = f"`{context.record.opcode}` keeps the shape of its operand"
            yield from _against_result(context, 0, operand, reason)


def tuple_elements(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that the elements of a tuple have the number and shapes of its operands."""
    record, resolved = context.record, context.resolved
    elements = element_texts(record.shape)
    if resolved is None or (elements is None and try_shape(record.shape) is None):
        return
    if elements is None or len(elements) != len(resolved.names):
        yield context.report(
            shape_place(context.file, record),
            f"the shape is {describe_shape(record.shape)}, but `tuple` has {len(resolved.names)} "
            f"operand{'' if len(resolved.names) == 1 else 's'}",
        )
        return
    for number, operand in _operands(context):
        what = f"element {number} of the tuple is"
        element = Side(what, elements[number], record, "the shape of the tuple")
        yield from compare_shapes(context, number, operand_side(operand), element)


def taken_element(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that `get-tuple-element` has the shape of element `index` of its operand."""
    record = context.record
    operand = dict(_operands(context)).get(0)
    index = record.parsed.attribute("index")
    if operand is None or index is None or not _INDEX.fullmatch(index.text):
        return
    elements = element_texts(operand.shape)
    message = f"the shape of `{operand.name}`"
    if elements is not None and int(index.text) < len(elements):
        what = f"element {index.text} of `{operand.name}` is"
        element = Side(what, elements[int(index.text)], operand, message)
        yield from compare_shapes(context, None, Side("the result is", record.shape), element)
        return
    related = Related(shape_place(context.file, operand), message)
    shape = describe_shape(operand.shape)
    if elements is not None:
        place = part_place(context.file, record, index)
        yield context.report(
            place, f"no element {index.text}: `{operand.name}` is {shape}", related
        )
    elif try_shape(operand.shape) is not None:
        yield context.report(
            context.operand_place(0), f"`{operand.name}` is {shape}, not a tuple", related
        )


def copied(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check the shapes of `copy-start`, (destination, source, context), and of `copy-done`."""
    record = context.record
    operand = dict(_operands(context)).get(0)
    if operand is None:
        return
    elements = element_texts((record if record.opcode == "copy-start" else operand).shape)
    if record.opcode == "copy-start":
        for role, element in zip(("destination", "source"), elements or (), strict=False):
            side = Side(f"the {role} is", element)
            yield from compare_shapes(context, None, side, operand_side(operand), is_loose=True)
    elif operand.opcode == "copy-start" and elements:
        what, about = (f"the {one} of `{operand.name}`" for one in ("destination", "shape"))
        side = Side(f"{what} is", elements[0], operand, about)
        yield from compare_shapes(
            context, None, Side("the result is", record.shape), side, is_loose=True
        )


def _operands(context: RecordContext[InstructionLine]) -> Iterator[tuple[int, InstructionLine]]:
    """Yield number and definition of the operands with known shapes, if the result's is known."""
    for number, operand in enumerate(context.operands if context.record.shape else ()):
        if operand is not None and operand.shape:
            yield number, operand


def _against_result(
    context: RecordContext[InstructionLine],
    number: int,
    operand: InstructionLine,
    reason: str,
    is_typed: bool = True,
) -> Iterator[Finding]:
    result = Side("the result is", context.record.shape, context.record, "the shape of the result")
    return compare_shapes(
        context,
        number,
        operand_side(operand),
        result,
        is_typed=is_typed,
        is_loose=True,
        reason=f": {reason}",
    )


def _element_type(shape: str) -> str | None:
    parsed = try_shape(shape)
    return parsed.element_type if isinstance(parsed, ArrayShape) else None


def _is_scalar(shape: str) -> bool:
    parsed = try_shape(shape)
    return isinstance(parsed, ArrayShape) and not parsed.dims


RULES: tuple[AnyRule, ...] = (
    error("shape-mismatch", InstructionLine, elementwise, ELEMENTWISE),
    error("shape-mismatch", InstructionLine, logical_types, LOGICAL),
    error("shape-mismatch", InstructionLine, same_as_operand, HANDED),
    error("shape-mismatch", InstructionLine, tuple_elements, {"tuple"}),
    error("shape-mismatch", InstructionLine, taken_element, {"get-tuple-element"}),
    error("shape-mismatch", InstructionLine, copied, {"copy-start", "copy-done"}),
)
