"""An upper bound of the model FLOPs utilization (MFU) of a program on a chip."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.roofline import Bound, least_time
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.transfers import ASYNC_ENDINGS, fused_collective
from hlo_lsp.syntax.module_records import ComputationLine


@dataclass(frozen=True, slots=True)
class Utilization:
    """The time that the FLOPs of a run take at the peak, and the least time of the run.

    Attributes:
        compute_ps: The FLOPs divided by the peak for their types, in picoseconds.
        elapsed_ps: The least time if asynchronous operations overlap with all other
            instructions. So it is not more than the sum of the least times of all instructions.
    """

    compute_ps: float
    elapsed_ps: float

    @property
    def share(self) -> float:
        """The utilization of the matrix unit that no run exceeds."""
        return self.compute_ps / self.elapsed_ps


def utilization_bound(program: ProgramCost) -> Utilization | None:
    """Return the bound, or None where FLOPs or times are not known or not those of each run.

    That is without a chip, for a text that is not scheduled, with unknown costs or loops, and with
    conditionals.
    """
    file, chip, executed = program.dump.module_file, program.chip, program.executed
    header = None if file is None else file.module.header
    if file is None or chip is None or header is None or not header.is_scheduled:
        return None
    compute = program.total.resource_ps[Bound.COMPUTE]
    if not compute or not executed.complete or executed.conditionals:
        return None
    sequential = _sequential_ps(executed.instructions, file.module, chip)
    return Utilization(compute, max(sequential, *program.total.resource_ps.values()))


def _sequential_ps(rows: Iterable[InstructionCost], module: ModuleIndex, chip: Chip) -> float:
    """Return the least time of the instructions that run in sequence, in picoseconds."""
    is_async: dict[ComputationLine, bool] = {}
    sequential = 0.0
    for cost in rows:
        checkpoint()
        row, instruction = cost, cost.instruction
        if row.computation not in is_async:
            callers = module.callers(row.computation)
            is_async[row.computation] = any(one.opcode == "async-start" for one in callers)
        if is_async[row.computation] or instruction.opcode.endswith(ASYNC_ENDINGS):
            continue
        if row.wire_bytes and instruction.opcode == "fusion":
            part = fused_collective(module, instruction)
            if part is not None and part[0]:
                continue
            if part is None:  # later fusions can continue the collective
                row = replace(row, wire_bytes=0)
        sequential += least_time(row, chip).ps
    return sequential
