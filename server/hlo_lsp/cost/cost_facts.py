"""The costs of a compile by instruction and by computation, for editors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import ExecutedCost, InstructionCost
from hlo_lsp.cost.operation import NO_COST, Cost
from hlo_lsp.cost.program_cost import CostGroup, ProgramCost, program_cost
from hlo_lsp.cost.roofline import Bound, least_time, may_be_cached
from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.text.amounts import format_flops, format_short_bytes, format_transcendentals

_MAX_NAMES = 5


@dataclass(frozen=True, slots=True)
class ExecutedInstruction:
    """The cost of an instruction that runs.

    Attributes:
        cost: Its cost each time it runs.
        seconds: The least time of all executions, None without a chip or if the cost is unknown.
        bound: The resource that bounds this time, None without one.
        may_be_cached: True if data in the cache of the chip takes less time.
        is_complete: False if it may run more often, in a loop of unknown trip count.
    """

    cost: InstructionCost
    seconds: float | None
    bound: Bound | None
    may_be_cached: bool
    is_complete: bool

    @property
    def is_known(self) -> bool:
        """False if it is, or contains, a custom call of unknown cost."""
        return self.cost.cost is not None and not self.cost.is_lower_bound

    @property
    def seconds_each(self) -> float | None:
        """The least time of one execution."""
        return None if self.seconds is None else self.seconds / max(1, self.cost.executions)


@dataclass(frozen=True, slots=True)
class CostFacts:
    """The costs of the instructions of a compile that cost something.

    Attributes:
        chip: The chip for times, None if it is unknown.
        instructions: By name.
        computations: The instructions of each computation by its name, without those of
            computations that it calls.
        total: All instructions as one group.
    """

    chip: Chip | None
    instructions: Mapping[str, ExecutedInstruction]
    computations: Mapping[str, Sequence[ExecutedInstruction]]
    total: CostGroup


@query
def cost_facts(dump: Compile, chip: Chip | None) -> CostFacts | None:
    """Return the costs of a compile, or None without a module text."""
    file, program = dump.module_file, program_cost(dump, chip)
    if file is None or program is None:
        return None
    chip = program.chip
    repeated = _repeated_computations(file.module, program)
    found = {}
    computations: dict[str, list[ExecutedInstruction]] = {}
    for one in program.executed.instructions:
        checkpoint()
        if one.cost == NO_COST and not one.wire_bytes:
            continue
        least = None if chip is None or one.cost is None else least_time(one, chip)
        bound = None if least is None else least.bound
        executed = found[one.instruction.name] = ExecutedInstruction(
            one,
            None if least is None else least.seconds,
            bound,
            chip is not None and may_be_cached(bound, chip),
            one.computation not in repeated,
        )
        computations.setdefault(one.computation.name, []).append(executed)
    return CostFacts(chip, found, computations, program.total)


def _repeated_computations(module: ModuleIndex, program: ProgramCost) -> set[ComputationLine]:
    """Return the computations that loops of unknown trip count run, directly or not."""
    found: set[ComputationLine] = set()
    loops = (module.instructions.first(name) for name in program.executed.unknown_loops)
    waiting = [callee for one in loops if one is not None for callee in module.called_by(one)]
    while waiting:
        computation = waiting.pop()
        if computation not in found:
            found.add(computation)
            for member in module.members(computation):
                waiting += module.called_by(member)
    return found


def describe_amounts(cost: Cost, memory_bytes: int, wire_bytes: int) -> Iterator[str]:
    """Yield ``12.6 GFLOP``, transcendentals, ``96.0 MiB accessed``, and ``8.0 MiB sent``."""
    yield format_flops(cost.flops)
    if cost.transcendentals:
        yield format_transcendentals(cost.transcendentals)
    accessed = f"{format_short_bytes(cost.bytes_accessed)} accessed"
    if memory_bytes != cost.bytes_accessed:
        accessed += f" ({format_short_bytes(memory_bytes)} off chip)"
    yield accessed
    if wire_bytes:
        yield f"{format_short_bytes(wire_bytes)} sent"


def unknown_parts(executed: ExecutedCost) -> Iterator[str]:
    """Yield what makes the cost of a program a lower bound; nothing if it is complete."""
    if executed.unknown_loops:
        names = join_limited(list(executed.unknown_loops), _MAX_NAMES)
        loops = count_noun(len(executed.unknown_loops), "loop")
        yield f"{loops} of unknown trip count, counted once: {names}"
    if executed.unknown_calls:
        calls = [f"{name} ({times})" for name, times in sorted(executed.unknown_calls.items())]
        number = count_noun(sum(executed.unknown_calls.values()), "custom call")
        yield f"{number} of unknown cost: {join_limited(calls, _MAX_NAMES)}"
    if executed.unbounded:
        number = count_noun(len(executed.unbounded), "array")
        names = join_limited(list(executed.unbounded), _MAX_NAMES)
        yield f"{number} of unknown size, with an unbounded dimension: {names}"
    if executed.missing_part is not None:
        yield f"only a part of the program: {executed.missing_part}"
