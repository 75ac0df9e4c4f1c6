"""The bytes that donations save: arguments that outputs could use, donated bytes that are idle."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import index_text
from hlo_lsp.memory.byte_ranges import LiveByteRange, add_changes, occupied_bytes_by_step
from hlo_lsp.memory.donated_arguments import Argument, donated_arguments, last_read_of
from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy
from hlo_lsp.memory.why_alive import BufferUse, lifetime_of
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import padded_size_of_text, target_of
from hlo_lsp.model.place import Value
from hlo_lsp.model.shape import is_compatible, without_memory_space
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.syntax.module_records import InstructionLine


def donation_saving(dump: Compile, arguments: Iterable[Argument], occupancy: SpaceOccupancy) -> int:
    """Return about how many bytes the peak of a memory space falls by if arguments are donated.

    Each argument then shares its bytes with an output of its shape. The allocation of the output
    is gone, but XLA also places temporaries in it, which need other bytes until the argument is
    dead. If the argument is read after the output is written, XLA copies one of them. What the
    compiler does with the memory that becomes free, such as on the chip, is not known.
    """
    blocks = _output_blocks(dump)
    by_argument = {
        (block.allocation.parameter, block.allocation.parameter_index): block
        for block in buffer_assignment(dump).blocks
        if block.allocation.parameter is not None
    }
    changes: defaultdict[int, int] = defaultdict(int)
    occupied = zip(occupancy.change_steps, occupancy.temp_bytes, strict=True)
    add_changes(changes, occupied, 1)
    freed = 0
    for argument in arguments:
        checkpoint()
        own = by_argument.get((argument.parameter, index_text(argument.index)))
        output = _take_output(blocks, argument)
        if own is None or output is None or argument.space != occupancy.space:
            continue
        freed += output.allocation.size
        add_changes(changes, occupied_bytes_by_step(_displaced(dump, output, own)), 1)
    peak = max(accumulate(changes[step] for step in sorted(changes)), default=0)
    saved = occupancy.peak_bytes - (occupancy.fixed_bytes - freed + peak)
    return max(0, saved)


def _output_blocks(dump: Compile) -> list[AllocationBlock]:
    return [
        block
        for block in buffer_assignment(dump).blocks
        if block.allocation.maybe_live_out
        and block.allocation.parameter is None
        and not block.allocation.constant
    ]


def _take_output(blocks: list[AllocationBlock], argument: Argument) -> AllocationBlock | None:
    """Remove and return the allocation of an output of the size and shape of an argument."""
    for block in blocks:
        if block.allocation.size == argument.bytes and any(
            is_compatible(value.shape, argument.shape) for value in block.values
        ):
            blocks.remove(block)
            return block
    return None


def _displaced(
    dump: Compile, output: AllocationBlock, own: AllocationBlock
) -> Iterator[LiveByteRange]:
    """Yield the bytes of an output whose values need other ones, and when."""
    last_read, last = last_read_of(dump, own) or 0, dump.last_step or 0
    for value in output.values:
        live = dump.live(value.key) if value.size else None
        if live is not None and live.record.end_step < last and live.record.start_step < last_read:
            end = min(live.record.end_step, last_read)
            yield LiveByteRange(value.offset, value.size, live.record.start_step, end)


@dataclass(frozen=True, slots=True)
class IdleDonation:
    """A donated argument with idle bytes, and the instruction that could have worked in place.

    Attributes:
        instruction: The last instruction that reads the argument and has a result of its size; if
            there is none, the last one that reads it. None if nothing reads it.
        reason: Why its result is in other bytes.
        saves_bytes: The bytes of its result, if it is live in the memory space of the argument
            while the argument is idle.
        allocation: The number of the allocation of its result.
    """

    argument: Argument
    instruction: InstructionLine | None
    step: int | None
    reason: str
    saves_bytes: int
    allocation: int | None = None


def idle_donations(dump: Compile, space: int, least: int, count: int) -> list[IdleDonation]:
    """Return the largest donated arguments with idle bytes at the peak of their space.

    Args:
        dump: The compile.
        space: The memory space.
        least: The least number of idle bytes.
        count: The maximum number of arguments.
    """
    found = [
        one
        for one in donated_arguments(dump) or ()
        if one.space == space and one.idle_steps is not None and (one.idle_bytes or 0) >= least
    ]
    return [_idle_donation(dump, one) for one in found[:count]]


def _idle_donation(dump: Compile, argument: Argument) -> IdleDonation:
    value = parameter_value(dump, argument)
    lifetime = None if value is None else lifetime_of(dump, value)
    uses = [] if lifetime is None else [use for use in lifetime.uses if use.copy is None]
    if not uses:
        return IdleDonation(argument, None, None, "no instruction reads it", 0)
    sized = [use for use in uses if _result_bytes(dump, use) == argument.bytes]
    use = (sized or uses)[-1]
    reason = _obstacle(argument, use, uses[-1], has_size=bool(sized))
    saved = 0
    result = dump.value_at(use.instruction.name)
    allocation = None if result is None else result.allocation
    # A result in another memory space takes no bytes of that of the argument.
    is_here = result is not None and result.space == argument.space
    if sized and result is not None and is_here and result.live and argument.idle_steps is not None:
        live = result.live.record
        first, last = argument.idle_steps
        if live.start_step <= last and live.end_step >= first:
            saved = min(argument.bytes, result.size or 0)
    number = None if allocation is None else allocation.record.number
    return IdleDonation(argument, use.instruction, use.step, reason, saved, number)


def _obstacle(argument: Argument, use: BufferUse, last: BufferUse, *, has_size: bool) -> str:
    """Return the first reason why an instruction does not write to the argument that it reads."""
    name, shape = use.instruction.name, use.instruction.shape
    if not has_size and last.is_copy:
        return f"`{name}` only copies it"
    if not has_size:
        return "no instruction that reads it has a result of its size"
    if last is not use:
        when = "" if last.step is None else f" at step {last.step:,}"
        return f"`{last.instruction.name}` reads the argument later{when}"
    if use.is_copy:
        return f"`{name}` only copies it"
    wanted = argument.shape
    if not is_compatible(shape, wanted):
        return f"its result has another shape, `{shape}`"
    if without_memory_space(shape) != without_memory_space(wanted):
        return f"its result has another layout, `{shape}`"
    if shape != wanted:
        return f"its result is in another memory space, `{shape}`"
    return "XLA gave it other bytes, although nothing in the dump prevents it"


def parameter_value(dump: Compile, argument: Argument) -> Value | None:
    """Return the value of an argument, or None without the text of the program."""
    file = module_at_buffer_assignment(dump)
    line = None if file is None else file.module.parameters.get(argument.parameter)
    return None if line is None else dump.value_at(line.name, index_text(argument.index))


def _result_bytes(dump: Compile, use: BufferUse) -> int | None:
    padded = padded_size_of_text(use.instruction.shape, target_of(dump))
    return None if padded is None else padded.bytes
