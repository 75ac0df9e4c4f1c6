"""Rules on shapes that follow from operands."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hlo_lsp.checks.framework.finding import Finding, Related
from hlo_lsp.checks.framework.rule import AnyRule, Reads, RecordContext, error
from hlo_lsp.hlo.vocabulary import ResultKind, opcode_spec, opcodes_where
from hlo_lsp.model.place import part_place, shape_place
from hlo_lsp.model.shape import (
    ArrayShape,
    brief_shape,
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
_UNCHANGED = frozenset({ResultKind.OPERAND, ResultKind.COPY})
# Of asynchronous computations, updates can add operands to the result; `copy` is elementwise.
FORWARDING = opcodes_where(lambda one: any(part.kind in _UNCHANGED for part in one.result)) - {
    *("async-done", "async-update", "copy"),
}


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
            f"`{record.opcode}` returns `pred`, not {brief_shape(record.shape)}",
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
            f"`{selector.name}` is {brief_shape(selector.shape)}; `select` needs `pred`",
            Related(shape_place(context.file, selector), "the shape of the operand"),
        )


def forwarded(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that a part of a result that is an operand, or a part of one, has the shape there."""
    record = context.record
    opcode = context.file.module.opcode(record)
    for part in opcode_spec(opcode).result if opcode in FORWARDING else ():
        operand = dict(_operands(context)).get(part.operand)
        if operand is None or (len(context.operands) > 1 and part.is_repeated):
            continue
        whole = Side("the result is", record.shape, record, "the shape of the result")
        result = _part_side(whole, part.at)
        given = _part_side(operand_side(operand), part.element)
        if part.kind not in _UNCHANGED or result is None or given is None:
            continue
        at, sides = (None, (result, given)) if part.element else (part.operand, (given, result))
        is_whole = not part.at and not part.element
        reason = f": `{opcode}` keeps the shape of its operand" if is_whole else ""
        yield from compare_shapes(context, at, *sides, is_loose=True, reason=reason)


def _part_side(side: Side, index: tuple[int, ...]) -> Side | None:
    """Return an element of a tuple, or the side itself for an empty index."""
    for number in index:
        elements = element_texts(side.shape)
        if elements is None or number >= len(elements):
            return None
        side = side._replace(words=f"element {number} of {side.words}", shape=elements[number])
    return side


def tuple_elements(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that the elements of a tuple have the number and shapes of its operands."""
    record, resolved = context.record, context.resolved
    elements = element_texts(record.shape)
    if resolved is None or (elements is None and try_shape(record.shape) is None):
        return
    if elements is None or len(elements) != len(resolved.names):
        yield context.report(
            shape_place(context.file, record),
            f"the shape is {brief_shape(record.shape)}, but `tuple` has {len(resolved.names)} "
            f"operand{'' if len(resolved.names) == 1 else 's'}",
        )
        return
    whole = Side("the tuple is", record.shape, record, "the shape of the tuple")
    for number, operand in _operands(context):
        element = _part_side(whole, (number,))
        assert element is not None  # there are as many as operands
        yield from compare_shapes(context, number, operand_side(operand), element)


def taken_element(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that `get-tuple-element` has the shape of element `index` of its operand."""
    record = context.record
    operand = dict(_operands(context)).get(0)
    index = record.attribute("index")
    if operand is None or index is None or not _INDEX.fullmatch(index.text):
        return
    element = _part_side(operand_side(operand), (int(index.text),))
    if element is not None:
        yield from compare_shapes(context, None, Side("the result is", record.shape), element)
        return
    related = Related(shape_place(context.file, operand), f"the shape of `{operand.name}`")
    shape = brief_shape(operand.shape)
    if element_texts(operand.shape) is not None:
        place = part_place(context.file, record, index)
        yield context.report(
            place, f"no element {index.text}: `{operand.name}` is {shape}", related
        )
    elif try_shape(operand.shape) is not None:
        yield context.report(
            context.operand_place(0), f"`{operand.name}` is {shape}, not a tuple", related
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
    is_typed: bool,
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
    error("shape-mismatch", InstructionLine, elementwise, ELEMENTWISE, reads=Reads.FORM),
    error("shape-mismatch", InstructionLine, logical_types, LOGICAL, reads=Reads.FORM),
    error("shape-mismatch", InstructionLine, forwarded, FORWARDING, reads=Reads.FORM),
    error("shape-mismatch", InstructionLine, tuple_elements, {"tuple"}, reads=Reads.FORM),
    error(
        "shape-mismatch", InstructionLine, taken_element, {"get-tuple-element"}, reads=Reads.FORM
    ),
)
