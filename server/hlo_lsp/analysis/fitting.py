"""What fits into a call: operands of a shape, computations that take what they would be given."""

import re
from collections.abc import Callable, Sequence

from hlo_lsp.analysis.draft import Draft
from hlo_lsp.analysis.slots import OperandSlot, operand_texts, parts_of
from hlo_lsp.analysis.surroundings import (
    Definition,
    Surroundings,
    callee_of,
    dimensions,
    parameters,
    without_layout,
)
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.vocabulary.vocabulary import vocabulary

Shapes = Sequence[str | None]  # None where nothing is known
_LAST_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*$")
_TAKES_OPERANDS = {"fusion", "call", "async-start"}
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
    elif opcode is not None and opcode.elementwise and slot.shape:
        wanted = dimensions(slot.shape)
        return lambda found: dimensions(found.shape) == wanted
    return lambda _: True


def computation_fits(
    draft: Draft, attribute: str, around: Surroundings
) -> Callable[[ComputationLine], bool]:
    """Whether a computation takes what an instruction would give it, as far as can be told."""
    parts = parts_of(draft.front)
    if parts is None:
        return lambda _: True
    shapes = [_shape_of(text, around) for text in operand_texts(draft.front, parts.opened)]
    expected = given(parts.opcode, attribute, shapes)
    if expected is None:
        return lambda _: True

    def fits(computation: ComputationLine) -> bool:
        taken = [without_layout(found.shape) for found in parameters(draft.file, computation)]
        return len(taken) == len(expected) and all(
            wanted is None or shape == wanted for shape, wanted in zip(taken, expected, strict=True)
        )

    return fits


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
