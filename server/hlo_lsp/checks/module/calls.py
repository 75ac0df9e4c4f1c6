"""Rules on both sides of a call: operands and parameters, results and roots, and headers."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related
from hlo_lsp.checks.framework.rule import AnyRule, Reads, RecordContext, error
from hlo_lsp.checks.module.shapes import Side, compare_shapes, operand_side
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.module_index import LEGACY_DONE_OPCODES, parameter_number
from hlo_lsp.model.place import Place, name_place, part_place, shape_place, span_place
from hlo_lsp.model.shape import element_texts, shape_difference, without_layout
from hlo_lsp.program.dataflow import ordered_callees
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_texts

CALLS = {"fusion": "calls", "call": "to_apply"}
_ASYNCHRONOUS = {"async-start", "async-update"}
_LAYOUT = re.compile(r"\bentry_computation_layout=(?=\{\()")
# The prefix of extracted modules in libtpu; most of them have a module-wide backend_config.
_EXTRACTED = "extracted"
_ARROW = re.compile(r"\)\s*->\s*")


def numbered_parameters(context: RecordContext[ComputationLine]) -> Iterator[Finding]:
    """Check that the parameters of a computation are numbered 0, 1, 2 ..., each once."""
    scope, name = context.computation(context.record), context.record.name
    members = [member for member in scope.members if member.opcode == "parameter"]
    for member in members:
        number = parameter_number(member)
        if number is None:
            yield context.report(
                part_place(context.file, member, member.parsed.opcode),
                "`parameter` takes its number: `parameter(0)`",
            )
            continue
        first = scope.parameters[number]
        if first is not member and first.name != member.name:
            yield context.report(
                part_place(context.file, member, member.parsed.literal),
                f"duplicate parameter {number} in `{name}`, first defined on line "
                f"{context.number(first)}",
                Related(shape_place(context.file, first), f"the first parameter {number}"),
            )
    count = len(members)
    if not scope.is_intact or len(scope.parameters) != count:
        return
    highest = max(scope.parameters, default=-1)
    missing = next((number for number in range(highest) if number not in scope.parameters), None)
    listed = _shapes_in(context.record.signature)
    if missing is not None and scope.is_sound:
        last = scope.parameters[highest]
        yield context.report(
            part_place(context.file, last, last.parsed.literal),
            f"this is parameter {highest}, but `{name}` has no parameter {missing}",
            Related(name_place(context.file, context.record), f"`{name}` begins here"),
        )
    elif listed is not None and len(listed[0]) != count and scope.is_sound:
        yield context.report(
            name_place(context.file, context.record),
            f"the header of `{name}` lists {count_noun(len(listed[0]), 'parameter')}, but the "
            f"computation has {count}",
        )


def signature_shapes(context: RecordContext[ComputationLine]) -> Iterator[Finding]:
    """Check the shapes that the header of a computation lists against parameters and root.

    The header has no layouts. Up to jax 0.4 it has no shapes either.
    """
    scope = context.computation(context.record)
    if context.record.signature == _printed_signature(scope):  # nearly always
        return
    listed = _shapes_in(context.record.signature)
    if listed is not None:
        head = f"the header of `{context.record.name}`", name_place(context.file, context.record)
        yield from _against_header(context, scope, head, *listed)


def _printed_signature(scope: Computation) -> str:
    """Return the header that XLA prints for fewer than six parameters and arrays."""
    listed = [
        f"{one.name}: {without_layout(one.shape)}" for _, one in sorted(scope.parameters.items())
    ]
    root = "" if scope.root is None else without_layout(scope.root.shape)
    return f"({', '.join(listed)}) -> {root}"


def entry_layout(context: RecordContext[ComputationLine]) -> Iterator[Finding]:
    """Check `entry_computation_layout` against parameters and root of the entry computation.

    Modules that libtpu extracts for SparseCore are skipped: their layout is that of another module.
    """
    entry = context.record
    header = context.file.module.header if entry.is_entry else None
    # Without ENTRY the last computation is the entry, but it may be truncated.
    if header is None or context.file.module.entry is not entry:
        return
    if header.name.startswith(_EXTRACTED) or "backend_config=" in header.text:
        return
    checkpoint()
    layout = _layout(header.text)
    if layout is None:
        return
    shapes, result, start = layout
    end = start + len("entry_computation_layout")
    place = span_place(context.file, header, header.text, start, end)
    scope = context.computation(entry)
    parameters = scope.counted_parameters
    if parameters is not None and len(parameters) != len(shapes) and scope.is_sound:
        yield context.report(
            place,
            f"the module header lists {count_noun(len(shapes), 'parameter')}, but `{entry.name}` "
            f"has {len(parameters)}",
            Related(name_place(context.file, entry), f"`{entry.name}` is the entry"),
        )
        shapes = []
    yield from _against_header(context, scope, ("the module header", place), shapes, result)


@lru_cache(maxsize=4)  # a header may have 60,000 brackets and commas
def _layout(header: str) -> tuple[list[str], str, int] | None:
    """Return the parameters, the result, and the column of `entry_computation_layout`."""
    found = _LAYOUT.search(header)
    close = None if found is None else closing_bracket(header, found.end())
    if found is None or close is None:
        return None
    read = _signature(header[found.end() + 1 : close])
    return None if read is None else (*read, found.start())


@lru_cache(maxsize=4)  # of the last head, which several rules read
def _shapes_in(signature: str) -> tuple[list[str], str] | None:
    """Return the shapes of parameters and result in a head, or None without a signature."""
    read = _signature(signature)
    if read is None:
        return None
    return [parameter.partition(":")[2].strip() for parameter in read[0]], read[1]


def _signature(text: str) -> tuple[list[str], str] | None:
    """Return the texts of the parameters and of the result of ``(...) -> SHAPE``."""
    close = closing_bracket(text, 0) if text.startswith("(") else None
    arrow = None if close is None else _ARROW.match(text, close)
    if close is None or arrow is None:
        return None
    return comma_separated_texts(text, 1, close), text[arrow.end() :].strip()


def _against_header(
    context: "RecordContext[Any]",
    scope: Computation,
    head: tuple[str, Place],
    shapes: list[str],
    result: str,
) -> Iterator[Finding]:
    header, place = head
    pairs = [(f"parameter {at}", scope.parameters.get(at), one) for at, one in enumerate(shapes)]
    for what, instruction, shape in (*pairs, ("the root", scope.root, result)):
        checkpoint()  # an entry computation may have thousands of parameters
        if instruction is None or not instruction.shape:
            continue
        # The fifth shape and others have a comment in front of them: ``/*index=5*/``.
        listed = (shape.partition("*/")[2] if shape.startswith("/*") else shape).strip()
        found = None if listed == instruction.shape else shape_difference(instruction.shape, listed)
        if found is not None:
            yield context.report(
                shape_place(context.file, instruction),
                f"{what} is {found.first}{found.where}, but {header} lists "
                f"{found.second}{found.where}",
                Related(place, f"listed in {header}"),
            )


def called(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check the shapes of a `fusion` or `call` against parameters and root of its callee."""
    for scope in _scopes(context, CALLS[context.record.opcode]):
        for number, operand in enumerate(context.operands):
            yield from _against_parameter(context, scope, number, operand, number)
        yield from _against_root(context, scope, context.record.shape, "the result")


