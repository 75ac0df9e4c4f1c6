"""The model FLOPs utilization (MFU) of a program on a chip, and the waits for its network.

Both follow from what overlaps: asynchronous operations, and the work meanwhile.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.roofline import Bound, least_time
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.program.transfers import (
    ASYNC_ENDINGS,
    async_operations,
    fused_collective,
    is_communication,
    started_computations,
)
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text.amounts import PICOSECONDS


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


@dataclass(frozen=True, slots=True)
class NetworkTransfer:
    """A collective with the times of all its executions in picoseconds.

    Attributes:
        done: The instruction that waits for it, None for a synchronous collective.
        wire_bytes: The bytes that the device sends in all executions.
        least_ps: The least time on the network.
        work_ps: The least time of the instructions until done, once all operands are passed.
    """

    start: InstructionLine
    done: InstructionLine | None
    wire_bytes: int
    least_ps: float
    work_ps: float

    @property
    def uncovered_ps(self) -> float:
        """The part of the least time that is longer than that of the work meanwhile."""
        return max(0.0, self.least_ps - self.work_ps)


def network_transfers(program: ProgramCost) -> list[NetworkTransfer] | None:
    """Return the collectives of a program, the one with most uncovered time first.

    Returns None without a chip whose network is known, and without a scheduled module text.
    """
    file, chip = program.dump.module_file, program.chip
    scheduled = None if file is None else scheduled_instructions(file.module)
    operations = None if file is None else async_operations(file.module)
    if file is None or scheduled is None or operations is None:
        return None
    if chip is None or chip.network_bytes_per_second is None:
        return None
    rows = {row.instruction: row for row in program.executed.instructions}
    started = {operation.start: operation for operation in operations}
    # An async-start runs the collective in a computation of its own.
    starts = started_computations(file.module, scheduled)
    work = [_work_ps(rows.get(instruction), program, starts) for instruction in scheduled]
    before = dict(zip(scheduled, accumulate(work, initial=0.0), strict=False))

    def transfers() -> Iterator[NetworkTransfer]:
        for instruction, row in rows.items():
            start = starts.get(row.computation, instruction)
            if row.wire_bytes and start in before:
                operation = started.get(start)
                meanwhile = 0.0
                if operation is not None:
                    meanwhile = before[operation.done] - before[operation.ready]
                elif not is_communication(file.module, start):
                    # XLA overlaps the collective with the rest of the fusion.
                    meanwhile = least_time(replace(row, wire_bytes=0), chip).ps
                sent = row.wire_bytes * row.executions
                least = PICOSECONDS * sent / (chip.network_bytes_per_second or float("inf"))
                done = None if operation is None else operation.done
                yield NetworkTransfer(start, done, sent, least, meanwhile)

    return sorted(transfers(), key=lambda transfer: (-transfer.uncovered_ps, transfer.start.name))


def _work_ps(
    row: InstructionCost | None,
    program: ProgramCost,
    asynchronous: Container[ComputationLine],
) -> float:
    """Return the least time of an instruction that is not a transfer itself."""
    if row is None or program.chip is None or row.wire_bytes or row.computation in asynchronous:
        return 0.0
    if row.instruction.opcode.endswith(ASYNC_ENDINGS):
        return 0.0
    return least_time(row, program.chip).ps
