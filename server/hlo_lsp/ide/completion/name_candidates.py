"""Candidates for operands and computations, and the documentation of candidates."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from hlo_lsp.hlo.specs import AttributeSpec, OpcodeSpec
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion.candidates import (
    MAX_CANDIDATES,
    Candidate,
    CandidateKind,
    label_matcher,
)
from hlo_lsp.ide.completion.draft import Draft
from hlo_lsp.ide.completion.slots import (
    CompletionScope,
    OperandSlot,
    PartialInstruction,
    computation_parameters,
    dimensions_text,
    instruction_parts,
    operand_texts,
    referenced_computation,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import leaf_text, without_layout
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine

OptionalShapes = Sequence[str | None]  # None: the shape is unknown.
_LAST_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*$")
_OPCODES_PASSING_OPERANDS = {"fusion", "call", "async-start"}
_SHAPE_PRESERVING_OPCODES = {"while", "opt-barrier", "copy", "domain"}
_PREDICATE_CALLERS = {"sort", "select"}  # The computation returns pred[]: opcode or attribute.
_BINARY_REDUCTION_OPCODES = {
    "all-reduce",
    "all-reduce-start",
    "reduce-scatter",
    "collective-reduce",
}


def operand_filter(draft: Draft, slot: OperandSlot) -> Callable[[PartialInstruction], bool]:
    """Return a predicate for instructions that fit as the operand at the cursor."""
    opcode = vocabulary().opcode(slot.opcode)
    if slot.opcode == "get-tuple-element":
        return lambda found: found.shape.startswith("(")
    if slot.opcode.endswith("-done"):
        start = slot.opcode.removesuffix("-done")
        return lambda found: found.opcode in (f"{start}-start", f"{start}-update")
    if slot.opcode in _OPCODES_PASSING_OPERANDS:
        callee = referenced_computation(draft.file, draft.text, "(?:calls|to_apply)")
        parameters = [] if callee is None else computation_parameters(draft.file, callee)
        if slot.number < len(parameters):
            shape = without_layout(parameters[slot.number].shape)
            return lambda found: without_layout(found.shape) == shape
    elif slot.opcode == "tuple" or (slot.opcode in _SHAPE_PRESERVING_OPCODES and slot.shape):
        part = f"{{{slot.number}}}" if slot.opcode == "tuple" else None
        result = leaf_text(without_layout(slot.shape), part)
        if result is not None:
            return lambda found: without_layout(found.shape) == result
    elif opcode is not None and opcode.elementwise and slot.shape:
        wanted = dimensions_text(slot.shape)
        return lambda found: dimensions_text(found.shape) == wanted
    return lambda _: True


def computation_mismatch(
    draft: Draft, attribute: str, scope: CompletionScope
) -> Callable[[ComputationLine], tuple[bool, bool]]:
    """Return a function that compares a computation with the call at the cursor.

    Its two results are True if the parameters, or the result, differ from what the call requires.
    """
    parts = instruction_parts(draft.text_before)
    if parts is None:
        return lambda _: (False, False)
    shapes = operand_shapes(draft, scope)
    expected = expected_parameter_shapes(parts.opcode, attribute, shapes)
    wanted = expected_result_shape(parts.opcode, attribute, shapes, without_layout(parts.shape))

    def mismatch(computation: ComputationLine) -> tuple[bool, bool]:
        parameters = [
            without_layout(found.shape) for found in computation_parameters(draft.file, computation)
        ]
        takes = expected is None or (
            len(parameters) == len(expected)
            and all(
                wanted is None or shape == wanted
                for shape, wanted in zip(parameters, expected, strict=True)
            )
        )
        root = draft.file.module.computation(computation).root
        result = "" if root is None else without_layout(root.shape)
        return not takes, bool(wanted and result) and result != wanted

    return mismatch


def operand_shapes(draft: Draft, scope: CompletionScope) -> OptionalShapes:
    """Return the shapes, without layouts, of the operands of the instruction at the cursor."""
    parts = instruction_parts(draft.text_before)
    texts = [] if parts is None else operand_texts(draft.text_before, parts.opened)
    return [_operand_shape(text, scope) for text in texts]


def expected_result_shape(
    opcode: str, attribute: str, shapes: OptionalShapes, result: str
) -> str | None:
    """Return the shape, without layouts, that a called computation has to return.

    Args:
        opcode: The opcode of the calling instruction.
        attribute: The attribute that names the computation.
        shapes: The operand shapes of the calling instruction.
        result: The result shape of the calling instruction.

    Returns:
        The shape, or None if it is unknown.
    """
    if attribute == "condition" or opcode in _PREDICATE_CALLERS or attribute in _PREDICATE_CALLERS:
        return "pred[]"
    if attribute == "body":
        return (shapes[0] if shapes else None) or result or None
    if opcode == "async-start":
        return leaf_text(result, "{1}")
    if opcode in {"fusion", "call", "conditional"}:
        return result or None
    return _scalar_shape(result) if result else None


def expected_parameter_shapes(
    opcode: str, attribute: str, shapes: OptionalShapes
) -> OptionalShapes | None:
    """Return the parameter shapes, without layouts, that a call requires of a computation.

    The source is ``VerifyCalledComputations`` and the checks of each opcode in ``hlo_verifier.cc``.

    Args:
        opcode: The opcode of the calling instruction.
        attribute: The attribute that names the computation.
        shapes: The operand shapes of the calling instruction.

    Returns:
        One shape for each parameter (None where it is unknown), or None if their number is unknown.
    """
    scalars = [None if shape is None else _scalar_shape(shape) for shape in shapes]
    half = len(shapes) // 2
    if opcode in _OPCODES_PASSING_OPERANDS:
        return list(shapes)
    if opcode == "while":
        return [shapes[0] if shapes else None]
    if opcode == "conditional":
        return [None]
    if opcode in {"reduce", "reduce-window"}:
        return scalars[half:] + scalars[:half]
    if opcode == "map":
        return scalars
    if opcode == "sort":
        return [scalar for scalar in scalars for _ in range(2)]
    if opcode == "scatter":
        return scalars[:half] + scalars[half + 1 :]
    if opcode in _BINARY_REDUCTION_OPCODES or attribute in {"select", "scatter"}:
        return (scalars[:1] or [None]) * 2
    return None


def _operand_shape(text: str, scope: CompletionScope) -> str | None:
    name = _LAST_NAME.search(text)
    found = None if name is None else scope.named(name[1])
    return without_layout(found.shape) if found is not None and found.shape else None


def _scalar_shape(shape: str) -> str | None:
    return None if shape.startswith("(") else shape.partition("[")[0] + "[]"


_MAX_COMPARED_COMPUTATIONS = 2 * MAX_CANDIDATES  # Comparing the parameters of one takes 20 us.


def operand_candidates(
    draft: Draft, slot: OperandSlot, scope: CompletionScope, typed: str
) -> Iterator[Candidate]:
    """Yield the instructions above in this computation: matching ones first, then the nearest."""
    wanted = operand_filter(draft, slot)
    sign = name_prefix(draft, typed)
    for fits in (True, False):  # Two passes, because the consumer often stops during the first.
        for found in scope.above:
            if wanted(found) is fits:
                yield instruction_candidate(found, sign)


def instruction_candidates(draft: Draft, scope: CompletionScope, typed: str) -> Iterator[Candidate]:
    """Yield the instructions above in this computation, nearest first."""
    sign = name_prefix(draft, typed)
    return (instruction_candidate(found, sign) for found in scope.above)


def instruction_candidate(found: PartialInstruction, sign: str) -> Candidate:
    """Return a candidate for an instruction name, with the shape as detail."""
    name = sign + found.name
    about = (f"line {found.line}", found.name)
    return Candidate(name, CandidateKind.INSTRUCTION, name, None, found.shape, about)


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
    mismatch = computation_mismatch(draft, attribute, scope)
    near = sorted(islice(above, _MAX_COMPARED_COMPUTATIONS), key=mismatch)
    sign = name_prefix(draft, typed)
    for found in (*near, *above[_MAX_COMPARED_COMPUTATIONS:]):
        name = sign + found.name
        yield Candidate(
            name, CandidateKind.COMPUTATION, name, None, "", (f"line {found.line}", found.name)
        )


def computation_signature(file: DumpFile, computation: ComputationLine) -> str:
    """Return the signature that the instructions imply: ``(p.1: f32[], p.2: f32[]) -> f32[]``."""
    root = file.module.computation(computation).root
    parameters = (
        f"{found.name}: {found.shape}" for found in computation_parameters(file, computation)
    )
    return f"({', '.join(parameters)}) -> {root.shape if root is not None else '?'}"


def name_prefix(draft: Draft, typed: str) -> str:
    """Return ``%`` or nothing, whichever the surrounding text puts before names."""
    if typed.startswith("%"):
        return "%"
    record = draft.file.records.at(draft.line)
    assert record is not None  # The draft comes from a record on this line.
    lines = (draft.body or "", *_preceding_lines(draft.file, record.line))
    return "" if any(" = " in line and "%" not in line for line in lines) else "%"


def _preceding_lines(file: DumpFile, line: int) -> Iterator[str]:
    """Yield the nearest three lines above that are not blank."""
    above = (file.lines[at] for at in range(line - 1, max(line - 20, -1), -1))
    return islice((text for text in above if text.strip()), 3)


_MAX_INSTRUCTION_LENGTH = 600


def candidate_documentation(file: DumpFile, about: tuple[str, str]) -> str:
    """Return the Markdown documentation of a candidate; empty if there is none."""
    (kind, _, owner), name = about[0].partition(" "), about[1]
    words = vocabulary()
    if kind == "line":
        return _definition_documentation(file, int(owner), name)
    if kind == "opcode":
        opcode = words.opcode(name)
        return "" if opcode is None else _opcode_documentation(opcode)
    if kind in {"attribute", "header"}:
        found = words.attribute(name, owner) if kind == "attribute" else words.header.get(name)
        return "" if found is None else attribute_documentation(found)
    if kind == "key":
        holder = words.attribute(owner) or words.header.get(owner)
        return "" if holder is None else holder.keys.get(name, "")
    if kind == "type":
        return words.element_types[name].text if name in words.element_types else ""
    if kind == "table":
        return words.tables[name].text if name in words.tables else ""
    return words.keywords.get(name, "") if kind == "keyword" else ""


def attribute_documentation(attribute: AttributeSpec) -> str:
    """Return the description of an attribute with an example."""
    return f"{attribute.text}\n\nExample: `{attribute.name}={attribute.example}`"


def _opcode_documentation(opcode: OpcodeSpec) -> str:
    required = [" or ".join(f"`{name}`" for name in group) for group in opcode.required]
    return opcode.text + (f"\n\nRequired: {', '.join(required)}." if required else "")


def _definition_documentation(file: DumpFile, line: int, name: str) -> str:
    """Return the text of an instruction or computation; empty if it has moved since."""
    record = file.records.at(line) if line < len(file.lines) else None
    if isinstance(record, ComputationLine) and record.name == name:
        return f"`{name} {computation_signature(file, record)}`"
    if isinstance(record, InstructionLine) and record.name == name:
        text = " ".join(record.text.split())
        if len(text) > _MAX_INSTRUCTION_LENGTH:
            text = f"{text[:_MAX_INSTRUCTION_LENGTH]} ..."
        return f"`{text}`"

    return ""
