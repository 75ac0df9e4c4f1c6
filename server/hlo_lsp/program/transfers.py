"""Asynchronous operations, copies to other layouts and memory spaces, and transfers to the host."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import CONTROL_FLOW_OPCODES, ResultKind, SendRule, opcodes_where
from hlo_lsp.model.backend import HOST_MEMORY_SPACE
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.padded_sizes import total_array_bytes
from hlo_lsp.model.shape import (
    Shape,
    TupleShape,
    arrays_of,
    try_shape,
    without_layout,
    without_memory_space,
)
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.syntax.module_records import InstructionLine

_RELAYOUT_OPCODES = {"copy", "transpose"}
_CHANNEL_OPCODES = {"send", "recv", "infeed", "outfeed"}
_MOVING = frozenset({ResultKind.COPY, ResultKind.REARRANGED, ResultKind.ROOT})
_FORWARDING_OPCODES = opcodes_where(lambda one: one.returns not in {None, *_MOVING})
# These opcodes can refer to host memory, but move no data.
_OPCODES_WITHOUT_TRANSFER = _FORWARDING_OPCODES | CONTROL_FLOW_OPCODES


@dataclass(frozen=True, slots=True)
class Relayout:
    """Copies with equal shapes.

    Attributes:
        what: The properties that they change.
        bytes: Logical bytes of one copy.
    """

    what: str
    source: str
    bytes: int
    instructions: tuple[InstructionLine, ...]

    @property
    def total(self) -> int:
        """Logical bytes of all copies."""
        return self.bytes * len(self.instructions)


@dataclass(frozen=True, slots=True)
class Transfer:
    """An instruction that moves logical bytes between host and device."""

    instruction: InstructionLine
    to_host: bool
    bytes: int


def relayouts(module: ModuleIndex) -> list[Relayout]:
    """Return scheduled copies and transposes to another layout or space, largest totals first.

    Copies inside fusions are excluded because they cause no memory traffic of their own.
    """
    groups: dict[tuple[str, str, str], list[InstructionLine]] = {}
    for instruction in scheduled_instructions(module) or ():
        checkpoint()
        if instruction.opcode not in _RELAYOUT_OPCODES:
            continue
        source = _operand_shapes(module, instruction)
        if len(source) == 1 and source[0] != instruction.shape:
            key = instruction.opcode, source[0], instruction.shape
            groups.setdefault(key, []).append(instruction)
    found = []
    for (opcode, source_text, shape), instructions in groups.items():
        what = _changed_property(opcode, source_text, shape)
        if what is not None:
            moved = total_array_bytes(try_shape(shape))
            found.append(Relayout(what, source_text, moved, tuple(instructions)))
    return sorted(found, key=lambda group: (-group.total, group.instructions[0].line))


def _changed_property(opcode: str, source: str, shape: str) -> str | None:
    if opcode != "transpose" and without_layout(source) != without_layout(shape):
        return None
    if opcode != "transpose" and without_memory_space(source) == without_memory_space(shape):
        return "the memory space"
    what = "the order of dimensions" if opcode == "transpose" else "the layout"
    return what if _space(source) == _space(shape) else f"{what} and the memory space"


def host_transfers(module: ModuleIndex) -> list[Transfer]:
    """Return instructions that move data to or from the host, in schedule order.

    ``send`` and ``recv`` count with ``is_host_transfer``. Other instructions count if they read
    from host memory (``S(5)``) and write to device memory, or the reverse. The computation of an
    ``async-start`` repeats the transfer and is excluded.
    """
    found = []
    for instruction in scheduled_instructions(module) or ():
        checkpoint()
        transfer = _transfer(module, instruction)
        if transfer is not None:
            found.append(transfer)
    async_computations = {
        computation
        for transfer in found
        if transfer.instruction.opcode == "async-start"
        for computation in module.called_by(transfer.instruction)
    }
    return [
        one for one in found if module.computation_of(one.instruction) not in async_computations
    ]


def _transfer(module: ModuleIndex, instruction: InstructionLine) -> Transfer | None:
    opcode = instruction.opcode
    if opcode in _CHANNEL_OPCODES:
        if opcode in {"send", "recv"} and "is_host_transfer=true" not in instruction.text:
            return None
        if opcode == "outfeed":
            moved = sum(
                total_array_bytes(try_shape(shape))
                for shape in _operand_shapes(module, instruction)
            )
        else:
            moved = total_array_bytes(_first_element(try_shape(instruction.shape)))
        return Transfer(instruction, opcode in {"send", "outfeed"}, moved)
    if opcode in _OPCODES_WITHOUT_TRANSFER or opcode.endswith(("-done", "-update")):
        return None
    result = try_shape(instruction.shape)
    if opcode == "copy-start":
        result = _first_element(result)
    elif opcode == "async-start" and isinstance(result, TupleShape) and len(result.elements) > 1:
        result = result.elements[1]
    shapes = [try_shape(shape) for shape in _operand_shapes(module, instruction)]
    inputs = [array for shape in shapes for array in arrays_of(shape)]
    outputs = list(arrays_of(result))
    if any(array.memory_space == HOST_MEMORY_SPACE for array in outputs):
        moved = max(
            (total_array_bytes(one) for one in inputs if one.memory_space != HOST_MEMORY_SPACE),
            default=0,
        )
        return Transfer(instruction, True, moved) if moved else None
    if any(array.memory_space == HOST_MEMORY_SPACE for array in inputs):
        moved = sum(map(total_array_bytes, outputs))
        return Transfer(instruction, False, moved) if moved else None
    return None


def _operand_shapes(module: ModuleIndex, instruction: InstructionLine) -> list[str]:
    found = (module.operand(instruction, name) for name in instruction.operands)
    return [operand.shape for operand in found if operand is not None]


def _first_element(shape: Shape | None) -> Shape | None:
    return shape.elements[0] if isinstance(shape, TupleShape) and shape.elements else shape


# These run no code of their own, or only wait.
PLUMBING_OPCODES = _FORWARDING_OPCODES | {
    *("after-all", "constant", "iota", "partition-id", "recv", "replica-id", "send"),
}
_UPDATES = frozenset({"dynamic-update-slice"})  # the second operand is what moves
_FUSED_TARGET = re.compile(r'custom_call_target="AsyncCollective(Start|Done)"')
ASYNC_ENDINGS = ("-start", "-update", "-done")  # of the parts of an asynchronous operation
COLLECTIVE_OPCODES = opcodes_where(lambda one: one.sends is not SendRule.NONE)


@dataclass(frozen=True, slots=True)
class AsyncOperation:
    """An asynchronous operation in a scheduled computation.

    Attributes:
        kind: The operation: ``copy``, ``slice``, ``all-gather``.
        bytes: Logical bytes that move: those of the result, or of an update.
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
    def is_fused(self) -> bool:
        """True if the operation starts and ends in fusions."""
        return self.start.opcode == "fusion"

    @property
    def is_exposed(self) -> bool:
        """True if nothing computes between start and done, so that the device waits."""
        return self.work == 0


