"""The cost of a compile in both conventions, and sums over its instructions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import ExecutedCost, InstructionCost, executed_cost
from hlo_lsp.cost.libtpu import libtpu_costs
from hlo_lsp.cost.module_costs import FusionIndex, ModuleCosts
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import NO_COST, Cost, SizeOf
from hlo_lsp.cost.roofline import Bound, least_time, padding_flops, resource_seconds
from hlo_lsp.cost.xla import xla_costs, xla_size
from hlo_lsp.model.backend import HOST_MEMORY_SPACE, Backend, is_on_chip
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import sizes_of_text, target_of
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.instruction_owners import (
    FusedOwners,
    InstructionFacts,
    InstructionKey,
    group_of,
    instruction_facts,
)
from hlo_lsp.program.stages import is_optimized
from hlo_lsp.syntax.module_records import InstructionLine

_Number = TypeVar("_Number", int, float)
_OWNER_KEYS = frozenset({InstructionKey.LINE, InstructionKey.SCOPE, InstructionKey.PHASE})


@dataclass(frozen=True, slots=True)
class CostGroup:
    """Instructions with one key, and the sums of their costs over all executions.

    Attributes:
        source: The Python line if the name is one.
        memory_bytes: The bytes of ``cost`` outside of on-chip memory.
        seconds: The least time, None without a chip.
        bound: The resource that bounds most of this time, None for no time.
        unknown: The number of instructions of unknown cost.
        padding_flops: The FLOPs that the matrix unit wastes at least, because dimensions of
            matrices do not fill it; None without a chip with such a unit.
        estimated_cycles: The estimates of the compiler, None if it prints none.
        bound_seconds: The least times of the instructions by what bounds each; they add up to
            ``seconds``. Zeros without a chip.
        resource_seconds: The time that each resource takes for all instructions. Zeros without a
            chip.
    """

    name: str
    source: SourceLine | None
    instructions: int
    executions: int
    cost: Cost
    memory_bytes: int
    wire_bytes: int
    seconds: float | None
    bound: Bound | None
    unknown: int
    padding_flops: int | None
    estimated_cycles: int | None
    bound_seconds: Mapping[Bound, float] = field(hash=False)
    resource_seconds: Mapping[Bound, float] = field(hash=False)

    @property
    def intensity(self) -> float | None:
        """The FLOPs for each byte of memory traffic, None without traffic."""
        return self.cost.flops / self.memory_bytes if self.memory_bytes else None


@dataclass(frozen=True, slots=True)
class ProgramCost:
    """The cost of a compile.

    Attributes:
        chip: The chip for times, None if it is unknown or the text is not optimized.
        total: All instructions as one group.
        xla_costs: The costs by XLA's conventions, computed on request. They read nothing that
            ``executed`` has not read.
        libtpu_costs: The same by those of libtpu, None unless libtpu scheduled the module.
        has_table_sizes: False if the tables of tuples have an unknown size, so that the bytes by
            the conventions of libtpu are lower bounds.
    """

    dump: Compile
    chip: Chip | None
    executed: ExecutedCost
    total: CostGroup
    xla_costs: ModuleCosts = field(compare=False, repr=False)
    libtpu_costs: ModuleCosts | None = field(compare=False, repr=False)
    has_table_sizes: bool = True

    @property
    def is_optimized(self) -> bool:
        """False if the compiler still transforms the text, so that no time is a lower bound."""
        file = self.dump.module_file
        return file is None or is_optimized(file)

    @property
    def memory_title(self) -> str:
        """What the bytes outside of on-chip memory are called; a CPU has no such memory."""
        return "accessed" if self.dump.backend is Backend.CPU else "off chip"

    @property
    def xla(self) -> Cost:
        """The cost of the program by XLA's conventions."""
        return self.xla_costs.total

    @property
    def libtpu(self) -> Cost | None:
        """The cost of a TPU program by the conventions of libtpu."""
        return None if self.libtpu_costs is None else self.libtpu_costs.total

    @property
    def costing(self) -> list[InstructionCost]:
        """The instructions that cost something, or whose cost is unknown."""
        return [
            one
            for one in self.executed.instructions
            if one.cost is None or one.cost != Cost() or one.wire_bytes
        ]

    def groups(
        self, key: InstructionKey, facts: Mapping[str, InstructionFacts] | None = None
    ) -> list[CostGroup]:
        """Return the groups by a key, those with the most time, else the most FLOPs, first.

        Of a group by owner, the FLOPs are those of the instructions inside of fusions that belong
        to it; the bytes and the time of a fusion belong to its own group.

        Args:
            key: What the instructions of a group have in common.
            facts: Those of the instructions in ``costing``, if they are known.
        """
        costing = self.costing
        if facts is None:
            facts = instruction_facts(self.dump, (one.instruction.name for one in costing))
        members: dict[str, list[InstructionCost]] = {}
        sources: dict[str, SourceLine | None] = {}
        arithmetic: dict[str, Cost] = {}
        owners = FusedOwners(self.dump)
        for one in costing:
            name = one.instruction.name
            own = facts.get(name)
            group = group_of(name, own, key)
            members.setdefault(group, []).append(one)
            for part in self.parts(one, own, owners) if key in _OWNER_KEYS else ():
                group = group_of(name, part.facts, key)
                arithmetic[group] = arithmetic.get(group, NO_COST) + part.cost
                sources[group] = None if part.facts is None else part.facts.source
        groups = []
        for name in members | arithmetic:
            found = _group(name, None, members.get(name, []), self.chip)
            if key in _OWNER_KEYS:
                cost = arithmetic.get(name, NO_COST).with_bytes(found.cost.bytes_accessed)
                source = sources.get(name) if key is InstructionKey.LINE else None
                found = replace(found, source=source, cost=cost)
            groups.append(found)
        return sorted(groups, key=_order)

    def parts(
        self, row: InstructionCost, facts: InstructionFacts | None, owners: FusedOwners
    ) -> list["CostPart"]:
        """Return the FLOPs of all executions of an instruction by owner, its own first.

        Args:
            row: The cost of the instruction.
            facts: Those of the instruction.
            owners: Those of the instructions inside of fusions.
        """
        whole = CostPart(facts, row.instruction, row.total.with_bytes(0))
        if facts is None or row.instruction.opcode != "fusion":
            return [whole]
        others: dict[InstructionFacts, CostPart] = {}
        for member, cost in self.xla_costs.fusions.parts(row.instruction):
            checkpoint()
            owner = owners.facts(member, facts)
            if owner != facts:
                part = others.get(owner) or CostPart(owner, member, NO_COST)
                total = part.cost + cost.times(row.executions)
                others[owner] = replace(part, cost=total)
        flops = whole.cost.flops - sum(one.cost.flops for one in others.values())
        rest = whole.cost.transcendentals - sum(one.cost.transcendentals for one in others.values())
        if min(flops, rest) < 0:  # of a fusion that does not run all instructions in it
            return [whole]
        return [replace(whole, cost=Cost(flops, rest)), *others.values()]


