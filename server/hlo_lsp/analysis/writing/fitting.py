"""What fits into a call: operands of a shape, computations that take what they would be given."""

import re
from collections.abc import Callable, Sequence

from hlo_lsp.analysis.writing.draft import Draft
from hlo_lsp.analysis.writing.slots import OperandSlot, operand_texts, parts_of
from hlo_lsp.analysis.writing.surroundings import (
    Definition,
    Surroundings,
    callee_of,
    dimensions,
    parameters,
)
from hlo_lsp.model.shape import leaf_text, without_layout
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.vocabulary.vocabulary import vocabulary

Shapes = Sequence[str | None]  # None where nothing is known
_LAST_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*$")
_TAKES_OPERANDS = {"fusion", "call", "async-start"}
_KEEPS_SHAPE = {"while", "opt-barrier", "copy", "domain"}
_TELLS = {"sort", "select"}  # gives a pred: the opcode, or the attribute
_PAIRS = {"all-reduce", "all-reduce-start", "reduce-scatter", "collective-reduce"}


def wanted_operand(draft: Draft, slot: OperandSlot) -> Callable[[Definition], bool]:
    """Whether an instruction fits the place of an operand, as far as can be told."""
    opcode = vocabulary().opcode(slot.opcode)
    if slot.opcode == "get-tuple-element":
        return lambda found: found.shape.startswith("(")
    if slot.opcode.endswith("-done"):
        start = slot.opcode.removesuffix("-done")
        return lambda found: found.opcode in (f"{start}-start", f"{start}-update")
    if slot.opcode in _TAKES_OPERANDS:
        callee = callee_of(draft.file, draft.text, "(?:calls|to_apply)")
        taken = [] if callee is None else parameters(draft.file, callee)
        if slot.number < len(taken):
            shape = without_layout(taken[slot.number].shape)
            return lambda found: without_layout(found.shape) == shape
    elif slot.opcode == "tuple" or (slot.opcode in _KEEPS_SHAPE and slot.shape):
        part = f"{{{slot.number}}}" if slot.opcode == "tuple" else None
        result = leaf_text(without_layout(slot.shape), part)
        if result is not None:
            return lambda found: without_layout(found.shape) == result
    elif opcode is not None and opcode.elementwise and slot.shape:
        wanted = dimensions(slot.shape)
        return lambda found: dimensions(found.shape) == wanted
    return lambda _: True


def computation_misfit(
    draft: Draft, attribute: str, around: Surroundings
) -> Callable[[ComputationLine], tuple[bool, bool]]:
    """Whether a computation takes something else than an instruction would give it, and whether
    it returns something else than is wanted of it, as far as can be told."""
    parts = parts_of(draft.front)
    if parts is None:
        return lambda _: (False, False)
    shapes = operand_shapes(draft, around)
    expected = given(parts.opcode, attribute, shapes)
    wanted = returned(parts.opcode, attribute, shapes, without_layout(parts.shape))

    def misfit(computation: ComputationLine) -> tuple[bool, bool]:
        taken = [without_layout(found.shape) for found in parameters(draft.file, computation)]
        takes = expected is None or (
            len(taken) == len(expected)
            and all(
                wanted is None or shape == wanted
                for shape, wanted in zip(taken, expected, strict=True)
            )
        )
        root = draft.file.module.computation(computation).root
        result = "" if root is None else without_layout(root.shape)
        return not takes, bool(wanted and result) and result != wanted

    return misfit


def operand_shapes(draft: Draft, around: Surroundings) -> Shapes:
    """The shapes, without layouts, of the operands of the instruction at the cursor."""
    parts = parts_of(draft.front)
    texts = [] if parts is None else operand_texts(draft.front, parts.opened)
    return [_shape_of(text, around) for text in texts]


def returned(opcode: str, attribute: str, shapes: Shapes, result: str) -> str | None:
    """The shape, without layouts, that a computation has to return to an opcode that calls it.

    ``result`` is the shape of the instruction. None if it is not known.
    """
    if attribute == "condition" or opcode in _TELLS or attribute in _TELLS:
        return "pred[]"
    if attribute == "body":
        return (shapes[0] if shapes else None) or result or None
    if opcode == "async-start":
        return leaf_text(result, "{1}")
    if opcode in {"fusion", "call", "conditional"}:
        return result or None
    return _scalar(result) if result else None


def given(opcode: str, attribute: str, shapes: Shapes) -> Shapes | None:
    """The shapes, without layouts, that an opcode gives to a computation it calls.

    ``shapes`` are those of its operands. None if the number of parameters is not known. By
    ``VerifyCalledComputations`` and the checks of each opcode in XLA's hlo_verifier.cc.
    """
    scalars = [None if shape is None else _scalar(shape) for shape in shapes]
    half = len(shapes) // 2
    if opcode in _TAKES_OPERANDS:
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
    if opcode in _PAIRS or attribute in {"select", "scatter"}:
        return (scalars[:1] or [None]) * 2
    return None


def _shape_of(text: str, around: Surroundings) -> str | None:
    name = _LAST_NAME.search(text)
    found = None if name is None else around.named(name[1])
    return without_layout(found.shape) if found is not None and found.shape else None


def _scalar(shape: str) -> str | None:
    return None if shape.startswith("(") else shape.partition("[")[0] + "[]"
