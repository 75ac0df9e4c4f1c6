"""Advice on the time of a program, with what it costs on a chip.

The least time of a step is the sum of those of its instructions. Only what costs at least 1% of it,
and at least 10 µs, is worth advice: shorter steps wait for the host.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.network import network_transfers
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.cost.roofline import (
    Bound,
    describe_least,
    least_time,
    may_be_cached,
    padding_flops,
)
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import query
from hlo_lsp.program.instruction_owners import instruction_facts
from hlo_lsp.program.phases import REMATERIALIZED, is_checkpointed
from hlo_lsp.program.stages import scheduled_module
from hlo_lsp.program.transfers import relayouts
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_flops, format_seconds, format_short_bytes

_MIN_SHARE = 0.01  # of the least time of a run, or of the sum of which lines are named
_MIN_SECONDS = 10e-6
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
        seconds: The time in one run that it costs at least.
        share: This time as a share of the least time of a run.
        instruction: The instruction that it is about most.
        may_be_cached: True if data in the cache of the chip takes less time.
    """

    kind: TimeAdviceKind
    problem: str
    remedy: str
    seconds: float
    share: float
    instruction: InstructionLine
    may_be_cached: bool

    @property
    def text(self) -> str:
        """The problem with its price, and the remedy."""
        time = describe_least(self.seconds, may_be_cached=self.may_be_cached)
        price = f"{time}, {self.share:.1%} of the least time of a run"
        return f"{self.problem}; this costs {price}. {self.remedy}"


@query
def time_advice(dump: Compile, chip: Chip | None) -> tuple[TimeAdvice, ...]:
    """Return advice on a scheduled program whose cost and chip are known, the most costly first.

    A share of a cost that is only a lower bound would be too large.
    """
    file = scheduled_module(dump)
    program = None if chip is None or file is None else program_cost(dump, chip)
    if file is None or chip is None or program is None or not program.executed.complete:
        return ()
    costs = _Costs(program, chip, file.module)
    found = (one for find in _FINDERS for one in find(costs))
    return tuple(sorted(found, key=lambda one: -one.seconds))


class _Costs:
    """The instructions of a program with their times."""

    def __init__(self, program: ProgramCost, chip: Chip, module: ModuleIndex) -> None:
        self.program, self.dump = program, program.dump
        self.chip, self.module = chip, module
        self.rows = program.executed.instructions
        self.total_seconds = program.total.seconds or 0.0

    def seconds(self, one: InstructionCost) -> float:
        """Return the least time of all executions of an instruction."""
        return least_time(one, self.chip).seconds

    def rows_of(self, instructions: Iterable[InstructionLine]) -> list[InstructionCost]:
        """Return the rows of some instructions."""
        wanted = set(instructions)
        return [one for one in self.rows if one.instruction in wanted]

    def advice(
        self,
        kind: TimeAdviceKind,
        rows: Sequence[InstructionCost],
        text: Callable[[], tuple[str, str]],
        price: Callable[[InstructionCost], float] | None = None,
    ) -> Iterator[TimeAdvice]:
        """Yield advice on some instructions if their price is worth it, by default their time."""
        seconds_of = self.seconds if price is None else price
        seconds = sum(map(seconds_of, rows))
        if seconds >= max(_MIN_SECONDS, _MIN_SHARE * self.total_seconds):
            most = max(rows, key=seconds_of).instruction
            share = seconds / self.total_seconds
            bounds = {least_time(one, self.chip).bound for one in rows}
            is_cached = any(may_be_cached(one, self.chip) for one in bounds)
            yield TimeAdvice(kind, *text(), seconds, share, most, is_cached)

    def lines(
        self, rows: Sequence[InstructionCost], price: Callable[[InstructionCost], float]
    ) -> str:
        """Return the Python lines with most time as a part of a sentence, empty without lines."""
        facts = instruction_facts(self.dump, (one.instruction.name for one in rows))
        times: dict[str, float] = {}
        for one in rows:
            known = facts.get(one.instruction.name)
            if known is not None and known.source is not None:
                name = known.source.short
                times[name] = times.get(name, 0.0) + price(one)
        first = sorted(times, key=lambda name: -times[name])[:_MAX_LINES]
        least = _MIN_SHARE * sum(times.values())
        named = [
            f"{name} ({format_seconds(times[name])})" for name in first if times[name] >= least
        ]
        return f", most of it for {', '.join(named)}" if named else ""


