"""Asynchronous operations, and what runs between their start and their done."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.shape import arrays_of, try_shape
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.program.dataflow import async_start_of
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.checkpoint import checkpoint

# These run no code of their own, or only wait.
_PLUMBING = frozenset(
    {
        *("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "iota"),
        *("opt-barrier", "add-dependency", "partition-id", "replica-id", "send", "recv"),
    }
)
_UPDATES = frozenset({"dynamic-update-slice"})  # the second operand is what moves
_ASYNC_SUFFIXES = ("-start", "-update", "-done")


@dataclass(frozen=True, slots=True)
class AsyncOperation:
    """An asynchronous operation in a scheduled computation.

    Attributes:
        kind: The operation: ``copy``, ``slice``, ``all-gather``.
        start: The instruction that starts it.
        done: The instruction that waits for its result.
        bytes: Logical bytes that move: those of the result, or of an update.
        source_space: Number of the memory space that they come from.
        target_space: Number of the memory space of the result.
        work: Instructions between start and done that compute.
    """

    kind: str
    start: InstructionLine
    done: InstructionLine
    bytes: int
    source_space: int
    target_space: int
    work: int

    @property
    def is_exposed(self) -> bool:
        """True if nothing computes between start and done, so that the device waits."""
        return self.work == 0


def async_operations(module: ModuleIndex) -> list[AsyncOperation] | None:
    """Return the asynchronous operations in execution order, or None without a schedule."""
    instructions = scheduled_instructions(module)
    if instructions is None:
        return None
    places: dict[InstructionLine, int] = {}
    work = 0
    for instruction in instructions:
        checkpoint()
        places[instruction] = work
        work += _computes(instruction.opcode)
    return list(_operations(module, instructions, places))


def _operations(
    module: ModuleIndex, instructions: list[InstructionLine], places: dict[InstructionLine, int]
) -> Iterator[AsyncOperation]:
    for done in instructions:
        checkpoint()
        if not done.opcode.endswith("-done"):
            continue
        start = async_start_of(module, done)
        if start is None or start not in places:
            continue
        kind = _kind(module, start)
        operands = module.operands(start)
        is_update = kind in _UPDATES
        moved = operands[is_update] if len(operands) > is_update else None
        source = done.shape if moved is None else moved.shape
        yield AsyncOperation(
            kind,
            start,
            done,
            _bytes(source if is_update else done.shape),
            _space(source),
            _space(done.shape),
            places[done] - places[start],
        )


def _computes(opcode: str) -> bool:
    return opcode not in _PLUMBING and not opcode.endswith(_ASYNC_SUFFIXES)


def _kind(module: ModuleIndex, start: InstructionLine) -> str:
    """Return the operation that a ``-start`` starts; a computation counts as its root."""
    for computation in module.called_by(start) if start.opcode == "async-start" else ():
        root = module.computation(computation).root
        if root is not None:
            return root.opcode
    return start.opcode.removesuffix("-start")


def _bytes(shape: str) -> int:
    return sum(logical_bytes(array) or 0 for array in arrays_of(try_shape(shape)))


def _space(shape: str) -> int:
    """Return the memory space of the first array of a shape."""
    return next((array.memory_space or 0 for array in arrays_of(try_shape(shape))), 0)