def called_count(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that a `fusion` or `call` has one operand per parameter of its callee."""
    record, resolved = context.record, context.resolved
    for scope in _scopes(context, CALLS[record.opcode]):
        parameters, name = scope.counted_parameters, scope.head.name
        if resolved is None or parameters is None or len(resolved.names) == len(parameters):
            continue
        if scope.is_sound:
            yield context.report(
                part_place(context.file, record, record.parsed.opcode),
                f"`{record.opcode}` has {count_noun(len(resolved.names), 'operand')}, but `{name}` "
                f"has {count_noun(len(parameters), 'parameter')}",
                Related(name_place(context.file, scope.head), f"`{name}` is defined here"),
            )


def loop(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that operand, result, parameters, and body root of a `while` have one shape."""
    record = context.record
    for operand in filter(None, context.operands[:1]):
        result = Side("the result is", record.shape, record, "the shape of the result")
        reason = ": a loop keeps its shape"
        yield from compare_shapes(context, 0, operand_side(operand), result, reason=reason)
    for attribute, expected, what in (
        ("condition", "pred[]", "a condition"),
        ("body", record.shape, "the result"),
    ):
        for scope in _scopes(context, attribute):
            yield from _against_parameter(context, scope, 0, record)
            yield from _against_root(context, scope, expected, what)


def branches(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that a `conditional` has one operand per branch and the shape of each branch."""
    record, resolved = context.record, context.resolved
    callees = ordered_callees(context.file.module, record)
    if resolved is None or not callees:
        return
    given = len(resolved.names) - 1
    if len(callees) != given:
        yield context.report(
            part_place(context.file, record, record.parsed.opcode),
            f"there are {len(callees)} {'branch' if len(callees) == 1 else 'branches'}, but "
            f"{count_noun(given, 'operand')} after the index",
        )
        return
    for at, callee in enumerate(callees, 1):
        if callee.computation is not None:
            scope = context.computation(callee.computation)
            yield from _against_parameter(context, scope, 0, resolved.operands[at], at)
            yield from _against_root(context, scope, record.shape, "the result")


def async_start(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check the shape of an `async-start`: (operands, result, context) of its callee.

    Starts without operands, which libtpu also prints, are skipped: updates add their operands.
    """
    record, resolved = context.record, context.resolved
    elements = element_texts(record.shape) or ()
    if resolved is None or not resolved.names or len(elements) < 2:
        return
    given = element_texts(elements[0])
    if given is not None and len(given) != len(resolved.names):
        yield context.report(
            shape_place(context.file, record),
            f"the shape has {count_noun(len(given), 'operand')}, but the instruction has "
            f"{len(resolved.names)}",
        )
        return
    for number, (operand, held) in enumerate(zip(resolved.operands, given or (), strict=False)):
        if operand is not None:
            holder = Side("the shape of the start has", held, record, "the shape of the start")
            yield from compare_shapes(context, number, operand_side(operand), holder)
    for scope in _scopes(context, "calls"):
        for number, operand in enumerate(resolved.operands):
            yield from _against_parameter(context, scope, number, operand, number)
        root = scope.root
        if root is not None and not _is_bound_later(elements[1], root.shape):
            yield from _against_root(context, scope, elements[1], "the result of the start")


def async_done(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that an `async-done` has the result shape of its start or last update."""
    for operand in filter(None, context.operands[:1]):
        elements = element_texts(operand.shape) or ()
        if operand.opcode in _ASYNCHRONOUS and len(elements) > 1:
            if _is_bound_later(elements[1], context.record.shape):
                continue
            about = f"the shape of `{operand.name}`"
            holder = Side(f"the result of `{operand.name}` is", elements[1], operand, about)
            yield from compare_shapes(
                context, None, Side("the result is", context.record.shape), holder
            )


def _is_bound_later(result: str, whole: str) -> bool:
    """Return whether a result is a shorter tuple than the whole one, as before the last update."""
    bound, elements = element_texts(result), element_texts(whole)
    return bound is not None and len(bound) < (1 if elements is None else len(elements))


def _scopes(context: RecordContext[InstructionLine], attribute: str) -> Iterator[Computation]:
    for callee in context.callees:
        if callee.attribute == attribute and callee.computation is not None:
            yield context.computation(callee.computation)


def _against_parameter(
    context: RecordContext[InstructionLine],
    scope: Computation,
    number: int,
    given: InstructionLine | None,
    at: int | None = None,
) -> Iterator[Finding]:
    """Compare a parameter of a callee with the instruction passed to it, which is operand ``at``.

    Without ``at``, the calling instruction itself is passed.
    """
    parameter = scope.parameters.get(number)
    if given is None or parameter is None or given.shape == parameter.shape:
        return
    name = f"parameter {number} of `{scope.head.name}`"
    passed = operand_side(given) if at is not None else Side(f"`{given.name}` is", given.shape)
    yield from compare_shapes(
        context, at, passed, Side(f"{name} is", parameter.shape, parameter, name)
    )


def _against_root(
    context: RecordContext[InstructionLine], scope: Computation, expected: str, what: str
) -> Iterator[Finding]:
    if scope.root is not None:
        name = f"`{scope.head.name}`"
        root = Side(f"{name} returns", scope.root.shape, scope.root, f"the root of {name}")
        yield from compare_shapes(context, None, Side(f"{what} is", expected), root)


RULES: tuple[AnyRule, ...] = (
    error("shape-mismatch", ComputationLine, signature_shapes),
    error("shape-mismatch", ComputationLine, entry_layout),
    error("parameter-number", ComputationLine, numbered_parameters),
    error("operand-count", InstructionLine, called_count, CALLS, reads=Reads.CALLEES),
    error("shape-mismatch", InstructionLine, called, CALLS, reads=Reads.CALLEES),
    error("shape-mismatch", InstructionLine, loop, {"while"}),
    error("shape-mismatch", InstructionLine, branches, {"conditional"}),
    error("shape-mismatch", InstructionLine, async_start, {"async-start"}),
    error("shape-mismatch", InstructionLine, async_done, {"async-done", *LEGACY_DONE_OPCODES}),
)
