"""Rules on the headers of computations and modules: parameters and results."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.checks.case import RecordCheck, head_place, part_place, shape_place, span_place
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import Place
from hlo_lsp.model.shape import shape_difference, tuple_element_texts
from hlo_lsp.program.computations import Callee, ComputationScope, signature, split_at_commas
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.statements import closing_bracket

_LAYOUT = re.compile(r"\bentry_computation_layout=(?=\{)")
# The prefix of extracted modules in libtpu; most of them have a module-wide backend_config.
_EXTRACTED = "extracted"
_ARROW = re.compile(r"\)\s*->\s*")


@dataclass(frozen=True, slots=True)
class _Header:
    """A header that lists parameters and a result, with its name for messages and its place."""

    name: str
    place: Place


def numbered_parameters(case: RecordCheck[ComputationLine]) -> Iterator[Finding]:
    """Check that the parameters of a computation are numbered 0, 1, 2 ..., each once.

    Their number agrees with the header of the computation.
    """
    scope = case.scopes.scope(case.record)
    highest = -1
    for member in scope.members:
        number = parameter_number(member)
        if number is None:
            if member.opcode == "parameter":
                yield case.report(
                    part_place(case.file, member, member.parsed.opcode),
                    "`parameter` takes its number: `parameter(0)`",
                )
            continue
        highest = max(highest, number)
        first = scope.parameters[number]
        if first is not member and first.name != member.name:
            yield case.report(
                part_place(case.file, member, member.parsed.literal),
                f"duplicate parameter {number} in `{case.record.name}`, first defined on line "
                f"{case.number(first)}",
                Related(shape_place(case.file, first), f"the first parameter {number}"),
            )
    count = sum(member.opcode == "parameter" for member in scope.members)
    if not scope.is_intact or len(scope.parameters) != count:
        return
    missing = next((number for number in range(highest) if number not in scope.parameters), None)
    listed = signature(case.record)
    if missing is not None and scope.is_sound:
        last = scope.parameters[highest]
        yield case.report(
            part_place(case.file, last, last.parsed.literal),
            f"this is parameter {highest}, but `{case.record.name}` has no parameter {missing}",
            Related(head_place(case.file, case.record), f"`{case.record.name}` begins here"),
        )
    elif listed is not None and len(listed[0]) != count and scope.is_sound:
        yield case.report(
            head_place(case.file, case.record),
            f"the header of `{case.record.name}` lists {_parameters(len(listed[0]))}, but the "
            f"computation has {count}",
        )


def signature_shapes(case: RecordCheck[ComputationLine]) -> Iterator[Finding]:
    """Check the shapes that the header of a computation lists against parameters and root.

    The header has no layouts. Up to jax 0.4 it has no shapes either.
    """
    listed = signature(case.record)
    if listed is None:
        return
    scope = case.scopes.scope(case.record)
    head = _Header(f"the header of `{case.record.name}`", head_place(case.file, case.record))
    for number, shape in enumerate(listed[0]):
        parameter = scope.parameters.get(number)
        yield from _compared(case, parameter, f"parameter {number}", head, shape)
    yield from _compared(case, scope.root, "the root", head, listed[1])


def entry_layout(case: RecordCheck[ModuleHeader]) -> Iterator[Finding]:
    """Check `entry_computation_layout` against parameters and root of the entry computation.

    Modules that libtpu extracts for SparseCore are skipped: their layout is that of another module.
    """
    record = case.record
    if record.name.startswith(_EXTRACTED) or "backend_config=" in record.text:
        return
    entry = case.file.module.entry
    found = _LAYOUT.search(record.text)
    close = None if found is None else closing_bracket(record.text, found.end())
    opened = -1 if found is None else record.text.find("(", found.end())
    if found is None or close is None or entry is None or opened < 0:
        return
    shut = closing_bracket(record.text, opened)
    arrow = None if shut is None else _ARROW.match(record.text, shut)
    if shut is None or arrow is None:
        return
    place = span_place(case.file, record, record.text, found.start(), found.end() - 1)
    head = _Header("the module header", place)
    scope = case.scopes.scope(entry)
    if not entry.is_entry:
        return  # without ENTRY the last computation is the entry, but it may be truncated
    shapes = split_at_commas(record.text, opened + 1, shut)
    parameters = scope.counted_parameters
    if parameters is not None and len(parameters) != len(shapes) and scope.is_sound:
        yield case.report(
            place,
            f"the module header lists {_parameters(len(shapes))}, but `{entry.name}` has "
            f"{len(parameters)}",
            Related(head_place(case.file, entry), f"`{entry.name}` is the entry"),
        )
    else:
        for number, shape in enumerate(shapes):
            parameter = scope.parameters.get(number)
            yield from _compared(case, parameter, f"parameter {number}", head, shape)
    yield from _compared(case, scope.root, "the root", head, record.text[arrow.end() : close])


def _compared(
    case: "RecordCheck[ComputationLine] | RecordCheck[ModuleHeader]",
    instruction: InstructionLine | None,
    what: str,
    head: _Header,
    listed: str,
) -> Iterator[Finding]:
    """Compare the shape of an instruction with the one that a header lists for it."""
    if instruction is None or not instruction.shape:
        return
    listed = _without_index_comment(listed)
    found = None if listed == instruction.shape else shape_difference(instruction.shape, listed)
    if found is not None:
        yield case.report(
            shape_place(case.file, instruction),
            f"{what} is {found.first}{found.where}, but "
            f"{head.name} lists {found.second}{found.where}",
            Related(head.place, f"listed in {head.name}"),
        )


def _without_index_comment(shape: str) -> str:
    """Return the shape without the leading ``/*index=5*/``."""
    return shape.partition("*/")[2].strip() if shape.startswith("/*") else shape.strip()


def _parameters(count: int) -> str:
    return f"{count} parameter{'' if count == 1 else 's'}"


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
    error("shape-mismatch", ComputationLine, signature_shapes),
    error("shape-mismatch", ModuleHeader, entry_layout),
    error("parameter-number", ComputationLine, numbered_parameters),
    error("operand-count", InstructionLine, called_count, CALLS),
    error("shape-mismatch", InstructionLine, called, CALLS),
    error("shape-mismatch", InstructionLine, loop, {"while"}),
    error("shape-mismatch", InstructionLine, branches, {"conditional"}),
    error("shape-mismatch", InstructionLine, wrapped, {"async-start"}),
    error("shape-mismatch", InstructionLine, awaited, {"async-done"}),
)
