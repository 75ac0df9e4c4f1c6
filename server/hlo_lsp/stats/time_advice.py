"""Advice on the time of a program, with what it costs on a chip.

The least time of a step is the sum of those of its instructions. Only what costs at least 1% of it,
and at least 10 µs, is worth advice: shorter steps wait for the host.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.descriptions import describe_least
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.roofline import Bound, least_time, padding_flops, resource_times
from hlo_lsp.cost.utilization import network_transfers
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import query
from hlo_lsp.program.instruction_owners import instruction_facts
from hlo_lsp.program.phases import REMATERIALIZED, is_checkpointed
from hlo_lsp.program.stages import scheduled_module
from hlo_lsp.program.transfers import relayouts
from hlo_lsp.stats.instruction_table import InstructionTable, cost_table
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import PICOSECONDS, format_flops, format_short_bytes, format_time

_MIN_SHARE = 0.01  # of the least time of a run, or of the sum of which lines are named
_MIN_PS = PICOSECONDS // 100_000
_MAX_LINES = 3


_REMEDIES = {  # whether XLA inserted the computation
    False: "If the memory allows it, keep the most expensive ones (a policy of `jax.checkpoint`)",
    True: "XLA computes again what does not fit in memory: lower the peak",
}


class TimeAdviceKind(Enum):
    """The kinds of advice."""

    REMATERIALIZATION = "rematerialization"
    MEMORY_BOUND = "memory bound"
    MATRIX_UNIT = "matrix unit"
    COLLECTIVES = "exposed collectives"
    LAYOUT_COPIES = "layout copies"


@dataclass(frozen=True, slots=True)
class TimeAdvice:
    """Something in a program that takes time, and what to change.

    Attributes:
        problem: What takes the time, as a part of a sentence.
        remedy: What to change, as a sentence.
        least_ps: The time in one run that it costs at least, in picoseconds.
        share: This time as a share of the least time of a run.
        instruction: The instruction that it is about most.
        may_be_cached: True if data in the cache of the chip takes less time.
    """

    kind: TimeAdviceKind
    problem: str
    remedy: str
    least_ps: float
    share: float
    instruction: InstructionLine
    may_be_cached: bool

    @property
    def text(self) -> str:
        """The problem with its price, and the remedy."""
        time = describe_least(self.least_ps, may_be_cached=self.may_be_cached)
        price = f"{time}, {self.share:.1%} of the least time of a run"
        return f"{self.problem}; this costs {price}. {self.remedy}"


@query
def time_advice(dump: Compile, chip: Chip | None) -> tuple[TimeAdvice, ...]:
    """Return advice on a scheduled program whose cost and chip are known, the most costly first.

    A share of a cost that is only a lower bound would be too large.
    """
    file = scheduled_module(dump)
    table = None if chip is None or file is None else cost_table(dump, chip)
    cost = None if table is None else table.cost
    if file is None or chip is None or table is None or cost is None or not cost.executed.complete:
        return ()
    costs = _Costs(table, chip, file.module)
    found = (advice for find in _FINDERS for advice in find(costs))
    return tuple(sorted(found, key=lambda advice: -advice.least_ps))


class _Costs:
    """The instructions of a program with their times."""

    def __init__(self, table: InstructionTable, chip: Chip, module: ModuleIndex) -> None:
        self.table, self.chip, self.module = table, chip, module
        self.rows = [row.cost for row in table.rows if row.cost is not None]
        self.min_ps = max(_MIN_PS, _MIN_SHARE * table.run_ps)

    def least_ps(self, row: InstructionCost) -> float:
        """Return the least time of all executions of an instruction."""
        return least_time(row, self.chip).ps

    def rows_of(self, instructions: Iterable[InstructionLine]) -> list[InstructionCost]:
        """Return the rows of some instructions."""
        wanted = set(instructions)
        return [row for row in self.rows if row.instruction in wanted]

    def advice(
        self,
        kind: TimeAdviceKind,
        rows: Sequence[InstructionCost],
        text: Callable[[], tuple[str, str]],
        price: Callable[[InstructionCost], float] | None = None,
    ) -> Iterator[TimeAdvice]:
        """Yield advice on some instructions if their price is worth it, by default their time."""
        price = price or self.least_ps
        total = sum(map(price, rows))
        if total >= self.min_ps:
            most = max(rows, key=price).instruction
            is_cached = any(least_time(row, self.chip).may_be_cached for row in rows)
            yield TimeAdvice(kind, *text(), total, total / self.table.run_ps, most, is_cached)

    def lines(
        self, rows: Sequence[InstructionCost], price: Callable[[InstructionCost], float]
    ) -> str:
        """Return the Python lines with most time as a part of a sentence, empty without lines."""
        names = (row.instruction.name for row in rows)
        facts = {} if self.table.dump is None else instruction_facts(self.table.dump, names)
        times: dict[str, float] = {}
        for row in rows:
            owner = facts.get(row.instruction.name)
            if owner is not None and owner.source is not None:
                name = owner.source.short
                times[name] = times.get(name, 0.0) + price(row)
        total = sum(map(price, rows))  # also of instructions without a line
        first = sorted(times, key=lambda name: -times[name])[:_MAX_LINES]
        large = [name for name in first if times[name] >= _MIN_SHARE * total]
        named = [f"{name} ({format_time(times[name])})" for name in large]
        is_most = 2 * sum(times[name] for name in large) > total
        return f", most of it for {', '.join(named)}" if is_most else ""


def _rematerialization(costs: _Costs) -> Iterator[TimeAdvice]:
    if not any("remat" in one.text for one in costs.module.instructions.in_order()):
        return
    owners = costs.table.owners
    rows = [
        row.cost
        for row in costs.table.costing
        if row.cost and (owner := owners.get(row.name)) and owner.phase == REMATERIALIZED
    ]

    def text() -> tuple[str, str]:
        flops = format_flops(sum(row.total.flops for row in rows))
        names = (owners[row.instruction.name].op_name for row in rows)
        remedies = dict.fromkeys(_REMEDIES[not is_checkpointed(name)] for name in names)
        return (
            f"values are computed again ({flops}){costs.lines(rows, costs.least_ps)}",
            ". ".join(remedies),
        )

    yield from costs.advice(TimeAdviceKind.REMATERIALIZATION, rows, text)


def _memory_bound(costs: _Costs) -> Iterator[TimeAdvice]:
    chip = costs.chip
    if chip.matrix_unit is None:
        return  # the cache of a GPU may hold the arrays, so that they do not wait

    def excess(row: InstructionCost) -> float:
        """Return by how much the bytes take longer than the FLOPs."""
        return costs.least_ps(row) - resource_times(row, chip)[Bound.COMPUTE]

    rows = [
        row
        for row in costs.rows
        if row.products
        and least_time(row, chip).bound is Bound.MEMORY
        and excess(row) >= costs.min_ps
    ]

    def text() -> tuple[str, str]:
        most = max(rows, key=excess)
        balance = chip.peak_flops(most.element_bits) / chip.memory_bytes_per_second
        ratio = most.total.flops / (most.memory_bytes * most.executions)
        waiting = f"{count_noun(len(rows), 'matrix product')} wait{'s' * (len(rows) == 1)}"
        # In a larger batch, each element of a matrix of weights serves more rows.
        is_batched = max(most.products, key=lambda product: product.flops).count > 1
        remedy = "Fuse them with what reads or writes them" if is_batched else "Use larger batches"
        return (
            f"{waiting} for memory: `{most.instruction.name}` has {ratio:.3g} FLOP/B, and the chip "
            f"can do {balance:.3g}{costs.lines(rows, excess)}",
            f"{remedy}, or use narrower types",
        )

    yield from costs.advice(TimeAdviceKind.MEMORY_BOUND, rows, text, excess)


def _matrix_unit(costs: _Costs) -> Iterator[TimeAdvice]:
    chip, unit = costs.chip, costs.chip.matrix_unit

    def lost(row: InstructionCost) -> float:
        """Return by how much the unused parts of the unit lengthen the least time."""
        flops = row.total.flops + padding_flops(row, chip)
        computing = PICOSECONDS * flops / chip.peak_flops(row.element_bits)
        return max(0.0, computing - costs.least_ps(row))

    rows = [row for row in costs.rows if row.products and lost(row)] if unit else []

    def text() -> tuple[str, str]:
        assert unit is not None
        most = max(rows, key=lost)
        largest = max(most.products, key=lambda product: product.padding_flops(unit))
        dimensions = " and ".join(largest.padded_dimensions(unit))
        return (
            f"dimensions of matrices do not fill the matrix unit: `{most.instruction.name}` uses "
            f"{dimensions}{costs.lines(rows, lost)}",
            f"Use multiples of {unit}",
        )

    yield from costs.advice(TimeAdviceKind.MATRIX_UNIT, rows, text, lost)


def _collectives(costs: _Costs) -> Iterator[TimeAdvice]:
    # Work that is meanwhile can take longer than its least time, and hide more.
    transfers = (costs.table.cost and network_transfers(costs.table.cost)) or ()
    rows = costs.rows_of(transfer.start for transfer in transfers if not transfer.work_ps)

    def text() -> tuple[str, str]:
        sent = format_short_bytes(sum(row.wire_bytes * row.executions for row in rows))
        count = count_noun(len(rows), "collective")
        return (
            f"nothing computes during {count} ({sent} sent){costs.lines(rows, costs.least_ps)}",
            "Shard other dimensions, or let XLA overlap the collectives with computation",
        )

    yield from costs.advice(TimeAdviceKind.COLLECTIVES, rows, text)


def _layout_copies(costs: _Costs) -> Iterator[TimeAdvice]:
    groups = [group for group in relayouts(costs.module) if "space" not in group.what]
    rows = costs.rows_of(instruction for group in groups for instruction in group.instructions)

    def text() -> tuple[str, str]:
        most = max(rows, key=costs.least_ps).instruction
        largest = next(group for group in groups if most in group.instructions)
        changing = f"{count_noun(len(rows), 'instruction')} change{'s' * (len(rows) == 1)}"
        return (
            f"{changing} only a layout: `{most.name}` from `{largest.source}` to `{most.shape}`"
            f"{costs.lines(rows, costs.least_ps)}",
            "Use one layout for the producer and the users",
        )

    yield from costs.advice(TimeAdviceKind.LAYOUT_COPIES, rows, text)


_FINDERS = (_rematerialization, _memory_bound, _matrix_unit, _collectives, _layout_copies)
