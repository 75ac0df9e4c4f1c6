"""Why a buffer is alive: what defines it, what reads it, and what the last reader waits for."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import TuplePath, tuple_path
from hlo_lsp.hlo.vocabulary import (
    CALLING_OPCODES,
    OperandPassing,
    OperandReading,
    ResultKind,
    opcode_spec,
)
from hlo_lsp.model.backend import HOST_MEMORY_SPACE
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import Value
from hlo_lsp.model.shape import arrays_of, try_shape
from hlo_lsp.program.data_origin import Origin, is_rearrangement, origin_of
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.donation import DonationStatus, donation_status
from hlo_lsp.program.phases import is_backward_pass, is_rematerialized
from hlo_lsp.program.stages import unoptimized_module
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_PLACES = 20_000  # instructions and paths; real values have a few hundred
_CALLERS = CALLING_OPCODES | {"async-update"}


@dataclass(frozen=True, slots=True)
class BufferUse:
    """An instruction that reads the data of a buffer.

    Attributes:
        copy: The first copy between the buffer and the instruction; None if it reads the buffer
            itself.
        is_copy: Whether the instruction only copies the data to another buffer.
    """

    instruction: InstructionLine
    step: int | None
    copy: str | None
    is_copy: bool


@dataclass(frozen=True, slots=True)
class AwaitedOperand:
    """The operand of an instruction that is computed last, and its schedule step."""

    instruction: InstructionLine
    step: int


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The reasons why a buffer is alive.

    Attributes:
        origin: The instruction or argument that produced the data, None if it is unknown.
        uses: The uses of the data by step, including those of its copies.
        is_copied_to_output: Whether the program returns a copy of it.
        last_consumer: The last use of the buffer or of a copy that it feeds, copies excluded.
        awaited: The operand of that instruction that is computed last, if this is after the value.
        is_backward: Whether the backward pass produces the data; None if ``op_name`` names neither
            pass.
        is_offloaded: Whether the buffer or a copy of it is in host memory.
    """

    origin: Origin | None
    uses: tuple[BufferUse, ...]
    is_output: bool
    is_copied_to_output: bool
    last_consumer: BufferUse | None
    awaited: AwaitedOperand | None
    is_backward: bool | None
    is_rematerialized: bool
    is_offloaded: bool


def lifetime_of(dump: Compile, value: Value) -> Lifetime | None:
    """Return why a value is alive, or None without the module text that defines it."""
    line = dump.instruction(value.name)
    if line is None:
        return None
    module = line.file.module
    search = _UseSearch(dump, module)
    search.follow(line.record, tuple_path(value.index))
    uses = sorted(search.uses.values(), key=_order)
    origin = origin_of(dump, value.name, value.index)
    last = _last_consumer(uses)
    op_name = "" if origin is None or origin.op_name is None else origin.op_name
    names = [value.name, *([] if origin is None else [origin.instruction.record.name, *origin.via])]
    return Lifetime(
        origin,
        tuple(uses),
        search.is_output,
        search.is_copied_to_output,
        last,
        None if last is None else _awaited(dump, module, last, value),
        is_backward_pass(op_name),
        any(is_rematerialized(name, op_name) for name in names),
        value.color == HOST_MEMORY_SPACE or search.reaches_host,
    )


def last_read_step(dump: Compile, value: Value) -> int | None:
    """Return the last step at which an instruction reads a buffer itself, not a copy of it.

    The live range of an argument that is not donated ends with the program, because the caller
    keeps it.
    """
    line = dump.instruction(value.name)
    if line is None:
        return None
    search = _UseSearch(dump, line.file.module)
    search.follow(line.record, tuple_path(value.index))
    steps = [use.step for use in search.uses.values() if use.copy is None and use.step is not None]
    return max(steps, default=None)


