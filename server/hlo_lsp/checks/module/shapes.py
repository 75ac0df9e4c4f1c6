"""Rules on shapes that follow from operands."""

from collections.abc import Iterator

from hlo_lsp.checks.case import RecordCheck, part_place, shape_place
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.shape import (
    ArrayShape,
    describe_shape,
    element_texts,
    is_compatible,
    shape_difference,
    try_shape,
)
from hlo_lsp.syntax.module_records import InstructionLine

ELEMENTWISE = {
    "clamp",  # except its limits
    *(opcode.name for opcode in vocabulary().opcodes.values() if opcode.elementwise),
}
_PREDICATES = {"compare", "is-finite"}
# Opcodes whose result may have another element type than the operand; `abs` of complex numbers.
_RETYPING = _PREDICATES | {
    *("abs", "complex", "convert", "imag", "map", "real", "stochastic-convert"),
}
LOGICAL = {*_PREDICATES, "select"}
HANDED = {"add-dependency", "domain", "opt-barrier"}


def compare_shapes(
    case: RecordCheck[InstructionLine],
    at: int | None,
    one: tuple[str, str],
    other: tuple[str, str],
    *related: tuple[InstructionLine, str],
    is_typed: bool = True,
    is_loose: bool = False,
    reason: str = "",
) -> Iterator[Finding]:
    """Report two shapes that differ, each with the words before it in the message.

    The place is that of operand ``at``, or of the shape of the instruction. ``related`` are
    instructions with shapes. With ``is_loose``, all floating-point types are equal.
    """
    (what, first), (but, second) = one, other
    if first == second or not first or not second:
        return
    found = shape_difference(first, second, types=is_typed, loose=is_loose)
    if found is not None:
        yield case.report(
            shape_place(case.file, case.record) if at is None else case.operand_place(at),
            f"{what} {found.first}{found.where}, but {but} {found.second}{found.where}{reason}",
            *(Related(shape_place(case.file, line), message) for line, message in related),
        )


def elementwise(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that operands and result of an elementwise opcode have equal dimensions.

    Most opcodes also keep the element type. All floating point types count as equal, because libtpu
    mixes precisions in fusions. `select` and `clamp` accept scalars for the predicate and the
    limits. Layouts may differ.
    """
    opcode, result = case.record.opcode, case.record.shape
    for number, operand in _operands(case):
        if operand.shape == result:
            continue
        is_selector = opcode == "select" and number == 0
        is_limit = opcode == "clamp" and number != 1
        if (is_selector or is_limit) and _is_scalar(operand.shape):
            continue
        is_typed = opcode not in _RETYPING and not is_selector
        reason = f"`{opcode}` keeps the {'shape' if is_typed else 'dimensions'}"
        yield from _against_result(case, number, operand, reason, is_typed)


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
        left, right = operands[0], operands[1]
        if is_compatible(left.shape, right.shape, types=False):
            yield from compare_shapes(
                case,
                1,
                (f"`{right.name}` is", right.shape),
                (f"`{left.name}` is", left.shape),
                (right, f"the shape of `{right.name}`"),
                (left, f"the shape of `{left.name}`"),
                is_loose=True,
                reason=": both sides have one type",
            )
    selector = operands.get(0) if record.opcode == "select" else None
    if selector is not None and _element_type(selector.shape) not in {"pred", None}:
        yield case.report(
            case.operand_place(0),
            f"`{selector.name}` is {describe_shape(selector.shape)}; `select` needs `pred`",
            Related(shape_place(case.file, selector), "the shape of the operand"),
        )


def same_as_operand(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that `opt-barrier`, `domain`, and `add-dependency` have the shape of their operand."""
    for number, operand in _operands(case):
        if number == 0:
            reason = f"`{case.record.opcode}` keeps the shape of its operand"
            yield from _against_result(case, 0, operand, reason)


def tuple_elements(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that the elements of a tuple have the number and shapes of its operands."""
    record, resolved = case.record, case.resolved
    elements = element_texts(record.shape)
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
        yield from compare_shapes(
            case,
            number,
            (f"`{operand.name}` is", operand.shape),
            (f"element {number} of the tuple is", elements[number]),
            (operand, "the shape of the operand"),
            (record, "the shape of the tuple"),
        )


def taken_element(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that `get-tuple-element` has the shape of element `index` of its operand."""
    record = case.record
    operand = dict(_operands(case)).get(0)
    index = record.parsed.attribute("index")
    if operand is None or index is None or not index.text.isdecimal():
        return
    elements = element_texts(operand.shape)
    message = f"the shape of `{operand.name}`"
    if elements is not None and int(index.text) < len(elements):
        yield from compare_shapes(
            case,
            None,
            ("the result is", record.shape),
            (f"element {index.text} of `{operand.name}` is", elements[int(index.text)]),
            (operand, message),
        )
        return
    related = Related(shape_place(case.file, operand), message)
    shape = describe_shape(operand.shape)
    if elements is not None:
        place = part_place(case.file, record, index)
        yield case.report(place, f"no element {index.text}: `{operand.name}` is {shape}", related)
    elif try_shape(operand.shape) is not None:
        yield case.report(
            case.operand_place(0), f"`{operand.name}` is {shape}, not a tuple", related
        )


def copied(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check the shapes of `copy-start`, (destination, source, context), and of `copy-done`."""
    record = case.record
    operand = dict(_operands(case)).get(0)
    if operand is None:
        return
    elements = element_texts((record if record.opcode == "copy-start" else operand).shape)
    if record.opcode == "copy-start":
        for role, element in zip(("destination", "source"), elements or (), strict=False):
            yield from compare_shapes(
                case,
                None,
                (f"the {role} is", element),
                (f"`{operand.name}` is", operand.shape),
                (operand, "the shape of the operand"),
                is_loose=True,
            )
    elif operand.opcode == "copy-start" and elements:
        yield from compare_shapes(
            case,
            None,
            ("the result is", record.shape),
            (f"the destination of `{operand.name}` is", elements[0]),
            (operand, f"the shape of `{operand.name}`"),
            is_loose=True,
        )


def _operands(case: RecordCheck[InstructionLine]) -> Iterator[tuple[int, InstructionLine]]:
    """Yield number and definition of the operands with known shapes, if the result's is known."""
    for number, operand in enumerate(case.operands if case.record.shape else ()):
        if operand is not None and operand.shape:
            yield number, operand


def _against_result(
    case: RecordCheck[InstructionLine],
    number: int,
    operand: InstructionLine,
    reason: str,
    is_typed: bool = True,
) -> Iterator[Finding]:
    return compare_shapes(
        case,
        number,
        (f"`{operand.name}` is", operand.shape),
        ("the result is", case.record.shape),
        (operand, f"the shape of `{operand.name}`"),
        (case.record, "the shape of the result"),
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
