"""The schedule of a module as its text has it, whatever the live-range file prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text.checkpoint import checkpoint

_INSTRUCTIONS_PER_CHECKPOINT = 1000  # instructions between two breaths
_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_CALLING_OPCODES = {"while", "call", "conditional"}
_ASYNC_OPCODES = {"async-start", "async-update", "async-done"}
# Opcodes of their own. Any other `-start` is short for an async-start (print option
# `syntax_sugar_async_ops`), and the computation that it wraps is not printed.
_PLAIN_START_OPCODES = {"all-gather-start", "all-reduce-start", "async-start", "collective-permute-start",
           "copy-start"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComputationSteps:
    """The steps that a computation takes: from ``start`` to in front of ``end``.

    What it calls takes steps in between. ``is_async`` says that async work runs it.
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
    """The instructions of :func:`schedule_of`."""
    found = schedule_of(module)
    return None if found is None else found.instructions


def schedule_of(module: ModuleIndex) -> Schedule | None:
    """All scheduled instructions in order: what stands at step n of the live-range file.

    None if the text does not tell: the module is not scheduled, has no computation, or leaves out
    the computations that its async instructions wrap.

    The rule is ``HloLiveRange::FlattenSchedule`` (hlo_live_range.cc): the order of the text from
    the entry on, where the computations of a call, conditional, while (condition, then body) and
    async instruction come in front of it, each once. Fusions and reducers are not entered. What an
    async instruction wraps comes in front of the first one of its chain that has all operands.
    """
    return schedule_in_steps(module)


def schedule_in_steps(module: ModuleIndex) -> Schedule | None:
    """:func:`schedule_of`, with breaths: async work of a large step takes a while to read."""
    entry = module.entry
    header = module.header
    if entry is None or header is None or not _SCHEDULED.search(header.text):
        return None
    placed: list[InstructionLine] = []
    spans = {entry: ComputationSteps(0, 0, is_async=False)}
    open_parts = [(entry, _execution_order(module, entry))]
    while open_parts:
        computation, parts = open_parts[-1]
        part = next(parts, None)
        if part is None:
            open_parts.pop()
            spans[computation] = replace(spans[computation], end=len(placed))
        elif isinstance(part, InstructionLine):
            if part.opcode not in _ASYNC_OPCODES and is_async_call(part.opcode):
                return None
            placed.append(part)
            if len(placed) % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
        elif part.computation not in spans:
            is_async = part.is_async or spans[computation].is_async
            spans[part.computation] = ComputationSteps(len(placed), len(placed), is_async)
            open_parts.append((part.computation, _execution_order(module, part.computation)))
    return Schedule(placed, spans)


def is_async_call(opcode: str) -> bool:
    """Whether an instruction starts, goes on with or ends async work of a computation."""
    return opcode in _ASYNC_OPCODES or (
        opcode.endswith("-start") and opcode not in _PLAIN_START_OPCODES
    )


@dataclass(frozen=True, slots=True)
class _EnteredComputation:
    """A computation in front of the instruction that enters it."""

    computation: ComputationLine
    is_async: bool


def _execution_order(
    module: ModuleIndex, computation: ComputationLine
) -> Iterator[InstructionLine | _EnteredComputation]:
    """The instructions of a computation, each behind the computations that it enters."""
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
    """What an async instruction wraps if all operands are there with it.

    ``unbound`` holds the instructions that miss some: what they wrap, and how many they have.
    """
    operands = instruction.operands
    if instruction.opcode == "async-start":
        wrapped, count = _callees(module, instruction), len(operands)
    elif operands and operands[0] in unbound:
        wrapped, count = unbound[operands[0]]
        count += len(operands) - 1
    else:  # bound by an instruction in front of it
        return []
    if count < sum(len(module.computation(callee).parameters) for callee in wrapped):
        unbound[instruction.name] = wrapped, count
        return []
    return wrapped
