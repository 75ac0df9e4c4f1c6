"""The table of the instructions of a program: what each costs, takes at least, and took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.cost.chips import Chip, can_run
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.operation import NO_COST, Cost
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.cost.roofline import CostSum, LeastTime, cost_sum, least_time
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.instruction_owners import (
    FusedOwners,
    InstructionFacts,
    InstructionKey,
    group_of,
    instruction_facts,
)
from hlo_lsp.program.transfers import ASYNC_ENDINGS
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import PICOSECONDS

if TYPE_CHECKING:  # most tables have no measured times
    from hlo_lsp.profiles.measured import InstructionTime, ProgramTime

_OWNER_KEYS = frozenset({InstructionKey.LINE, InstructionKey.SCOPE, InstructionKey.PHASE})


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """An instruction that runs.

    Attributes:
        name: The name of the instruction.
        computation: The name of its computation, empty if it is unknown.
        cost: Its cost each time it runs, None without a module text that has it, and for calls.
        least: The least time of all executions, None without a chip or if the cost is unknown.
        measured: Its time in a profile, None without one.
        run_ps: The time in one run on one device in picoseconds: the mean of the measured own
            times or, in a table without a profile, the least time. It is 0 if it is unknown.
    """

    name: str
    computation: str
    cost: InstructionCost | None
    least: LeastTime | None
    measured: InstructionTime | None
    run_ps: float

    @property
    def is_timed(self) -> bool:
        """True if it was measured or, in a table without a profile, takes time at least."""
        return self.measured is not None or self.run_ps > 0

    @property
    def has_cost(self) -> bool:
        """True if it costs something, or its cost is unknown."""
        cost = self.cost
        return cost is not None and (cost.cost != NO_COST or cost.wire_bytes != 0)

    @property
    def may_be_cached(self) -> bool:
        """True if ``run_ps`` is a least time that the cache of the chip can make shorter."""
        return self.measured is None and self.least is not None and self.least.may_be_cached


@dataclass(frozen=True)
class InstructionGroup:
    """Instructions with a key in common, the one with most time first.

    Attributes:
        name: What they have in common.
        source: The Python line if the name is one.
        rows: The instructions.
        chip: The chip for least times.
        fused: The FLOPs of the instructions that this owner has inside of fusions and elsewhere;
            None if each instruction counts as a whole.
    """

    name: str
    source: SourceLine | None
    rows: tuple[InstructionRow, ...]
    chip: Chip | None
    fused: Cost | None = None

    @property
    def is_timed(self) -> bool:
        """True if a time of its instructions is known."""
        return any(row.is_timed for row in self.rows)

    @cached_property
    def run_ps(self) -> float:
        """The time in one run on one device in picoseconds."""
        return fsum(row.run_ps for row in self.rows)

    @property
    def may_be_cached(self) -> bool:
        """True if data in the cache of the chip takes less than the least time."""
        return any(row.may_be_cached for row in self.rows)

    @cached_property
    def cost(self) -> CostSum:
        """The costs of the instructions over all executions."""
        total = cost_sum((row.cost for row in self.rows if row.cost and row.has_cost), self.chip)
        if self.fused is None:
            return total
        return replace(total, cost=self.fused.with_bytes(total.cost.bytes_accessed))

    @property
    def times(self) -> list[InstructionTime]:
        """The measured times of the instructions."""
        return [row.measured for row in self.rows if row.measured is not None]

    @property
    def own_ps(self) -> int:
        """The sum of the measured own times in all runs, in picoseconds."""
        return sum(time.own_ps for time in self.times)


def merged(groups: Sequence[InstructionGroup], name: str) -> InstructionGroup:
    """Return several groups of a table as one."""
    rows = tuple(row for group in groups for row in group.rows)
    fused = [group.fused for group in groups if group.fused is not None]
    chip = groups[0].chip if groups else None
    return InstructionGroup(name, None, rows, chip, sum(fused, NO_COST) if fused else None)


class CostPart(NamedTuple):
    """The FLOPs and the transcendental functions of an instruction that one owner has.

    Attributes:
        facts: Those of the instruction, with this owner; None if no text has it.
        instruction: The first instruction of this owner: itself, or one inside of the fusion.
        cost: That of all executions, without bytes.
    """

    facts: InstructionFacts | None
    instruction: InstructionLine
    cost: Cost


class AchievedRates(NamedTuple):
    """The work of instructions per second of their own time; the share is None without a chip."""

    flops_per_second: float
    bytes_per_second: float
    roofline_share: float | None


@dataclass(frozen=True, eq=False)
class InstructionTable:
    """The instructions of a program that run, in the order of the text.

    Attributes:
        dump: The compile, None if it is unknown.
        cost: The cost of the compile, None without a module text.
        measured: The program in a profile, None without one.
        rows: The instructions.
    """

    dump: Compile | None
    cost: ProgramCost | None
    measured: ProgramTime | None
    rows: tuple[InstructionRow, ...]

    @property
    def chip(self) -> Chip | None:
        """The chip for least times."""
        return None if self.cost is None else self.cost.chip

    @property
    def executions(self) -> int:
        """The number of measured runs on all devices."""
        return 1 if self.measured is None else max(1, len(self.measured.executions))

    @cached_property
    def by_name(self) -> Mapping[str, InstructionRow]:
        """The instructions by their names."""
        return {row.name: row for row in self.rows}

    @cached_property
    def by_computation(self) -> Mapping[str, Sequence[InstructionRow]]:
        """The instructions by their computations, without those of called computations."""
        computations: dict[str, list[InstructionRow]] = {}
        for row in self.rows:
            computations.setdefault(row.computation, []).append(row)
        return computations

    @cached_property
    def timed(self) -> Sequence[InstructionRow]:
        """The instructions whose time is known, those with most time first."""
        rows = (row for row in self.rows if row.is_timed)
        return sorted(rows, key=lambda row: (-row.run_ps, row.name))

    @property
    def costing(self) -> Iterator[InstructionRow]:
        """The instructions that cost something, or whose cost is unknown."""
        return (row for row in self.rows if row.has_cost)

    @cached_property
    def run_ps(self) -> float:
        """The time of all instructions in one run on one device in picoseconds."""
        return fsum(row.run_ps for row in self.timed)

    @property
    def owners(self) -> Mapping[str, InstructionFacts]:
        """The facts of the module text about the instructions with a time or a cost, by name."""
        return {} if self.dump is None else owners_of(self.dump, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(sorted({row.name for row in self._relevant_rows()}))

    def _relevant_rows(self) -> Iterator[InstructionRow]:
        yield from self.timed
        yield from (row for row in self.costing if not row.is_timed)

    def share(self, part: InstructionRow | InstructionGroup) -> float:
        """Return the share of an instruction or a group in the time of a run."""
        return part.run_ps / self.run_ps if self.run_ps else 0.0

    def groups(self, key: InstructionKey) -> list[InstructionGroup]:
        """Return the instructions by a key, the group with most time first."""
        owners = self.owners
        members: dict[str, list[InstructionRow]] = {}
        sources: dict[str, SourceLine | None] = {}
        for row in self._relevant_rows():
            checkpoint()
            owner = owners.get(row.name)
            name = group_of(row.name, owner, key)
            members.setdefault(name, []).append(row)
            sources[name] = _source(owner, key)
        groups = (
            InstructionGroup(name, sources[name], tuple(rows), self.chip)
            for name, rows in members.items()
        )
        return sorted(groups, key=lambda group: (-group.run_ps, group.name))

    def cost_groups(self, key: InstructionKey) -> list[InstructionGroup]:
        """Return the groups with a cost, those with the most time, else the most FLOPs, first.

        Of a group by owner, the FLOPs are those of the instructions inside of fusions that belong
        to it; the bytes and the time of a fusion belong to its own group.
        """
        groups = {group.name: group for group in self.groups(key)}
        if key in _OWNER_KEYS:
            fused = dict.fromkeys(groups, NO_COST)
            for row, parts in self.parts():
                for part in parts:
                    name = group_of(row.name, part.facts, key)
                    if name not in fused:  # a line that is only inside of fusions
                        source = _source(part.facts, key)
                        groups[name] = InstructionGroup(name, source, (), self.chip)
                    fused[name] = fused.get(name, NO_COST) + part.cost
            groups = {name: replace(group, fused=fused[name]) for name, group in groups.items()}
        found = (group for group in groups.values() if group.cost.instructions or not group.rows)
        return sorted(found, key=_cost_order)

    def parts(self) -> Iterator[tuple[InstructionRow, list[CostPart]]]:
        """Yield the instructions that cost something, with their FLOPs by owner, their own first.

        In all executions, the FLOPs of a fusion belong to the owners of the instructions in it.
        """
        if self.dump is None or self.cost is None:
            return
        owners, fused = self.owners, FusedOwners(self.dump)
        for row in self.costing:
            if row.cost is not None:
                yield row, _parts(self.cost, row.cost, owners.get(row.name), fused)

    def achieved(self, rows: Iterable[InstructionRow]) -> AchievedRates | None:
        """Return the rates of instructions in their own time, None if that of none is known.

        Those without own time, of unknown cost, or that are halves of an asynchronous operation are
        left out. Bytes are those outside of on-chip memory.
        """
        flops = size = own_ps = 0
        least_ps = 0.0
        for row in rows:
            cost, time = row.cost, row.measured
            if cost is None or cost.cost is None or time is None or not time.own_ps:
                continue
            if cost.instruction.opcode.endswith(ASYNC_ENDINGS):
                continue
            flops += cost.cost.flops * time.occurrences
            size += cost.memory_bytes * time.occurrences
            own_ps += time.own_ps
            if row.least is not None:
                least_ps += row.least.ps / cost.executions * time.occurrences
        if not own_ps:
            return None
        chip, dump = self.chip, self.dump
        has_roofline = chip is not None and dump is not None and can_run(chip, dump)
        share = least_ps / own_ps if has_roofline else None
        return AchievedRates(flops * PICOSECONDS / own_ps, size * PICOSECONDS / own_ps, share)


def _source(owner: InstructionFacts | None, key: InstructionKey) -> SourceLine | None:
    return owner.source if owner is not None and key is InstructionKey.LINE else None


def _cost_order(group: InstructionGroup) -> tuple[float, int, int, str]:
    cost = group.cost
    return -(cost.least_ps or 0.0), -cost.cost.flops, -cost.cost.bytes_accessed, group.name


@dataclass(frozen=True, eq=False)
class CostTable(InstructionTable):
    """The instructions of a program of known cost."""

    cost: ProgramCost


NO_INSTRUCTIONS = InstructionTable(None, None, None, ())


def _parts(
    program: ProgramCost, row: InstructionCost, facts: InstructionFacts | None, fused: FusedOwners
) -> list[CostPart]:
    whole = CostPart(facts, row.instruction, row.total.with_bytes(0))
    if facts is None or row.instruction.opcode != "fusion":
        return [whole]
    others: dict[InstructionFacts, CostPart] = {}
    for member, cost in program.xla_costs.fusions.parts(row.instruction):
        checkpoint()
        owner = fused.facts(member, facts)
        if owner != facts:
            part = others.get(owner) or CostPart(owner, member, NO_COST)
            others[owner] = part._replace(cost=part.cost + cost.times(row.executions))
    flops = whole.cost.flops - sum(part.cost.flops for part in others.values())
    rest = whole.cost.transcendentals - sum(part.cost.transcendentals for part in others.values())
    if min(flops, rest) < 0:  # of a fusion that does not run all instructions in it
        return [whole]
    return [whole._replace(cost=Cost(flops, rest)), *others.values()]


@query
def cost_table(dump: Compile, chip: Chip | None) -> CostTable | None:
    """Return the instructions of a compile without measured times, None without a module text."""
    cost = program_cost(dump, chip)
    return None if cost is None else CostTable(dump, cost, None, tuple(_rows(dump, cost, None)))


def measured_table(
    dump: Compile | None, cost: ProgramCost | None, measured: ProgramTime
) -> InstructionTable:
    """Return the instructions of a program with their measured times."""
    return InstructionTable(dump, cost, measured, tuple(_rows(dump, cost, measured)))


def _rows(
    dump: Compile | None, cost: ProgramCost | None, measured: ProgramTime | None
) -> Iterator[InstructionRow]:
    times: dict[str, InstructionTime] = {}
    runs = 1
    if measured is not None:
        times = {time.name: time for time in measured.instructions}
        runs = max(1, len(measured.executions))
    chip = None if cost is None else cost.chip
    costs = () if cost is None else cost.executed.instructions
    last = {row.instruction.name: row for row in costs}  # names of damaged texts can be equal
    for row in costs:
        checkpoint()
        name = row.instruction.name
        time = times.pop(name, None) if last[name] is row else None
        least = None if chip is None or row.cost is None else least_time(row, chip)
        run_ps = 0.0 if least is None else least.ps
        if measured is not None:
            run_ps = 0.0 if time is None else time.own_ps / runs
        yield InstructionRow(name, row.computation.name, row, least, time, run_ps)
    for name, time in times.items():
        yield InstructionRow(name, _computation(dump, name), None, None, time, time.own_ps / runs)


def _computation(dump: Compile | None, name: str) -> str:
    """Return the name of the computation of an instruction, empty if it is unknown."""
    line = None if dump is None else dump.instruction(name)
    file = None if dump is None else dump.module_file
    if line is None or file is None or line.file is not file:
        return ""
    computation = file.module.computation_of(line.record)
    return "" if computation is None else computation.name


@query
def owners_of(dump: Compile, names: tuple[str, ...]) -> Mapping[str, InstructionFacts]:
    """Return what the module text says about instructions, by name."""
    return instruction_facts(dump, names)
