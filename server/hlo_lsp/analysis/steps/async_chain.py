"""The steps of an asynchronous computation: start, any updates, done.

Each step takes the one before as its first operand (``HloAsyncChainVerifier``). libtpu's start may
leave operands out; an update hands them on behind its first.
"""

from collections.abc import Iterator

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import InstructionLine

_MOST = 400  # steps of a walk; real modules need three
_ENDINGS = ("-start", "-update", "-done")


def start_of(module: ModuleIndex, step: InstructionLine) -> InstructionLine | None:
    """The ``-start`` in front of an ``-update`` or ``-done``; None if it is not there."""
    for _ in range(_MOST):
        before = next(iter(module.operands(step)), None)
        if before is None or not step.opcode.endswith(_ENDINGS[1:]):
            return None
        if before.opcode.endswith("-start"):
            return before
        step = before
    return None


def steps_behind(module: ModuleIndex, start: InstructionLine) -> Iterator[InstructionLine]:
    """What continues a ``-start`` or ``-update`` and what ends it, in order."""
    waiting, seen = [start], {start}
    while waiting and len(seen) < _MOST:
        step = waiting.pop(0)
        for user in module.users(step):
            before = next(iter(module.operands(user)), None)
            if before is step and user not in seen and user.opcode.endswith(_ENDINGS[1:]):
                seen.add(user)
                yield user
                if user.opcode.endswith("-update"):
                    waiting.append(user)


def handed(
    module: ModuleIndex, caller: InstructionLine
) -> list[tuple[InstructionLine, InstructionLine | None]]:
    """The operands that a calling instruction hands on, each with the instruction that has it.

    Those of an async-start and of the updates behind it count as one list.
    """
    found = [(caller, operand) for operand in module.operands(caller)]
    if caller.opcode == "async-start":
        for step in steps_behind(module, caller):
            if step.opcode == "async-update":
                found += [(step, operand) for operand in module.operands(step)[1:]]
    return found