class _UseSearch:
    """A search for the uses of a value, through tuples, loops, calls, and copies."""

    def __init__(self, dump: Compile, module: ModuleIndex) -> None:
        self._dump = dump
        self._module = module
        self._flow = ModuleFlow(module)
        self._copies: dict[tuple[InstructionLine, TuplePath], str | None] = {}
        self._waiting: deque[tuple[InstructionLine, TuplePath]] = deque()
        self.uses: dict[InstructionLine, BufferUse] = {}
        self.is_output = False
        self.is_copied_to_output = False
        self.reaches_host = False

    def follow(self, instruction: InstructionLine, path: TuplePath) -> None:
        """Collect the uses of an element of a result."""
        self._put(instruction, path, None)
        while self._waiting and len(self._copies) < _MAX_PLACES:
            checkpoint()
            place = self._waiting.popleft()
            self._leave_computation(*place, self._copies[place])
            for user in self._module.users(place[0]):
                for number, operand in enumerate(user.operands):
                    if operand == place[0].name:
                        self._pass_on(user, number, place[1], self._copies[place])

    def _put(self, instruction: InstructionLine, path: TuplePath, copy: str | None) -> None:
        place = instruction, path
        if place not in self._copies:
            self._copies[place] = copy
            self._waiting.append(place)

    def _pass_on(
        self, user: InstructionLine, number: int, path: TuplePath, copy: str | None
    ) -> None:
        """Follow an operand into an instruction, or note that the instruction uses it."""
        if user.opcode == "custom-call" and is_rearrangement(self._dump, user):
            self._pass_copy(user, path, copy)
            return
        is_followed = False
        for index, kind in self._flow.destinations(user, number, path):
            if kind is ResultKind.REARRANGED and not is_rearrangement(self._dump, user):
                continue
            is_followed = True
            if kind in {ResultKind.COPY, ResultKind.REARRANGED}:
                self._pass_copy(user, index, copy)
            else:
                self._put(user, index, copy)
        for parameter in self._flow.parameters(user, number) if user.opcode in _CALLERS else ():
            is_followed = True
            self._put(parameter, path, copy)
        reads = opcode_spec(user.opcode).reads
        if not is_followed and not (path and reads is OperandReading.TABLE):
            self._note_use(user, copy)

    def _pass_copy(self, user: InstructionLine, path: TuplePath, copy: str | None) -> None:
        self._note_use(user, copy, is_copy=True)
        arrays = arrays_of(try_shape(user.shape))
        self.reaches_host |= any(array.memory_space == HOST_MEMORY_SPACE for array in arrays)
        self._put(user, path, copy or user.name)

    def _note_use(self, user: InstructionLine, copy: str | None, *, is_copy: bool = False) -> None:
        known = self.uses.get(user)
        if known is None or (known.copy is not None and copy is None):
            row = self._dump.step(user.name)
            step = None if row is None else row.record.step
            self.uses[user] = BufferUse(user, step, copy, is_copy)

    def _leave_computation(
        self, instruction: InstructionLine, path: TuplePath, copy: str | None
    ) -> None:
        """Follow the result of a computation to the instructions that call it."""
        computation = self._module.computation_of(instruction)
        if computation is None or not self._module.is_root(instruction):
            return
        if computation is self._module.entry:
            self.is_output |= copy is None
            self.is_copied_to_output |= copy is not None
            return
        for caller in self._module.callers(computation):
            spec = opcode_spec(caller.opcode)
            if not spec.runs_callees:
                continue
            if instruction not in self._flow.roots(caller):  # the condition of a loop
                self._note_use(caller, copy)
                continue
            if spec.passes is OperandPassing.LOOP:
                for parameter in self._flow.parameters(caller, 0):
                    self._put(parameter, path, copy)
            for part in spec.result:
                if part.kind is ResultKind.ROOT:
                    self._put(caller, (*part.at, *path), copy)


def _order(use: BufferUse) -> tuple[int, int]:
    return -1 if use.step is None else use.step, use.instruction.line


def _last_consumer(uses: list[BufferUse]) -> BufferUse | None:
    """Return the consumer for which the buffer is kept.

    If the last instruction that reads the buffer is a copy, this is the last one that reads the
    copy.
    """
    direct = [use for use in uses if use.copy is None]
    if not direct:
        return None
    last = direct[-1]
    readers = [use for use in uses if not use.is_copy and _order(use) > _order(last)]
    return readers[-1] if last.is_copy and readers else last


def _awaited(
    dump: Compile, module: ModuleIndex, use: BufferUse, value: Value
) -> AwaitedOperand | None:
    """Return the last computed operand, unless it is older than the value."""
    start = -1 if value.live is None else value.live.record.start_step
    end = -1 if use.step is None else use.step
    found = [
        AwaitedOperand(producer, row.record.step)
        for producer in _producers(dump, module, use.instruction)
        for row in [dump.step(producer.name)]
        if row is not None and start < row.record.step < end
        if producer.opcode not in {"parameter", "constant"}
    ]
    return max(found, key=lambda one: one.step, default=None)


def _producers(
    dump: Compile, module: ModuleIndex, instruction: InstructionLine
) -> Iterator[InstructionLine]:
    """Yield the instructions that produced the operands, copies skipped."""
    for operand in module.operands(instruction):
        origin = None if operand is None else origin_of(dump, operand.name, None)
        if origin is not None:
            yield origin.instruction.record


def buffer_donation(dump: Compile, value: Value) -> DonationStatus | None:
    """Return whether the caller donates the buffer of an argument, None for other buffers."""
    line = dump.instruction(value.name)
    allocation = None if value.allocation is None else value.allocation.record
    if line is None or allocation is None or allocation.parameter is None:
        return None
    original = unoptimized_module(dump)
    return donation_status(
        line.file.module,
        allocation.parameter,
        tuple_path(allocation.parameter_index),
        None if original is None else original.module,
    )