@dataclass(frozen=True, slots=True)
class CostPart:
    """The FLOPs and the transcendental functions of an instruction that one owner has.

    Attributes:
        facts: Those of the instruction, with this owner; None if no text has it.
        instruction: The first instruction of this owner: itself, or one inside of the fusion.
        cost: That of all executions, without bytes.
    """

    facts: InstructionFacts | None
    instruction: InstructionLine
    cost: Cost


def _group(
    name: str, source: SourceLine | None, members: Sequence[InstructionCost], chip: Chip | None
) -> CostGroup:
    executions = flops = transcendentals = size = memory = wire = unknown = 0
    times, resources = dict.fromkeys(Bound, 0.0), dict.fromkeys(Bound, 0.0)
    for one in members:
        checkpoint()
        total = one.total
        flops += total.flops
        transcendentals += total.transcendentals
        size += total.bytes_accessed
        executions += one.executions
        memory += one.memory_bytes * one.executions
        wire += one.wire_bytes * one.executions
        unknown += one.cost is None
        if chip is None:
            continue
        seconds = resource_seconds(one, chip)
        for resource in Bound:
            resources[resource] += seconds[resource]
        least = least_time(one, chip)
        if least.bound is not None:
            times[least.bound] += least.seconds
    return CostGroup(
        name,
        source,
        len(members),
        executions,
        Cost(flops, transcendentals, size),
        memory,
        wire,
        None if chip is None else sum(times.values()),
        _longest(times),
        unknown,
        _padding(members, chip),
        sum(cycles) if (cycles := list(_cycles(members))) else None,
        times,
        resources,
    )


