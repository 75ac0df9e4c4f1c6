"""Candidates for operands and computations."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion.candidates import (
    MAX_CANDIDATES,
    Candidate,
    CandidateKind,
    label_matcher,
    plain_candidate,
)
from hlo_lsp.ide.completion.draft import (
    CompletionScope,
    Draft,
    PartialInstruction,
    computation_parameters,
    operand_texts,
    referenced_computation,
)
from hlo_lsp.ide.completion.slots import OperandSlot
from hlo_lsp.model.shape import subshape_text, without_layout
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation

OptionalShapes = Sequence[str | None]  # None: the shape is unknown.
OPCODES_PASSING_OPERANDS = frozenset({"fusion", "call", "async-start"})
_SHAPE_PRESERVING_OPCODES = {"while", "opt-barrier", "copy", "domain"}
_PREDICATE_CALLERS = {"sort", "select"}  # The computation returns pred[]: opcode or attribute.
_BINARY_REDUCTION_OPCODES = {
    *("all-reduce", "all-reduce-start", "reduce-scatter", "collective-reduce"),
}
_MAX_COMPARED_COMPUTATIONS = 2 * MAX_CANDIDATES  # Comparing the parameters of one takes 20 us.


def operand_candidates(
    draft: Draft, slot: OperandSlot, scope: CompletionScope, typed: str
) -> Iterator[Candidate]:
    """Yield the instructions above in this computation: matching ones first, then the nearest."""
    fits = _operand_filter(draft, slot)
    candidates = list(instruction_candidates(draft, scope, typed))
    for wanted in (True, False):  # Two passes, because the consumer often stops during the first.
        for found, candidate in zip(scope.above, candidates, strict=True):
            if fits(found) is wanted:
                yield candidate


def instruction_candidates(draft: Draft, scope: CompletionScope, typed: str) -> Iterator[Candidate]:
    """Yield the instructions above in this computation, nearest first, with shapes as details."""
    sign = _name_prefix(draft, typed)
    for found in scope.above:
        about = (f"line {found.line}", found.name)
        yield plain_candidate(sign + found.name, CandidateKind.INSTRUCTION, found.shape, about)


def computation_candidates(
    draft: Draft, attribute: str, scope: CompletionScope, typed: str
) -> Iterator[Candidate]:
    """Yield the computations above this one: matching ones first, then the nearest."""
    line = scope.head.line if scope.head is not None else draft.line
    above = [
        found
        for found in reversed(draft.file.module.all_computations())
        if found.line < line and not found.is_entry and not isinstance(found, InlineComputation)
    ]
    if len(above) > _MAX_COMPARED_COMPUTATIONS:
        match = label_matcher(typed)
        above = [found for found in above if match(found.name) is not None]
    mismatch = _computation_mismatch(draft, attribute, scope)
    near = sorted(above[:_MAX_COMPARED_COMPUTATIONS], key=mismatch)
    sign = _name_prefix(draft, typed)
    for found in (*near, *above[_MAX_COMPARED_COMPUTATIONS:]):
        about = (f"line {found.line}", found.name)
        yield plain_candidate(sign + found.name, CandidateKind.COMPUTATION, "", about)


def operand_shapes(draft: Draft, scope: CompletionScope) -> OptionalShapes:
    """Return the shapes, without layouts, of the operands of the instruction at the cursor."""
    texts = [] if draft.parts is None else operand_texts(draft.text_before, draft.parts.opened)
    operands = [scope.operand(text) for text in texts]
    return [without_layout(found.shape) if found and found.shape else None for found in operands]


def _operand_filter(draft: Draft, slot: OperandSlot) -> Callable[[PartialInstruction], bool]:
    opcode = vocabulary().opcode(slot.opcode)
    shape = without_layout(slot.shape)
    if slot.opcode == "get-tuple-element":
        return lambda found: found.shape.startswith("(")
    if slot.opcode.endswith("-done"):
        start = slot.opcode.removesuffix("-done")
        return lambda found: found.opcode in (f"{start}-start", f"{start}-update")
    result: str | None = None
    if slot.opcode in OPCODES_PASSING_OPERANDS:
        callee = referenced_computation(draft, "(?:calls|to_apply)")
        parameters = [] if callee is None else computation_parameters(draft.file, callee)
        if slot.number < len(parameters):
            result = without_layout(parameters[slot.number].shape)
    elif slot.opcode == "tuple":
        result = subshape_text(shape, f"{{{slot.number}}}")
    elif slot.opcode in _SHAPE_PRESERVING_OPCODES and slot.shape:
        result = shape
    elif opcode is not None and opcode.elementwise and slot.shape:
        return lambda found: _dimensions(without_layout(found.shape)) == _dimensions(shape)
    return lambda found: result is None or without_layout(found.shape) == result


def _dimensions(shape: str) -> str:
    """Return the dimensions of an array shape, ``[8,128]``, or the whole text of a tuple shape."""
    return shape if shape.startswith("(") else shape[shape.find("[") :]


def _computation_mismatch(
    draft: Draft, attribute: str, scope: CompletionScope
) -> Callable[[ComputationLine], tuple[bool, bool]]:
    """Return a function that compares a computation with the call at the cursor.

    Its two results are True if the parameters, or the result, differ from what the call requires.
    """
    parts = draft.parts
    if parts is None:
        return lambda _: (False, False)
    shapes = operand_shapes(draft, scope)
    expected = _expected_parameter_shapes(parts.opcode, attribute, shapes)
    wanted = _expected_result_shape(parts.opcode, attribute, shapes, without_layout(parts.shape))

    def mismatch(computation: ComputationLine) -> tuple[bool, bool]:
        parameters = computation_parameters(draft.file, computation)
        takes = expected is None or (
            len(parameters) == len(expected)
            and all(
                shape is None or without_layout(parameter.shape) == shape
                for parameter, shape in zip(parameters, expected, strict=True)
            )
        )
        root = draft.file.module.computation(computation).root
        result = "" if root is None else without_layout(root.shape)
        return not takes, bool(wanted and result) and result != wanted

    return mismatch


def _expected_result_shape(
    opcode: str, attribute: str, shapes: OptionalShapes, result: str
) -> str | None:
    """Return the shape, without layouts, that a called computation has to return; None if unknown.

    ``shapes`` and ``result`` are the operand shapes and the result shape of the call.
    """
    if attribute == "condition" or opcode in _PREDICATE_CALLERS or attribute in _PREDICATE_CALLERS:
        return "pred[]"
    if attribute == "body":
        return (shapes[0] if shapes else None) or result or None
    if opcode == "async-start":
        return subshape_text(result, "{1}")
    if opcode in {"fusion", "call", "conditional"}:
        return result or None
    return _scalar_shape(result) if result else None


def _expected_parameter_shapes(
    opcode: str, attribute: str, shapes: OptionalShapes
) -> OptionalShapes | None:
    """Return the parameter shapes, without layouts, that a call requires of a computation.

    A shape is None where it is unknown; the result is None if their number is unknown. The source
    is ``VerifyCalledComputations`` and the checks of each opcode in ``hlo_verifier.cc``.
    """
    scalars = [None if shape is None else _scalar_shape(shape) for shape in shapes]
    half = len(shapes) // 2
    if opcode in OPCODES_PASSING_OPERANDS:
        return list(shapes)
    match opcode:
        case "while":
            return [shapes[0] if shapes else None]
        case "conditional":
            return [None]
        case "reduce" | "reduce-window":
            return scalars[half:] + scalars[:half]
        case "map":
            return scalars
        case "sort":
            return [scalar for scalar in scalars for _ in range(2)]
        case "scatter":
            return scalars[:half] + scalars[half + 1 :]
    if opcode in _BINARY_REDUCTION_OPCODES or attribute in {"select", "scatter"}:
        return (scalars[:1] or [None]) * 2
    return None


def _scalar_shape(shape: str) -> str | None:
    return None if shape.startswith("(") else shape.partition("[")[0] + "[]"


def _name_prefix(draft: Draft, typed: str) -> str:
    """Return ``%`` or nothing, whichever the surrounding text puts before names."""
    if typed.startswith("%"):
        return "%"
    record = draft.file.records.at(draft.line)
    assert record is not None  # The draft comes from a record on this line.
    above = (draft.file.lines[at] for at in range(record.line - 1, max(record.line - 20, -1), -1))
    lines = (*draft.siblings, *islice(filter(str.strip, above), 3))
    return "" if any(" = " in line and "%" not in line for line in lines) else "%"