def async_operations(module: ModuleIndex) -> list[AsyncOperation] | None:
    """Return the asynchronous operations in execution order, or None without a schedule.

    XLA for TPU starts some collectives in one fusion and ends them in another one. The roots of
    these fusions are the custom calls ``AsyncCollectiveStart`` and ``AsyncCollectiveDone``.
    """
    instructions = scheduled_instructions(module)
    if instructions is None:
        return None
    fused = {
        one: found for one in instructions if (found := fused_collective(module, one)) is not None
    }
    places: dict[InstructionLine, int] = {}
    work = 0
    for instruction in instructions:
        checkpoint()
        places[instruction] = work
        is_step = instruction.opcode.endswith(ASYNC_ENDINGS) or instruction in fused
        work += not is_step and instruction.opcode not in PLUMBING_OPCODES
    listed = [*_operations(module, instructions, places), *_fused_operations(module, fused, places)]
    order = {instruction: number for number, instruction in enumerate(instructions)}
    return sorted(listed, key=lambda one: order[one.done])


def without_async_ending(opcode: str) -> str:
    """Return the operation that an opcode starts, continues, or ends; else the opcode itself."""
    return next((opcode.removesuffix(end) for end in ASYNC_ENDINGS if opcode.endswith(end)), opcode)


def is_communication(module: ModuleIndex, instruction: InstructionLine) -> bool:
    """Return whether an instruction is a collective, or starts or ends one."""
    opcode = instruction.opcode
    if opcode == "async-start":
        opcode = _kind(module, instruction)
    elif opcode in {"async-update", "async-done"}:
        start = ModuleFlow(module).async_start(instruction)
        opcode = opcode if start is None else _kind(module, start)
    base = without_async_ending(opcode)
    is_channel = base in {"send", "recv"}
    return (
        is_channel
        or base in COLLECTIVE_OPCODES
        or fused_collective(module, instruction) is not None
    )


