"""The arguments of a program by donation: donated, usable, unused, and idle, with their bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import TuplePath, index_text, tuple_path
from hlo_lsp.memory.byte_ranges import union_size
from hlo_lsp.memory.live_set import live_values
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.memory.why_alive import last_read_step
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import padded_size_of_text, target_of
from hlo_lsp.model.query_cache import query
from hlo_lsp.program.argument_names import buffer_name
from hlo_lsp.program.donation import (
    Donation,
    InterfaceLeaf,
    donation_of,
    is_part_of_program,
)
from hlo_lsp.program.stages import module_at_buffer_assignment, unoptimized_module


class DonationState(Enum):
    """The use of the buffer of an argument; each argument has one state."""

    DONATED = "donated"
    USABLE = "usable"
    UNUSED = "unused"
    KEPT = "kept"

    @property
    def title(self) -> str:
        """The state in words."""
        return _TITLES[self]


_TITLES = {
    DonationState.DONATED: "donated, used by an output",
    DonationState.USABLE: "usable, but not donated",
    DonationState.UNUSED: "donated, but not used",
    DonationState.KEPT: "not donated, no output to use it",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """A buffer of an argument of the program.

    Attributes:
        name: The path in the arguments, such as ``p['w']``, or ``parameter 3``.
        index: The shape index in the parameter.
        shape: The shape with layout; empty for the table of a tuple.
        bytes: Padded size; 0 if ``is_size_known`` is false, for an unbounded dimension.
        space: Number of the memory space.
        output: The index of the output that uses the buffer, or that it fits.
        reason: Why no output uses a donated buffer.
        idle_bytes: The part of a donated buffer that holds no live value at the peak of its space;
            None if the live ranges are unknown.
        idle_steps: The first and the last of the idle steps around the peak.
    """

    name: str
    parameter: int
    index: TuplePath
    shape: str
    bytes: int
    space: int
    state: DonationState
    output: TuplePath | None = None
    reason: str | None = None
    idle_bytes: int | None = None
    idle_steps: tuple[int, int] | None = None
    is_size_known: bool = True

    @property
    def number(self) -> int:
        """The number of the argument; JAX passes many as the elements of one parameter."""
        return self.index[0] if self.index else self.parameter

    @property
    def idle_text(self) -> str:
        """The idle steps: ``at steps 4-23``."""
        if self.idle_steps is None:
            return "at the peak"
        return f"at steps {self.idle_steps[0]:,}-{self.idle_steps[1]:,}"

    @property
    def use(self) -> str:
        """The output that uses the buffer or that it fits, or the reason why there is none."""
        if self.output is None:
            return self.reason or ""
        verb = "fits" if self.state is DonationState.USABLE else "to"
        return f"{verb} output {index_text(self.output)}"

    @property
    def text(self) -> str:
        """The state with its reason: ``usable, but not donated: fits output {1}``."""
        return ": ".join(filter(None, (self.state.title, self.use)))

    @property
    def is_donated(self) -> bool:
        """Return whether the caller donates the buffer."""
        return self.state in {DonationState.DONATED, DonationState.UNUSED}


@query
def donated_arguments(dump: Compile) -> tuple[Argument, ...] | None:
    """Return the buffers of the arguments, the largest first.

    The result is None without the text of the whole program.

    With a buffer assignment, these are the allocations of parameters, so that their sum is
    ``argument_size_in_bytes`` of ``memory_analysis()``. Without one, they are the arrays of the
    parameters with the sizes of their shapes.
    """
    file = module_at_buffer_assignment(dump)
    if file is None or is_part_of_program(file.module):
        return None
    original = unoptimized_module(dump)
    found = donation_of(file.module, None if original is None else original.module)
    if found is None:
        return None
    leaves = {(leaf.parameter, leaf.index): leaf for leaf in found.parameters}
    blocks: dict[tuple[int | None, TuplePath], AllocationBlock] = {
        (block.allocation.parameter, tuple_path(block.allocation.parameter_index)): block
        for block in buffer_assignment(dump).blocks
        if block.allocation.parameter is not None and not block.allocation.thread_local
    }
    states = _states(dump, found, blocks)
    occupancies = {one.space: one for one in memory_space_occupancies(dump)}
    target = target_of(dump)
    arguments = []
    for number, index in blocks or leaves:
        checkpoint()
        leaf, block = leaves.get((number, index)), blocks.get((number, index))
        if number is None:
            continue
        shape = "" if leaf is None else leaf.shape
        padded = padded_size_of_text(shape, target) if shape else None
        size = (0 if padded is None else padded.bytes) if block is None else block.allocation.size
        state, output, reason = states.get(leaf, (DonationState.KEPT, None, None))
        space = 0 if block is None else block.allocation.color
        occupancy = occupancies.get(space)
        idle, steps = None, None
        is_donated = state in {DonationState.DONATED, DonationState.UNUSED}
        if is_donated and block is not None and occupancy is not None:
            idle, steps = _idle(dump, block, occupancy.peak_step)
        name = buffer_name(dump, number, index)
        arguments.append(
            Argument(
                *(name, number, index, shape, size, space, state, output, reason, idle, steps),
                is_size_known=block is not None or not shape or padded is not None,
            )
        )
    return tuple(sorted(arguments, key=lambda one: (-one.bytes, one.parameter, one.index)))


_State = tuple[DonationState, TuplePath | None, str | None]


def _states(
    dump: Compile, found: Donation, blocks: Mapping[tuple[int | None, TuplePath], AllocationBlock]
) -> dict[InterfaceLeaf | None, _State]:
    states: dict[InterfaceLeaf | None, _State] = {
        leaf: (DonationState.DONATED, output, None) for leaf, output in found.used.items()
    }
    states |= {one.parameter: (DonationState.UNUSED, None, one.why) for one in found.refused}
    for match in found.matches:
        usable: Sequence[InterfaceLeaf] = match.parameters
        if len(usable) > match.count:
            usable = sorted(usable, key=lambda leaf: _last_step(dump, leaf, blocks))
        for leaf, output in zip(usable, match.outputs, strict=False):
            states[leaf] = DonationState.USABLE, output.index, None
    return states


def _last_step(
    dump: Compile,
    leaf: InterfaceLeaf,
    blocks: Mapping[tuple[int | None, TuplePath], AllocationBlock],
) -> tuple[int, int]:
    """Return the last step at which an argument is read; the sooner, the better it is donated."""
    block = blocks.get((leaf.parameter, leaf.index))
    step = None if block is None else last_read_of(dump, block)
    return 0 if step is None else step, leaf.parameter or 0


def last_read_of(dump: Compile, block: AllocationBlock) -> int | None:
    """Return the last step at which the argument in an allocation is read."""
    value = next((dump.value(one.id) for one in block.values), None)
    return None if value is None else last_read_step(dump, value)


def _idle(dump: Compile, block: AllocationBlock, step: int) -> tuple[int, tuple[int, int] | None]:
    """Return the bytes of an allocation that hold no live value at a step, and the idle steps.

    These are the steps around the given one at which no value of at least half of the allocation is
    live; None if there are none.
    """
    size = block.allocation.size
    live = union_size(
        (value.offset, value.offset + value.size) for value in live_values(dump, block, step)
    )
    large = [value for value in block.values if 2 * value.size >= size]
    rows = [row.record for value in large if (row := dump.live(value.key)) is not None]
    if 2 * live >= size or not rows:
        return size - live, None
    first = max((row.end_step + 1 for row in rows if row.end_step < step), default=0)
    later = [row.start_step - 1 for row in rows if row.start_step > step]
    return size - live, (first, min(later, default=dump.last_step or step))
