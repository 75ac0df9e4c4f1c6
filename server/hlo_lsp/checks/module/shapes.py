"""Rules on shapes that follow from operands."""

from collections.abc import Iterator

from hlo_lsp.checks.case import RecordCheck, part_place, shape_place
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.shape import (
    ArrayShape,
    describe_shape,
    is_compatible,
    is_compatible_ignoring_precision,
    is_compatible_ignoring_type,
    shape_difference,
    try_shape,
    tuple_element_texts,
)
from hlo_lsp.syntax.module_records import InstructionLine

ELEMENTWISE = {
    "clamp",  # except its limits
    *(opcode.name for opcode in vocabulary().opcodes.values() if opcode.elementwise),
}
# Opcodes whose result may have another element type than the operand; `abs` of complex numbers.
_RETYPING = {
    "abs",
    "compare",
    "complex",
    "convert",
    "imag",
    "is-finite",
    "map",
    "real",
    "stochastic-convert",
}
_PREDICATES = {"compare", "is-finite"}
LOGICAL = {*_PREDICATES, "select"}
HANDED = {"add-dependency", "domain", "opt-barrier"}

_Pair = tuple[int, InstructionLine]


def elementwise(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that operands and result of an elementwise opcode have equal dimensions.

    Most opcodes also keep the element type. All floating point types count as equal, because libtpu
    mixes precisions in fusions. `select` and `clamp` accept scalars for the predicate and the
    limits. Layouts may differ.
    """
    record = case.record
    opcode, result = record.opcode, record.shape
    for number, operand in _operands(case):
        if operand.shape == result:
            continue
        if _may_be_scalar(opcode, number) and _is_scalar(operand.shape):
            continue
        retyped = opcode in _RETYPING or _is_selector(opcode, number)
        agree = is_compatible_ignoring_type if retyped else is_compatible_ignoring_precision
        if not agree(operand.shape, result):
            what = "dimensions" if retyped else "shape"
            yield _differs(case, number, operand, f"`{opcode}` keeps the {what}", types=not retyped)


def logical_types(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that comparisons return `pred` for operands of one type, and `select` takes `pred`."""
    record = case.record
    operands = dict(_operands(case))
    if record.opcode in _PREDICATES and _element_type(record.shape) not in {"pred", None}:
        yield case.report(
            shape_place(case.file, record),
            f"`{record.opcode}` gives `pred`, not {describe_shape(record.shape)}",
        )
    if record.opcode == "compare" and len(operands) == 2:
        left, right = operands[0].shape, operands[1].shape
        if is_compatible_ignoring_type(left, right) and not is_compatible_ignoring_precision(
            left, right
        ):
            yield _differs(case, 1, operands[1], "both sides have one type", operands[0])
    selector = operands.get(0) if record.opcode == "select" else None
    if selector is not None and _element_type(selector.shape) not in {"pred", None}:
        yield case.report(
            part_place(case.file, record, record.parsed.operands[0]),
            f"`{selector.name}` is {describe_shape(selector.shape)}; `select` needs `pred`",
            Related(shape_place(case.file, selector), "the shape of the operand"),
        )


def same_as_operand(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that `opt-barrier`, `domain`, and `add-dependency` have the shape of their operand."""
    operand = dict(_operands(case)).get(0)
    if operand is not None and not is_compatible_ignoring_precision(
        operand.shape, case.record.shape
    ):
        yield _differs(case, 0, operand, f"`{case.record.opcode}` keeps the shape of its operand")


def tuple_elements(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that the elements of a tuple have the number and shapes of its operands."""
    record = case.record
    resolved = case.scopes.resolved(record)
    elements = tuple_element_texts(record.shape)
    if resolved is None or (elements is None and try_shape(record.shape) is None):
        return
    if elements is None or len(elements) != len(resolved.names):
        yield case.report(
            shape_place(case.file, record),
            f"the shape is {describe_shape(record.shape)}, but `tuple` has {len(resolved.names)} "
            f"operand{'' if len(resolved.names) == 1 else 's'}",
        )
        return
    for number, operand in _operands(case):
        found = shape_difference(operand.shape, elements[number])
        if operand.shape != elements[number] and found is not None:
            yield case.report(
                part_place(case.file, record, record.parsed.operands[number]),
                f"`{operand.name}` is {found.first}{found.where}, but element {number} of the "
                f"tuple is {found.second}{found.where}",
                Related(shape_place(case.file, operand), "the shape of the operand"),
                Related(shape_place(case.file, record), "the shape of the tuple"),
            )


def taken_element(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that `get-tuple-element` has the shape of element `index` of its operand."""
    record = case.record
    operand = dict(_operands(case)).get(0)
    index = record.parsed.attribute("index")
    if operand is None or index is None or not index.text.isdecimal():
        return
    elements = tuple_element_texts(operand.shape)
    related = Related(shape_place(case.file, operand), f"the shape of `{operand.name}`")
    if elements is None:
        if try_shape(operand.shape) is not None:
            yield case.report(
                part_place(case.file, record, record.parsed.operands[0]),
                f"`{operand.name}` is {describe_shape(operand.shape)}, not a tuple",
                related,
            )
    elif int(index.text) >= len(elements):
        yield case.report(
            part_place(case.file, record, index),
            f"no element {index.text}: `{operand.name}` is {describe_shape(operand.shape)}",
            related,
        )
    elif not is_compatible(record.shape, elements[int(index.text)]):
        found = shape_difference(record.shape, elements[int(index.text)])
        assert found is not None
        yield case.report(
            shape_place(case.file, record),
            f"the result is {found.first}{found.where}, but element {index.text} of "
            f"`{operand.name}` is {found.second}{found.where}",
            related,
        )


def copied(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check the shapes of `copy-start`, (destination, source, context), and of `copy-done`.

    Destination and source have the type and dimensions of the operand. Layout and memory space may
    differ.
    """
    record = case.record
    operand = dict(_operands(case)).get(0)
    if operand is None:
        return
    if record.opcode == "copy-start":
        elements = tuple_element_texts(record.shape) or ()
        for number, role in enumerate(("destination", "source")):
            if number < len(elements) and not is_compatible_ignoring_precision(
                operand.shape, elements[number]
            ):
                yield case.report(
                    shape_place(case.file, record),
                    f"the {role} is {describe_shape(elements[number])}, but `{operand.name}` is "
                    f"{describe_shape(operand.shape)}",
                    Related(shape_place(case.file, operand), "the shape of the operand"),
                )
    elif operand.opcode == "copy-start":
        elements = tuple_element_texts(operand.shape) or ()
        if elements and not is_compatible_ignoring_precision(elements[0], record.shape):
            yield case.report(
                shape_place(case.file, record),
                f"the result is {describe_shape(record.shape)}, but the destination of "
                f"`{operand.name}` is {describe_shape(elements[0])}",
                Related(shape_place(case.file, operand), f"the shape of `{operand.name}`"),
            )


def _operands(case: RecordCheck[InstructionLine]) -> Iterator[_Pair]:
    """Yield number and definition of the operands with known shapes, if the result's is known."""
    resolved = case.scopes.resolved(case.record) if case.record.shape else None
    for number, operand in enumerate(() if resolved is None else resolved.operands):
        if operand is not None and operand.shape:
            yield number, operand


def _differs(
    case: RecordCheck[InstructionLine],
    number: int,
    operand: InstructionLine,
    reason: str,
    other: InstructionLine | None = None,
    *,
    types: bool = True,
) -> Finding:
    """Return a finding on an operand whose shape differs from the result or another operand."""
    second = case.record if other is None else other
    found = shape_difference(operand.shape, second.shape, types=types, loose=types)
    assert found is not None
    name = "the result" if other is None else f"`{other.name}`"
    return case.report(
        part_place(case.file, case.record, case.record.parsed.operands[number]),
        f"`{operand.name}` is {found.first}{found.where}, but {name} is {found.second}"
        f"{found.where}: {reason}",
        Related(shape_place(case.file, operand), f"the shape of `{operand.name}`"),
        Related(shape_place(case.file, second), f"the shape of {name}"),
    )


def _element_type(shape: str) -> str | None:
    parsed = try_shape(shape)
    return parsed.element_type if isinstance(parsed, ArrayShape) else None


def _is_scalar(shape: str) -> bool:
    parsed = try_shape(shape)
    return isinstance(parsed, ArrayShape) and not parsed.dims


def _may_be_scalar(opcode: str, number: int) -> bool:
    return _is_selector(opcode, number) or (opcode == "clamp" and number != 1)


def _is_selector(opcode: str, number: int) -> bool:
    return opcode == "select" and number == 0


RULES: tuple[AnyRule, ...] = (
    error("shape-mismatch", InstructionLine, elementwise, ELEMENTWISE),
    error("shape-mismatch", InstructionLine, logical_types, LOGICAL),
    error("shape-mismatch", InstructionLine, same_as_operand, HANDED),
    error("shape-mismatch", InstructionLine, tuple_elements, {"tuple"}),
    error("shape-mismatch", InstructionLine, taken_element, {"get-tuple-element"}),
    error("shape-mismatch", InstructionLine, copied, {"copy-start", "copy-done"}),
)