def fused_collective(
    module: ModuleIndex, instruction: InstructionLine
) -> tuple[str, InstructionLine] | None:
    """Return the part and the collective of a fusion that only communicates, else None.

    The part is ``Start`` or ``Done``, or empty for a synchronous collective.
    """
    if instruction.opcode != "fusion" or "kind=kCustom" not in instruction.text:
        return None
    for computation in module.called_by(instruction):
        for member in module.members(computation):
            if member.opcode in COLLECTIVE_OPCODES:
                root = module.computation(computation).root
                target = None if root is None else _FUSED_TARGET.search(root.text)
                return "" if target is None else target[1], member
    return None


def fused_collective_kind(module: ModuleIndex, collective: InstructionLine) -> str:
    """Return the operation of a collective in a fusion, such as ``all-gather``.

    An all-reduce of which only slices are kept is a ``reduce-scatter``: XLA for TPU writes these
    as fusions with the name ``all-reduce-scatter``.
    """
    kind = without_async_ending(collective.opcode)
    if kind == "all-reduce":
        users = [
            user
            for one in module.users(collective)
            for user in (module.users(one) if one.opcode == "get-tuple-element" else [one])
        ]
        if users and all(user.opcode == "dynamic-slice" for user in users):
            return "reduce-scatter"
    return kind


def _fused_operations(
    module: ModuleIndex,
    fused: Mapping[InstructionLine, tuple[str, InstructionLine]],
    places: Mapping[InstructionLine, int],
) -> Iterator[AsyncOperation]:
    """Yield the collectives that a fusion starts and a later one with the same channel ends."""
    started: dict[tuple[object, str], InstructionLine] = {}
    for instruction, (target, collective) in fused.items():
        channel = collective.parsed.attribute("channel_id")
        key = module.computation_of(instruction), "" if channel is None else channel.text
        if target == "Start":
            started[key] = instruction
        start = started.pop(key, None) if target == "Done" else None
        if start is not None:
            operand = next((one for one in module.operands(start) if one is not None), instruction)
            yield AsyncOperation(
                collective.opcode,
                start,
                instruction,
                total_array_bytes(try_shape(instruction.shape)),
                _space(operand.shape),
                _space(instruction.shape),
                places[instruction] - places[start],
            )


def synchronous_collectives(module: ModuleIndex) -> list[tuple[InstructionLine, str, int]]:
    """Return scheduled collectives during which nothing computes.

    Each comes with its operation and the logical bytes of its result. The computation of an
    ``async-start`` contains its operation, which is excluded.
    """
    instructions = scheduled_instructions(module) or ()
    starts = (one for one in instructions if one.opcode == "async-start")
    asynchronous = {computation for start in starts for computation in module.called_by(start)}
    found = []
    for one in instructions:
        fused = fused_collective(module, one)
        if one.opcode in COLLECTIVE_OPCODES and module.computation_of(one) not in asynchronous:
            kind = one.opcode
        elif fused is not None and not fused[0]:
            kind = fused_collective_kind(module, fused[1])
        else:
            continue
        found.append((one, kind, total_array_bytes(try_shape(one.shape))))
    return found


def _operations(
    module: ModuleIndex, instructions: list[InstructionLine], places: dict[InstructionLine, int]
) -> Iterator[AsyncOperation]:
    flow = ModuleFlow(module)
    for done in instructions:
        checkpoint()
        if not done.opcode.endswith("-done"):
            continue
        start = flow.async_start(done)
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
            total_array_bytes(try_shape(source if is_update else done.shape)),
            _space(source),
            _space(done.shape),
            places[done] - places[start],
        )


def _kind(module: ModuleIndex, start: InstructionLine) -> str:
    """Return the operation that a ``-start`` starts; a computation counts as its root."""
    for computation in module.called_by(start) if start.opcode == "async-start" else ():
        root = module.computation(computation).root
        if root is not None:
            return root.opcode
    return start.opcode.removesuffix("-start")


def _space(shape: str) -> int:
    """Return the memory space of the first array of a shape."""
    return next((array.memory_space or 0 for array in arrays_of(try_shape(shape))), 0)
