"""The schedule of a module according to its text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text.checkpoint import checkpoint

_INSTRUCTIONS_PER_CHECKPOINT = 1000
_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_CALLING_OPCODES = {"while", "call", "conditional"}
_ASYNC_OPCODES = {"async-start", "async-update", "async-done"}
# Any other `-start` abbreviates an async-start (print option `syntax_sugar_async_ops`), whose
# computation is not printed.
_PLAIN_START_OPCODES = {
    "all-gather-start", "all-reduce-start", "async-start", "collective-permute-start", "copy-start",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComputationSteps:
    """Steps of a computation, from ``start`` to the exclusive ``end``.

    The range includes the steps of its callees. ``is_async`` is True if an async operation runs it.
    """

    start: int
    end: int
    is_async: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """All scheduled instructions in order, and the steps of each computation."""

    instructions: list[InstructionLine]
    spans: dict[ComputationLine, ComputationSteps]


def scheduled_instructions(module: ModuleIndex) -> list[InstructionLine] | None:
    """Return the instructions of :func:`schedule_of`."""
    found = schedule_of(module)
    return None if found is None else found.instructions


def schedule_of(module: ModuleIndex) -> Schedule | None:
    """Return all scheduled instructions: item n runs at step n of the live-range file.

    Returns None if the schedule is unknown: the module is not scheduled, has no computation, or
    omits the computations of its async instructions.

    The rule is ``HloLiveRange::FlattenSchedule`` (hlo_live_range.cc): text order starting at the
    entry. The computations of a call, conditional, while (condition, then body), and async
    instruction precede it, each once. Fusions and reducers are not entered. The computation of an
    async operation precedes the first instruction of its chain that has all operands.
    """
    entry = module.entry
    header = module.header
    if entry is None or header is None or not _SCHEDULED.search(header.text):
        return None
    scheduled: list[InstructionLine] = []
    spans = {entry: ComputationSteps(0, 0, is_async=False)}
    stack = [(entry, _execution_order(module, entry))]
    while stack:
        computation, parts = stack[-1]
        part = next(parts, None)
        if part is None:
            stack.pop()
            spans[computation] = replace(spans[computation], end=len(scheduled))
        elif isinstance(part, InstructionLine):
            if part.opcode not in _ASYNC_OPCODES and is_async_call(part.opcode):
                return None
            scheduled.append(part)
            if len(scheduled) % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
        elif part.computation not in spans:
            is_async = part.is_async or spans[computation].is_async
            spans[part.computation] = ComputationSteps(len(scheduled), len(scheduled), is_async)
            stack.append((part.computation, _execution_order(module, part.computation)))
    return Schedule(scheduled, spans)


def is_async_call(opcode: str) -> bool:
    """Return whether an instruction starts, continues, or ends an async computation."""
    return opcode in _ASYNC_OPCODES or (
        opcode.endswith("-start") and opcode not in _PLAIN_START_OPCODES
    )


@dataclass(frozen=True, slots=True)
class _EnteredComputation:
    """A computation that runs before the instruction that enters it."""

    computation: ComputationLine
    is_async: bool


def _execution_order(
    module: ModuleIndex, computation: ComputationLine
) -> Iterator[InstructionLine | _EnteredComputation]:
    """Yield the instructions of a computation, each after the computations that it enters."""
    unbound: dict[str, tuple[list[ComputationLine], int]] = {}
    for instruction in module.members(computation):
        if instruction.opcode in _CALLING_OPCODES:
            for callee in _callees(module, instruction):
                yield _EnteredComputation(callee, is_async=False)
        elif instruction.opcode in _ASYNC_OPCODES:
            for callee in _bound_computations(module, instruction, unbound):
                yield _EnteredComputation(callee, is_async=True)
        yield instruction


def _callees(module: ModuleIndex, instruction: InstructionLine) -> list[ComputationLine]:
    named = [(name, module.named(span.text)) for name, span in instruction.parsed.calls]
    inline = [(body.attribute, body) for body in instruction.bodies]
    found = [(name, callee) for name, callee in (*named, *inline) if callee is not None]
    if instruction.opcode == "while":
        found.sort(key=lambda call: call[0] != "condition")
    return [callee for _, callee in found]


def _bound_computations(
    module: ModuleIndex,
    instruction: InstructionLine,
    unbound: dict[str, tuple[list[ComputationLine], int]],
) -> list[ComputationLine]:
    """Return the computations of an async instruction if the chain has all operands with it.

    ``unbound`` contains instructions with missing operands: their computations, and how many
    operands they have.
    """
    operands = instruction.operands
    if instruction.opcode == "async-start":
        computations, count = _callees(module, instruction), len(operands)
    elif operands and operands[0] in unbound:
        computations, count = unbound[operands[0]]
        count += len(operands) - 1
    else:  # An earlier instruction of the chain has all operands.
        return []
    if count < sum(len(module.computation(callee).parameters) for callee in computations):
        unbound[instruction.name] = computations, count
        return []
    return computations
