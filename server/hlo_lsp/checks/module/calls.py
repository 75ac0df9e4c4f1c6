"""Rules on the shapes on both sides of a call: operands and parameters, results and roots."""

from collections.abc import Iterator

from hlo_lsp.checks.case import RecordCheck
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.places import head_place, part_place, shape_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.model.shape_compatibility import shape_difference, tuple_element_texts
from hlo_lsp.program.computations import Callee, ComputationScope
from hlo_lsp.syntax.module_records import InstructionLine

CALLS = {"fusion": "calls", "call": "to_apply"}


def called(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check the shapes of a `fusion` or `call` against the parameters and the root of its callee.

    Types and dimensions are equal on both sides. Layouts may differ in a fusion.
    """
    for scope in _scopes(case, CALLS[case.record.opcode]):
        for number, operand in enumerate(_operands(case)):
            yield from _against_parameter(case, scope, number, operand, number)
        yield from _against_root(case, scope, case.record.shape, "the result")


def called_count(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that a `fusion` or `call` has one operand per parameter of its callee."""
    record = case.record
    resolved = case.scopes.resolved(record)
    for scope in _scopes(case, CALLS[record.opcode]):
        parameters = scope.counted_parameters
        if resolved is None or parameters is None or len(resolved.names) == len(parameters):
            continue
        if not scope.is_sound:
            continue
        name = scope.head.name
        yield case.report(
            part_place(case.file, record, record.parsed.opcode),
            f"`{record.opcode}` has {_count(len(resolved.names), 'operand')}, but `{name}` has "
            f"{_count(len(parameters), 'parameter')}",
            Related(head_place(case.file, scope.head), f"`{name}` is defined here"),
        )


def loop(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that operand, result, parameters, and body root of a `while` have one shape.

    The result of one iteration is the input of the next one. The condition returns `pred[]`.
    """
    record = case.record
    operand = next(iter(_operands(case)), None)
    found = None if operand is None else _difference(operand.shape, record.shape)
    if operand is not None and found is not None:
        yield case.report(
            part_place(case.file, record, record.parsed.operands[0]),
            f"`{operand.name}` is {found[0]}, but the result is {found[1]}: a loop keeps its shape",
            Related(shape_place(case.file, operand), f"the shape of `{operand.name}`"),
            Related(shape_place(case.file, record), "the shape of the result"),
        )
    for attribute, expected, what in (
        ("condition", "pred[]", "a condition"),
        ("body", record.shape, "the result"),
    ):
        for scope in _scopes(case, attribute):
            yield from _against_parameter(case, scope, 0, record)
            yield from _against_root(case, scope, expected, what)


def branches(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that a `conditional` has one operand per branch and the shape of each branch."""
    record = case.record
    resolved = case.scopes.resolved(record)
    callees = [callee for callee in case.scopes.callees(record) if callee.attribute in _BRANCHES]
    callees.sort(key=lambda callee: _BRANCHES.index(callee.attribute))
    if resolved is None or not callees:
        return
    given = len(resolved.names) - 1
    if len(callees) != given:
        yield case.report(
            part_place(case.file, record, record.parsed.opcode),
            f"there are {_count(len(callees), 'branch', 'branches')}, but "
            f"{_count(given, 'operand')} after the index",
        )
        return
    for at, callee in enumerate(callees, 1):
        scope = _scope(case, callee)
        if scope is not None:
            yield from _against_parameter(case, scope, 0, resolved.operands[at], at)
            yield from _against_root(case, scope, record.shape, "the result")


def wrapped(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check the shape of an `async-start`: (operands, result, context) of its callee.

    Starts without operands, which libtpu also prints, are skipped: updates add their operands.
    """
    record = case.record
    resolved = case.scopes.resolved(record)
    elements = tuple_element_texts(record.shape) or ()
    if resolved is None or not resolved.names or len(elements) < 2:
        return
    given = tuple_element_texts(elements[0])
    if given is not None and len(given) != len(resolved.names):
        yield case.report(
            shape_place(case.file, record),
            f"the shape holds {_count(len(given), 'operand')}, but there "
            f"{'is' if len(resolved.names) == 1 else 'are'} {len(resolved.names)}",
        )
        return
    for number, (operand, held) in enumerate(zip(resolved.operands, given or (), strict=False)):
        found = None if operand is None else _difference(operand.shape, held)
        if operand is not None and found is not None:
            yield case.report(
                part_place(case.file, record, record.parsed.operands[number]),
                f"`{operand.name}` is {found[0]}, but the shape of the start holds {found[1]}",
                Related(shape_place(case.file, operand), f"the shape of `{operand.name}`"),
                Related(shape_place(case.file, record), "the shape of the start"),
            )
    for scope in _scopes(case, "calls"):
        for number, operand in enumerate(resolved.operands):
            yield from _against_parameter(case, scope, number, operand, number)
        yield from _against_root(case, scope, elements[1], "the result of the start")


def awaited(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that an `async-done` has the result shape of its start or last update."""
    record = case.record
    operand = next(iter(_operands(case)), None)
    if operand is None or operand.opcode not in _ASYNCHRONOUS:
        return
    elements = tuple_element_texts(operand.shape) or ()
    found = _difference(record.shape, elements[1]) if len(elements) > 1 else None
    if found is not None:
        yield case.report(
            shape_place(case.file, record),
            f"the result is {found[0]}, but `{operand.name}` holds {found[1]}",
            Related(shape_place(case.file, operand), f"the shape of `{operand.name}`"),
        )


_BRANCHES = ("branch_computations", "true_computation", "false_computation")
_ASYNCHRONOUS = {"async-start", "async-update"}


def _operands(case: RecordCheck[InstructionLine]) -> tuple[InstructionLine | None, ...]:
    resolved = case.scopes.resolved(case.record)
    return () if resolved is None else resolved.operands


def _scopes(case: RecordCheck[InstructionLine], attribute: str) -> Iterator[ComputationScope]:
    """Yield the existing computations that an attribute names."""
    for callee in case.scopes.callees(case.record):
        scope = _scope(case, callee) if callee.attribute == attribute else None
        if scope is not None:
            yield scope


def _scope(case: RecordCheck[InstructionLine], callee: Callee) -> ComputationScope | None:
    return None if callee.computation is None else case.scopes.scope(callee.computation)


def _against_parameter(
    case: RecordCheck[InstructionLine],
    scope: ComputationScope,
    number: int,
    given: InstructionLine | None,
    at: int | None = None,
) -> Iterator[Finding]:
    """Compare a parameter of a callee with the instruction passed to it.

    Args:
        case: the calling instruction.
        scope: the callee.
        number: the number of the parameter.
        given: the instruction that is passed.
        at: the number of the operand to report, or None to report the caller's shape.
    """
    parameter = scope.parameters.get(number)
    if given is None or parameter is None:
        return
    found = _difference(given.shape, parameter.shape)
    if found is None:
        return
    record = case.record
    related = [
        Related(shape_place(case.file, parameter), f"parameter {number} of `{scope.head.name}`")
    ]
    if given is not record:
        related.insert(0, Related(shape_place(case.file, given), f"the shape of `{given.name}`"))
    yield case.report(
        shape_place(case.file, record)
        if at is None
        else part_place(case.file, record, record.parsed.operands[at]),
        f"`{given.name}` is {found[0]}, but parameter {number} of `{scope.head.name}` is "
        f"{found[1]}",
        *related,
    )


def _against_root(
    case: RecordCheck[InstructionLine], scope: ComputationScope, expected: str, what: str
) -> Iterator[Finding]:
    """Compare the root of a callee with the expected shape."""
    root = scope.root
    found = None if root is None else _difference(expected, root.shape)
    if root is not None and found is not None:
        yield case.report(
            shape_place(case.file, case.record),
            f"{what} is {found[0]}, but `{scope.head.name}` gives {found[1]}",
            Related(shape_place(case.file, root), f"the root of `{scope.head.name}`"),
        )


def _difference(first: str, second: str) -> tuple[str, str] | None:
    """Return the differing parts of two shapes with their index, or None if they agree."""
    if first == second or not first or not second:
        return None
    found = shape_difference(first, second)
    return None if found is None else (found.first + found.where, found.second + found.where)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one}" if number == 1 else f"{number} {many or one + 's'}"


RULES: tuple[AnyRule, ...] = (
    error("operand-count", InstructionLine, called_count, CALLS),
    error("shape-mismatch", InstructionLine, called, CALLS),
    error("shape-mismatch", InstructionLine, loop, {"while"}),
    error("shape-mismatch", InstructionLine, branches, {"conditional"}),
    error("shape-mismatch", InstructionLine, wrapped, {"async-start"}),
    error("shape-mismatch", InstructionLine, awaited, {"async-done"}),
)