def merged(groups: Sequence[CostGroup], name: str) -> CostGroup:
    """Return the sums of at least one group as a group of another name."""

    def times(of: Callable[[CostGroup], Mapping[Bound, float]]) -> dict[Bound, float]:
        return {bound: sum(of(one)[bound] for one in groups) for bound in Bound}

    def known(numbers: Iterable[_Number | None]) -> _Number | None:
        found = [one for one in numbers if one is not None]
        return sum(found[1:], found[0]) if found else None

    bounds = times(lambda one: one.bound_seconds)
    costs = [one.cost for one in groups]
    return CostGroup(
        name,
        None,
        sum(one.instructions for one in groups),
        sum(one.executions for one in groups),
        Cost(
            sum(one.flops for one in costs),
            sum(one.transcendentals for one in costs),
            sum(one.bytes_accessed for one in costs),
        ),
        sum(one.memory_bytes for one in groups),
        sum(one.wire_bytes for one in groups),
        known(one.seconds for one in groups),
        _longest(bounds),
        sum(one.unknown for one in groups),
        known(one.padding_flops for one in groups),
        known(one.estimated_cycles for one in groups),
        bounds,
        times(lambda one: one.resource_seconds),
    )


def _longest(times: Mapping[Bound, float]) -> Bound | None:
    longest = max(times, key=lambda bound: times[bound])
    return longest if times[longest] else None


def _padding(members: Sequence[InstructionCost], chip: Chip | None) -> int | None:
    if chip is None or chip.matrix_unit is None:
        return None
    padding = 0
    for one in members:
        checkpoint()
        padding += padding_flops(one, chip)
    return padding


def _cycles(members: Sequence[InstructionCost]) -> Iterator[int]:
    for one in members:
        checkpoint()
        if one.estimated_cycles is not None:
            yield one.executions * one.estimated_cycles


def _order(group: CostGroup) -> tuple[float, int, int, str]:
    cost = group.cost
    return (-(group.seconds or 0.0), -cost.flops, -cost.bytes_accessed, group.name)


@query
def program_cost(dump: Compile, chip: Chip | None) -> ProgramCost | None:
    """Return the cost of a compile, or None without a module text with an entry computation.

    Args:
        dump: The compile.
        chip: The chip for times; without one, and for a text that is not optimized, there are no
            times: what runs can take less than the text says.
    """
    file = dump.module_file
    if file is None or file.module.entry is None:
        return None
    operands = OperandIndex(file.module)
    fusions = FusionIndex(operands)
    sizes = _physical_sizes(dump, chip)
    executed = executed_cost(operands, *sizes, fusions, missing_part=missing_part(file))
    is_chip_known = target_of(dump).granule is not None or chip is not None
    has_table_sizes = is_chip_known or not any(
        one.shape.startswith("(") for one in file.module.instructions.records()
    )
    if not is_optimized(file):
        chip = None
    return ProgramCost(
        dump,
        chip,
        executed,
        _group("", None, executed.instructions, chip),
        xla_costs(operands, fusions),
        libtpu_costs(operands, sizes[0], fusions) if _is_by_libtpu(dump, file) else None,
        has_table_sizes,
    )


def _is_by_libtpu(dump: Compile, file: DumpFile) -> bool:
    header = file.module.header
    return dump.backend is Backend.TPU and header is not None and header.is_scheduled


def _physical_sizes(dump: Compile, chip: Chip | None) -> tuple[SizeOf, SizeOf, SizeOf]:
    """Return functions for the bytes of an array in memory, off the chip, and in host memory."""
    target = target_of(dump)
    if target.granule is None and chip is not None:  # no memory files
        target = replace(target, granule=chip.tuple_granule)

    def size_of(shape: str, _: str | None = None, /) -> int:
        size = sizes_of_text(shape, target).bytes
        return xla_size(shape) if size is None else size

    def space_of(array: str) -> int:
        whole = try_shape(array)
        return whole.memory_space if isinstance(whole, ArrayShape) else 0

    def memory_size_of(shape: str, array: str | None = None, /) -> int:
        space = space_of(shape if array is None else array)
        return 0 if is_on_chip(space, target.backend) else size_of(shape)

    def host_size_of(shape: str, array: str | None = None, /) -> int:
        space = space_of(shape if array is None else array)
        return size_of(shape) if space == HOST_MEMORY_SPACE else 0

    return size_of, memory_size_of, host_size_of
