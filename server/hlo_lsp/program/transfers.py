"""Asynchronous operations, copies to other layouts and memory spaces, and transfers to the host."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import (
    CONTROL_FLOW_OPCODES,
    INDEXED_OPCODES,
    ResultKind,
    SendRule,
    opcodes_where,
)
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
from hlo_lsp.program.dataflow import ModuleFlow, offloaded_computation
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

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
_RUNNING_ONCE = frozenset({"async-start", "call"})
_MAX_WRAPPERS = 20  # Real operations have at most six.
_CUSTOM_FUSION = "kind=kCustom"
_FUSED_TARGET = re.compile(r'custom_call_target="AsyncCollective(Start|Done)"')
ASYNC_ENDINGS = ("-start", "-update", "-done")  # of the parts of an asynchronous operation
COLLECTIVE_OPCODES = opcodes_where(lambda one: one.sends is not SendRule.NONE)
REDUCTIONS = frozenset({"all-reduce", "reduce-scatter"})  # of values of several devices


@dataclass(frozen=True, slots=True)
class AsyncOperation:
    """An asynchronous operation in a scheduled computation.

    Attributes:
        kind: The operation: ``copy``, ``slice``, ``all-gather``.
        bytes: Logical bytes that move: those of the result, or of an update.
        work: Instructions between ``ready`` and ``done`` that compute.
        ready: The instruction that passes the last operand: the start, or an update after it.
    """

    kind: str
    start: InstructionLine
    done: InstructionLine
    bytes: int
    source_space: int
    target_space: int
    work: int
    ready: InstructionLine

    @property
    def is_fused(self) -> bool:
        """True if the operation starts and ends in fusions."""
        return self.start.opcode == "fusion"

    @property
    def is_exposed(self) -> bool:
        """True if nothing computes until the operation is done, so that the device waits."""
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
    started = started_computations(module, instructions)
    places: dict[InstructionLine, int] = {}
    work = 0
    for instruction in instructions:
        checkpoint()
        places[instruction] = work
        is_step = instruction.opcode.endswith(ASYNC_ENDINGS) or instruction in fused
        if not is_step and instruction.opcode not in PLUMBING_OPCODES:
            work += module.computation_of(instruction) not in started
    listed = [*_operations(module, instructions, places), *_fused_operations(module, fused, places)]
    order = {instruction: number for number, instruction in enumerate(instructions)}
    return sorted(listed, key=lambda one: order[one.done])


def without_async_ending(opcode: str) -> str:
    """Return the operation that an opcode starts, continues, or ends; else the opcode itself."""
    return next((opcode.removesuffix(end) for end in ASYNC_ENDINGS if opcode.endswith(end)), opcode)


def is_communication(module: ModuleIndex, instruction: InstructionLine) -> bool:
    """Return whether an instruction is a collective, or starts, ends, or only wraps one."""
    operation = performed_operation(module, instruction)
    base = without_async_ending(operation.opcode)
    is_channel = base in {"send", "recv"}
    return (
        is_channel or base in COLLECTIVE_OPCODES or fused_collective(module, operation) is not None
    )


def performed_operation(module: ModuleIndex, instruction: InstructionLine) -> InstructionLine:
    """Return the instruction whose work another one starts, ends, or only wraps, else itself.

    This is the root of the computation of an ``async-start``, also behind calls of computations
    that contain nothing else, and a gather or a scatter that is the work of a fusion.
    """
    for _ in range(_MAX_WRAPPERS):
        wrapped = _wrapped_instruction(module, instruction)
        if wrapped is None:
            break
        instruction = wrapped
    return instruction


def _wrapped_instruction(
    module: ModuleIndex, instruction: InstructionLine
) -> InstructionLine | None:
    opcode = module.opcode(instruction)
    if opcode in {"async-update", "async-done"}:
        return ModuleFlow(module).async_start(instruction)
    for computation in _computations_in_place(module, instruction):
        body = module.computation(computation)
        others = (one.opcode for one in body.members if one is not body.root)
        if opcode == "async-start" or all(map(_is_plumbing, others)):
            return body.root
    if opcode == "fusion" and _CUSTOM_FUSION in instruction.text:
        roots = (module.computation(one).root for one in module.called_by(instruction))
        return next((one for one in roots if one and one.opcode in INDEXED_OPCODES), None)
    return None


def _computations_in_place(
    module: ModuleIndex, instruction: InstructionLine
) -> list[ComputationLine]:
    """Return the computations that an instruction runs once, and does nothing else."""
    if instruction.opcode == "custom-call":
        found = offloaded_computation(module, instruction)
        return [] if found is None else [found]
    return module.called_by(instruction) if instruction.opcode in _RUNNING_ONCE else []


def _is_plumbing(opcode: str) -> bool:
    return opcode in PLUMBING_OPCODES or opcode.endswith(ASYNC_ENDINGS)


def started_computations(
    module: ModuleIndex, instructions: Sequence[InstructionLine]
) -> dict[ComputationLine, InstructionLine]:
    """Return the computations that an ``async-start`` or a custom call runs, directly or not.

    Each comes with the outermost of these instructions.

    Args:
        module: The module.
        instructions: Its scheduled instructions, which contain no member of a custom call.
    """
    callers: dict[ComputationLine, InstructionLine] = {}
    waiting = [*instructions]
    while waiting:
        instruction = waiting.pop()
        for computation in _computations_in_place(module, instruction):
            if computation not in callers:
                callers[computation] = instruction
                waiting += module.members(computation)
    found = {}
    for computation in callers:
        start = _outermost_start(module, computation, callers)
        if start is not None:
            found[computation] = start
    return found


def _outermost_start(
    module: ModuleIndex,
    computation: ComputationLine,
    callers: Mapping[ComputationLine, InstructionLine],
) -> InstructionLine | None:
    start = None
    home: ComputationLine | None = computation
    for _ in range(_MAX_WRAPPERS):
        if home is None or home not in callers:
            break
        caller = callers[home]
        start = start if caller.opcode == "call" else caller
        home = module.computation_of(caller)
    return start


def fused_collective(
    module: ModuleIndex, instruction: InstructionLine
) -> tuple[str, InstructionLine] | None:
    """Return the part and the collective of a fusion that only communicates, else None.

    The part is ``Start`` or ``Done``, or empty for a synchronous collective.
    """
    if instruction.opcode != "fusion" or _CUSTOM_FUSION not in instruction.text:
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
                start,
            )


def synchronous_collectives(module: ModuleIndex) -> list[tuple[InstructionLine, str, int]]:
    """Return scheduled collectives during which nothing computes.

    Each comes with its operation and the logical bytes of its result. The computation of an
    ``async-start`` contains its operation, which is excluded.
    """
    instructions = scheduled_instructions(module) or []
    started = started_computations(module, instructions)
    found = []
    for one in instructions:
        operation = performed_operation(module, one) if one.opcode == "custom-call" else one
        fused = fused_collective(module, operation)
        if operation.opcode in COLLECTIVE_OPCODES:
            kind = operation.opcode
        elif fused is not None and not fused[0]:
            kind = fused_collective_kind(module, fused[1])
        else:
            continue
        if module.computation_of(one) not in started:
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
        operation = _root_of_fusion(module, performed_operation(module, start))
        kind = without_async_ending(operation.opcode)
        passed = flow.passed_operands(start)
        operands = [flow.operand(*place) for place in passed]
        ready = passed[-1][0] if passed else start
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
            places[done] - places.get(ready, places[start]),
            ready,
        )


def _root_of_fusion(module: ModuleIndex, operation: InstructionLine) -> InstructionLine:
    """Return the instruction that computes the result of a fusion: XLA for GPU wraps slices so."""
    roots = (module.computation(one).root for one in module.called_by(operation))
    found = next(filter(None, roots), None) if operation.opcode == "fusion" else None
    while found is not None and found.opcode == "bitcast":
        found = next(iter(module.operands(found)), None)
    return operation if found is None else found


def _space(shape: str) -> int:
    """Return the memory space of the first array of a shape."""
    return next((array.memory_space or 0 for array in arrays_of(try_shape(shape))), 0)
