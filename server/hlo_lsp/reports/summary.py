"""The memory summary of a compile: totals, peaks, owners, and lost bytes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hlo_lsp.cost.chips import chip_of
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.memory.advice import Advice, advice
from hlo_lsp.memory.group_tree import TREE_KEYS, GroupNode, argument_groups, group_tree
from hlo_lsp.memory.grouping import BufferGroup, GroupKey, OwnedBuffer, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.logical_sizes import LogicalPeak, logical_peak_of
from hlo_lsp.memory.lost_bytes import LostBytes, lost_bytes
from hlo_lsp.memory.memory_analysis import AnalysisSize, memory_analysis
from hlo_lsp.memory.missing_facts import is_assignment_whole, missing_facts
from hlo_lsp.memory.occupancy_and_peaks import (
    SpaceOccupancy,
    largest_off_chip_space,
    memory_space_occupancies,
)
from hlo_lsp.memory.savings import Proof, is_negligible, large_spaces
from hlo_lsp.model.backend import Backend, is_on_chip, space_title
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.stats.time_advice import TimeAdvice, time_advice
from hlo_lsp.syntax.memory_records import AllocationLine


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """The selection of what a summary shows.

    Attributes:
        step: A schedule step in place of the peak of each memory space.
        space: The only memory space to show; None for all.
        key: What owners have in common.
        count: Maximum number of owners and of buffers.
        with_negligible: Whether to show rows and advice of less than 1% of the peak, too.
    """

    step: int | None = None
    space: int | None = None
    key: GroupKey = GroupKey.LINE
    count: int = 5
    with_negligible: bool = False


@dataclass(frozen=True, slots=True)
class SpaceSummary:
    """One memory space at its peak, or at another step.

    ``tree`` has the groups by call stack or scope as a tree, and is empty for other groups.
    ``allocated_bytes`` is the total that XLA reports, with thread-local allocations, which do not
    belong to the peak. ``step``, ``bytes``, and ``lost`` are None, and ``buffers`` is empty, if the
    live ranges are unknown. ``is_peak`` is False at another step. ``arguments`` are grouped by the
    first levels of their pytree. Rows of less than 1% of the bytes are not shown, unless
    ``with_negligible``.
    """

    space: int
    title: str
    allocated_bytes: int
    step: int | None = None
    bytes: int | None = None
    buffers: tuple[OwnedBuffer, ...] = ()
    groups: tuple[BufferGroup, ...] = ()
    lost: LostBytes | None = None
    advice: tuple[Advice, ...] = ()
    tuple_tables: int = 0
    tree: tuple[GroupNode, ...] = ()
    thread_local_bytes: int = 0
    is_peak: bool = True
    arguments: tuple[GroupNode, ...] = ()
    with_negligible: bool = False

    def is_shown(self, count: int) -> bool:
        """Return whether some bytes of the memory space are enough for a row."""
        return self.with_negligible or not is_negligible(count, self.bytes or 0, 1)

    @property
    def scheduled_bytes(self) -> int:
        """The allocated bytes that can be occupied at the peak: those that are not thread-local."""
        return self.allocated_bytes - self.thread_local_bytes


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """The summary of one compile.

    ``missing`` lists what its files do not contain. ``is_whole`` is False if allocations or values
    are missing in the buffer assignment: sizes are lower bounds then. ``findings`` are the numbers
    of findings of a check by code. ``cost`` is None if it is unknown, or not computed.
    ``capacity_bytes`` is what the chip has of the memory space ``main``, None if it is unknown.
    """

    name: str
    file: DumpFile
    backend: Backend
    total_bytes: int | None
    by_kind: Mapping[str, int]
    spaces: tuple[SpaceSummary, ...]
    main: SpaceSummary | None
    last_step: int | None
    logical_peak: LogicalPeak | None
    missing: tuple[str, ...] = field(default=())
    memory_analysis: tuple[AnalysisSize, ...] = ()
    is_whole: bool = True
    findings: Mapping[str, int] = field(default_factory=dict)
    cost: ProgramCost | None = None
    capacity_bytes: int | None = None
    time_advice: tuple[TimeAdvice, ...] = ()

    @property
    def shown_spaces(self) -> Sequence[SpaceSummary]:
        """The memory spaces of which a reader needs to know."""
        if any(space.with_negligible for space in self.spaces):
            return self.spaces
        large = large_spaces(self.spaces, lambda space: space.allocated_bytes)
        return [space for space in self.spaces if space is self.main or space in large]

    def advice_on(self, space: SpaceSummary) -> tuple[Advice, ...]:
        """Return the advice on a memory space: on the largest one off the chip, or on the chip."""
        is_shown = space is self.main or is_on_chip(space.space, self.backend)
        return space.advice if is_shown else ()

    @property
    def size(self) -> int:
        """The bytes at the peak or, if it is unknown or not shown, the allocated bytes."""
        peak = self.main.bytes if self.main is not None and self.main.is_peak else None
        return peak or self.total_bytes or 0


def summarize(dump: Compile, options: SummaryOptions = SummaryOptions()) -> ModuleSummary:
    """Return the summary of a compile."""
    allocations = [located.record for located in dump.allocations()]
    occupancies = memory_space_occupancies(dump)
    known = {occupancy.space: occupancy for occupancy in occupancies}
    spaces = [
        _summarize_space(dump, space, allocations, known.get(space), options)
        for space in sorted({allocation.color for allocation in allocations})
        if options.space in {None, space}
    ]
    largest = largest_off_chip_space(occupancies, dump.backend)
    is_whole = is_assignment_whole(dump)
    main = next((one for one in spaces if largest is None or one.space == largest.space), None)
    return ModuleSummary(
        dump.module_name,
        dump.files[0],
        dump.backend,
        sum(allocation.size for allocation in allocations) if allocations else dump.total_bytes,
        _bytes_by_kind(allocations),
        tuple(spaces),
        main,
        dump.last_step,
        logical_peak_of(dump),
        missing_facts(dump),
        memory_analysis(dump) if is_whole else (),
        is_whole,
    )


def summarize_with_cost(
    dump: Compile, options: SummaryOptions = SummaryOptions(), chip: str | None = None
) -> ModuleSummary:
    """Return the summary of a compile with its cost on a chip, by default on that of the dump."""
    chosen = chip_of(dump, chip)
    cost, found = program_cost(dump, chosen), time_advice(dump, chosen)
    summary = summarize(dump, options)
    is_off_chip = summary.main is not None and not is_on_chip(summary.main.space, dump.backend)
    capacity = None if chosen is None or not is_off_chip else chosen.capacity_bytes
    return replace(summary, cost=cost, capacity_bytes=capacity, time_advice=found)


def with_proofs(
    summary: ModuleSummary, prove: Callable[[Advice, int], Proof | None]
) -> ModuleSummary:
    """Return a summary with the proofs of the advice on each memory space."""
    spaces = tuple(
        replace(
            space,
            advice=tuple(
                replace(one, proof=prove(one, space.space)) for one in summary.advice_on(space)
            ),
        )
        for space in summary.spaces
    )
    number = None if summary.main is None else summary.main.space
    main = next((one for one in spaces if one.space == number), None)
    return replace(summary, spaces=spaces, main=main)


def _summarize_space(
    dump: Compile,
    space: int,
    allocations: Sequence[AllocationLine],
    occupancy: SpaceOccupancy | None,
    options: SummaryOptions,
) -> SpaceSummary:
    title = space_title(space, dump.backend)
    inside = [allocation for allocation in allocations if allocation.color == space]
    allocated = sum(allocation.size for allocation in inside)
    local = sum(allocation.size for allocation in inside if allocation.thread_local)
    if occupancy is None:
        return SpaceSummary(
            space,
            title,
            allocated,
            thread_local_bytes=local,
            with_negligible=options.with_negligible,
        )
    step = occupancy.peak_step if options.step is None else options.step
    owned = owned_buffers(dump, live_buffers(dump, space, step))
    lost = lost_bytes(dump, space, step)
    return SpaceSummary(
        space,
        title,
        allocated,
        step,
        occupancy.bytes_at(step),
        tuple(owned),
        tuple(group_buffers(dump, owned, options.key)),
        lost,
        tuple(advice(dump, owned, occupancy, with_negligible=options.with_negligible))
        if options.step is None
        else (),
        tuple_table_count(dump, space),
        group_tree(dump, owned, options.key) if options.key in TREE_KEYS else (),
        local,
        options.step is None,
        argument_groups(dump, owned),
        options.with_negligible,
    )


def tuple_table_count(dump: Compile, space: int) -> int:
    """Return the number of tuple tables in a memory space."""
    return sum(
        value.shape.startswith("(")
        for block in buffer_assignment(dump).blocks
        if block.allocation.color == space and not block.allocation.thread_local
        for value in block.values
    )


def _bytes_by_kind(allocations: Iterable[AllocationLine]) -> dict[str, int]:
    found = dict.fromkeys(("parameter", "constant", "output", "thread_local", "temp"), 0)
    for allocation in allocations:
        found[allocation_role(allocation)] += allocation.size
    return found


def allocation_role(allocation: AllocationLine) -> str:
    """Return what an allocation is for, as a key of ``by_kind``."""
    if allocation.parameter is not None:
        return "parameter"
    if allocation.constant:
        return "constant"
    if allocation.thread_local:
        return "thread_local"
    return "output" if allocation.maybe_live_out else "temp"
