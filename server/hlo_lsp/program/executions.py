"""The number of times that the instructions of a module run in one run of the program."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.call_order import callees_first
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.trip_counts import trip_count
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine


@dataclass(frozen=True, slots=True)
class ExecutionCount:
    """The number of executions; not exact if a loop around has an unknown trip count.

    Of such a loop, one iteration counts.
    """

    count: int
    is_exact: bool = True


_ONCE = ExecutionCount(1)


class Executions:
    """The numbers of executions of the instructions of a module, each found on request.

    Each branch of a conditional counts as if it runs.
    """

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._counts: dict[ComputationLine, ExecutionCount] = {}

    def of(self, instruction: InstructionLine) -> ExecutionCount:
        """Return how often an instruction runs."""
        computation = self._module.computation_of(instruction)
        if computation is None:
            return _ONCE
        if computation not in self._counts:
            order = callees_first(computation, self._callers, self._counts.__contains__)
            for one in list(order):
                self._counts[one] = self._count(one)
        return self._counts[computation]

    def _callers(self, computation: ComputationLine) -> Iterator[ComputationLine]:
        for caller in self._module.callers(computation):
            home = self._module.computation_of(caller)
            if home is not None:
                yield home

    def _count(self, computation: ComputationLine) -> ExecutionCount:
        """Return the number for a computation whose callers have theirs."""
        if computation is self._module.entry:
            return _ONCE
        count, is_exact = 0, True
        for caller in self._module.callers(computation):
            checkpoint()
            home = self._module.computation_of(caller)
            around = _ONCE if home is None else self._counts.get(home, _ONCE)
            iterations = trip_count(self._module, caller) if caller.opcode == "while" else 1
            count += around.count * (1 if iterations is None else iterations)
            is_exact &= around.is_exact and iterations is not None
        return ExecutionCount(count, is_exact)
