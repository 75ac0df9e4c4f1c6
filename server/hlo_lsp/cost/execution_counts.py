"""The runs of the computations of a schedule: loops by trip count, branches by their work."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.physical_costs import PhysicalCosts
from hlo_lsp.hlo.dataflow import callees_first
from hlo_lsp.hlo.vocabulary import CALLING_OPCODES
from hlo_lsp.program.dataflow import offloaded_computation, ordered_callees
from hlo_lsp.program.trip_counts import trip_count
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_EXECUTIONS = (1 << 63) - 1  # a number of XLA; nested loops of a damaged text run more often


class _Work(NamedTuple):
    """The FLOPs and bytes of a computation, and what is unknown in it."""

    size: tuple[int, int]
    unknown_calls: tuple[str, ...]
    unknown_loops: tuple[str, ...]


class ExecutionCounts:
    """The computations of a schedule with the number of their executions.

    Attributes:
        unknown_loops: The loops whose trip count is unknown; one iteration counts.
        unknown_calls: The number of custom calls of unknown cost in branches that do not count, by
            their target.
        conditionals: The number of conditionals.
    """

    def __init__(self, costs: PhysicalCosts) -> None:
        self._costs = costs
        self._module = costs.module
        self._callees: dict[ComputationLine, list[tuple[ComputationLine, int]]] = {}
        self._works: dict[ComputationLine, _Work] = {}
        self._repeated: set[ComputationLine] = set()  # by loops of unknown trip count
        self.unknown_loops: list[str] = []
        self.unknown_calls: Counter[str] = Counter()
        self.conditionals = 0

    def instructions(self) -> Iterator[tuple[InstructionLine, ComputationLine, int, bool]]:
        """Yield the instructions that run, in the order of the text, computation by computation.

        Each is with its computation, the number of its executions, and whether this is all of them.
        """
        for computation, count in self._executions().items():
            is_complete = computation not in self._repeated
            for member in self._module.members(computation):
                checkpoint()
                if count and not self._calls_schedule(member):
                    yield member, computation, count, is_complete

    def _executions(self) -> dict[ComputationLine, int]:
        """Return how often each computation of the schedule runs, callers first."""
        entry = self._module.entry
        if entry is None:
            return {}
        counts = {entry: 1}
        order = self._callers_first(entry)
        for computation in order:
            for callee, times in self._callees[computation]:
                count = counts.get(callee, 0) + counts.get(computation, 0) * times
                counts[callee] = min(count, _MAX_EXECUTIONS)
                if computation in self._repeated:
                    self._repeated.add(callee)
        return {computation: counts.get(computation, 0) for computation in order}

    def _callers_first(self, entry: ComputationLine) -> list[ComputationLine]:
        done: dict[ComputationLine, None] = {}
        waiting: list[tuple[ComputationLine, bool]] = [(entry, False)]
        while waiting:
            computation, is_walked = waiting.pop()
            if is_walked:
                done[computation] = None
            elif computation not in self._callees:
                self._callees[computation] = list(self._calls(computation))
                waiting.append((computation, True))
                waiting += [(callee, False) for callee, _ in self._callees[computation]]
        return list(reversed(done))

    def _calls(self, computation: ComputationLine) -> Iterator[tuple[ComputationLine, int]]:
        """Yield the computations that a computation runs, each with the number of executions."""
        for member in self._module.members(computation):
            checkpoint()
            if not self._calls_schedule(member):
                continue
            callees = [
                (callee.attribute, callee.computation)
                for callee in ordered_callees(self._module, member)
                if callee.computation is not None
            ]
            if member.opcode == "conditional":
                self.conditionals += 1
                callees = self._largest(callees)
            times: int | None = 1
            if member.opcode == "while":
                times = trip_count(self._module, member)
            if times is None:
                self.unknown_loops.append(member.name)
                self._repeated.update(callee for _, callee in callees)
            for attribute, callee in callees:
                # The condition runs once more than the body, when it ends the loop.
                ends = attribute == "condition" and times is not None
                yield callee, (1 if times is None else times) + ends

    def _largest(
        self, branches: list[tuple[str, ComputationLine]]
    ) -> list[tuple[str, ComputationLine]]:
        """Return the branch with the most work; what is unknown in others is unknown of both."""
        works = [self._work(callee) for _, callee in branches]
        at = max(range(len(works)), key=lambda number: works[number].size, default=0)
        for number, work in enumerate(works):
            if number != at:
                self.unknown_calls.update(work.unknown_calls)
                self.unknown_loops += work.unknown_loops
        return branches[at : at + 1]

    def _work(self, computation: ComputationLine) -> _Work:
        """Return the work of a computation each time it runs, with all that it calls."""
        works = self._works
        if computation not in works:
            for callee in callees_first(computation, self._scheduled_in, works.__contains__):
                works[callee] = self._own_work(callee)
        return works[computation]

    def _scheduled_in(self, computation: ComputationLine) -> Iterator[ComputationLine]:
        """Yield the computations in the schedule that a computation calls."""
        for member in self._module.members(computation):
            if self._calls_schedule(member):
                yield from self._module.called_by(member)

    def _own_work(self, computation: ComputationLine) -> _Work:
        """Return the work of a computation, of whose callees it is known."""
        none = _Work((0, 0), (), ())  # for damaged texts that call themselves
        flops = bytes_accessed = 0
        calls: list[str] = []
        loops: list[str] = []
        for member in self._module.members(computation):
            checkpoint()
            if not self._calls_schedule(member):
                cost = self._costs.of(member)
                flops, bytes_accessed = flops + cost.flops, bytes_accessed + cost.bytes_accessed
                calls += self._costs.unknown_in(member)
                continue
            times: int | None = 1
            if member.opcode == "while":
                times = trip_count(self._module, member)
                loops += [member.name] if times is None else []
            works = [self._works.get(callee, none) for callee in self._module.called_by(member)]
            sizes = [work.size for work in works]
            if member.opcode == "conditional":
                sizes = [max(sizes, default=(0, 0))]
            repeats = 1 if times is None else times
            flops += repeats * sum(size[0] for size in sizes)
            bytes_accessed += repeats * sum(size[1] for size in sizes)
            for work in works:
                calls += work.unknown_calls
                loops += work.unknown_loops
        return _Work((flops, bytes_accessed), tuple(calls), tuple(loops))

    def _calls_schedule(self, instruction: InstructionLine) -> bool:
        """Return whether the instructions of called computations count instead of this one."""
        return (
            instruction.opcode in CALLING_OPCODES
            or offloaded_computation(self._module, instruction) is not None
        )
