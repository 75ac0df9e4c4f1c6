"""The schedule of a module as its text has it, whatever the live-range file prints."""

import re
from collections.abc import Iterator

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_ENTERED = {"while", "call", "conditional"}
_ASYNC = {"async-start", "async-update", "async-done"}
# Opcodes of their own. Any other `-start` is short for an async-start (print option
# `syntax_sugar_async_ops`), and the computation that it wraps is not printed.
_STARTS = {"all-gather-start", "all-reduce-start", "async-start", "collective-permute-start",
           "copy-start"}  # fmt: skip


def schedule_in_text(module: ModuleIndex) -> list[InstructionLine] | None:
    """All scheduled instructions in order: what stands at step n of the live-range file.

    None if the text does not tell: the module is not scheduled, has no computation, or leaves out
    the computations that its async instructions wrap.

    The rule is ``HloLiveRange::FlattenSchedule`` (hlo_live_range.cc): the order of the text from
    the entry on, where the computations of a call, conditional, while (condition, then body) and
    async instruction come in front of it, each once. Fusions and reducers are not entered. What an
    async instruction wraps comes in front of the first one of its chain that has all operands.
    """
    entry = module.entry
    header = module.header
    if entry is None or header is None or not _SCHEDULED.search(header.text):
        return None
    placed: list[InstructionLine] = []
    entered = {entry}
    open_parts = [_parts(module, entry)]
    while open_parts:
        part = next(open_parts[-1], None)
        if part is None:
            open_parts.pop()
        elif isinstance(part, InstructionLine):
            if part.opcode.endswith("-start") and part.opcode not in _STARTS:
                return None
            placed.append(part)
        elif part not in entered:
            entered.add(part)
            open_parts.append(_parts(module, part))
    return placed


def _parts(
    module: ModuleIndex, computation: ComputationLine
) -> Iterator[InstructionLine | ComputationLine]:
    """The instructions of a computation, each behind the computations that it enters."""
    unbound: dict[str, tuple[list[ComputationLine], int]] = {}
    for instruction in module.members(computation):
        if instruction.opcode in _ENTERED:
            yield from _callees(module, instruction)
        elif instruction.opcode in _ASYNC:
            yield from _bound(module, instruction, unbound)
        yield instruction


def _callees(module: ModuleIndex, instruction: InstructionLine) -> list[ComputationLine]:
    named = [(name, module.named(span.text)) for name, span in instruction.parsed.calls]
    inline = [(body.attribute, body) for body in instruction.bodies]
    found = [(name, callee) for name, callee in (*named, *inline) if callee is not None]
    if instruction.opcode == "while":
        found.sort(key=lambda call: call[0] != "condition")
    return [callee for _, callee in found]


def _bound(
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