def _rematerialization(costs: _Costs) -> Iterator[TimeAdvice]:
    if not any("remat" in one.text for one in costs.module.instructions.in_order()):
        return
    costing = costs.program.costing
    facts = instruction_facts(costs.dump, (one.instruction.name for one in costing))
    rows = [
        one
        for one in costing
        if (known := facts.get(one.instruction.name)) and known.phase == REMATERIALIZED
    ]

    def text() -> tuple[str, str]:
        flops = format_flops(sum(one.total.flops for one in rows))
        return (
            f"values are computed again ({flops}){costs.lines(rows, costs.seconds)}",
            ". ".join(dict.fromkeys(_REMEDIES[_is_by_xla(one)] for one in rows)),
        )

    def _is_by_xla(one: InstructionCost) -> bool:
        return not is_checkpointed(facts[one.instruction.name].op_name)

    yield from costs.advice(TimeAdviceKind.REMATERIALIZATION, rows, text)


def _memory_bound(costs: _Costs) -> Iterator[TimeAdvice]:
    chip = costs.chip
    if chip.matrix_unit is None:
        return  # the cache of a GPU may hold the arrays, so that they do not wait

    def excess(one: InstructionCost) -> float:
        """Return by how much the bytes take longer than the FLOPs."""
        return costs.seconds(one) - one.total.flops / chip.peak_flops(one.element_bits)

    rows = [
        one
        for one in costs.rows
        if one.products
        and least_time(one, chip).bound is Bound.MEMORY
        and excess(one) >= max(_MIN_SECONDS, _MIN_SHARE * costs.total_seconds)
    ]

    def text() -> tuple[str, str]:
        most = max(rows, key=excess)
        balance = chip.peak_flops(most.element_bits) / chip.memory_bytes_per_second
        ratio = most.total.flops / (most.memory_bytes * most.executions)
        waiting = f"{count_noun(len(rows), 'matrix product')} wait{'s' * (len(rows) == 1)}"
        # In a larger batch, each element of a matrix of weights serves more rows.
        is_batched = max(most.products, key=lambda each: each.flops).count > 1
        remedy = "Fuse them with what reads or writes them" if is_batched else "Use larger batches"
        return (
            f"{waiting} for memory: `{most.instruction.name}` has {ratio:.3g} FLOP/B, and the chip "
            f"can do {balance:.3g}{costs.lines(rows, excess)}",
            f"{remedy}, or use narrower types",
        )

    yield from costs.advice(TimeAdviceKind.MEMORY_BOUND, rows, text, excess)


def _matrix_unit(costs: _Costs) -> Iterator[TimeAdvice]:
    chip, unit = costs.chip, costs.chip.matrix_unit

    def lost(one: InstructionCost) -> float:
        """Return by how much the unused parts of the unit lengthen the least time."""
        flops = one.total.flops + padding_flops(one, chip)
        return max(0.0, flops / chip.peak_flops(one.element_bits) - costs.seconds(one))

    rows = [one for one in costs.rows if one.products and lost(one)] if unit else []

    def text() -> tuple[str, str]:
        assert unit is not None
        most = max(rows, key=lost)
        product = max(most.products, key=lambda each: each.padding_flops(unit))
        dimensions = " and ".join(product.padded_dimensions(unit))
        return (
            f"dimensions of matrices do not fill the matrix unit: `{most.instruction.name}` uses "
            f"{dimensions}{costs.lines(rows, lost)}",
            f"Use multiples of {unit}",
        )

    yield from costs.advice(TimeAdviceKind.MATRIX_UNIT, rows, text, lost)


def _collectives(costs: _Costs) -> Iterator[TimeAdvice]:
    # Work that is meanwhile can take longer than its least time, and hide more.
    found = network_transfers(costs.program) or ()
    rows = costs.rows_of(one.start for one in found if not one.work_seconds)

    def text() -> tuple[str, str]:
        sent = format_short_bytes(sum(one.wire_bytes * one.executions for one in rows))
        count = count_noun(len(rows), "collective")
        return (
            f"nothing computes during {count} ({sent} sent){costs.lines(rows, costs.seconds)}",
            "Shard other dimensions, or let XLA overlap the collectives with computation",
        )

    yield from costs.advice(TimeAdviceKind.COLLECTIVES, rows, text)


def _layout_copies(costs: _Costs) -> Iterator[TimeAdvice]:
    groups = [one for one in relayouts(costs.module) if "space" not in one.what]
    rows = costs.rows_of(each for one in groups for each in one.instructions)

    def text() -> tuple[str, str]:
        most = max(rows, key=costs.seconds).instruction
        group = next(one for one in groups if most in one.instructions)
        changing = f"{count_noun(len(rows), 'instruction')} change{'s' * (len(rows) == 1)}"
        return (
            f"{changing} only a layout: `{most.name}` from `{group.source}` to `{most.shape}`"
            f"{costs.lines(rows, costs.seconds)}",
            "Use one layout for the producer and the users",
        )

    yield from costs.advice(TimeAdviceKind.LAYOUT_COPIES, rows, text)


_FINDERS = (_rematerialization, _memory_bound, _matrix_unit, _collectives, _layout_copies)
