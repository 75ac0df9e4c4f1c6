"""The costs of collectives on the SparseCore are those of the same collectives elsewhere."""

from collections import Counter
from pathlib import Path

import pytest

from hlo_lsp.cost.chips import chip_of
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.cost.utilization import NetworkTransfer, network_transfers
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.instruction_owners import instruction_facts
from hlo_lsp.program.transfers import async_operations
from sparse_core_texts import CALL, COLLECTIVES, CUSTOM_CALL, direct_text, offloaded_text

of_each_collective = pytest.mark.parametrize("opcode", COLLECTIVES)
of_each_call = pytest.mark.parametrize("call", [CUSTOM_CALL, CALL], ids=["custom-call", "call"])


@of_each_call
@of_each_collective
def test_offloaded_collective_costs_the_same(opcode: str, call: str) -> None:
    offloaded, direct = _cost(offloaded_text(opcode, call)), _cost(direct_text(opcode))
    assert _rows(offloaded) == _rows(direct)
    assert offloaded.executed.complete
    assert offloaded.total.wire_bytes == direct.total.wire_bytes > 0


def _rows(program: ProgramCost) -> list[tuple[object, ...]]:
    return [
        (one.instruction.opcode, one.cost, one.memory_bytes, one.wire_bytes, one.executions)
        for one in program.executed.instructions
        if one.total.bytes_accessed
    ]


@of_each_call
@of_each_collective
def test_offloaded_collective_takes_the_same_time(opcode: str, call: str) -> None:
    offloaded, direct = _transfer(offloaded_text(opcode, call)), _transfer(direct_text(opcode))
    assert (offloaded.start.name, offloaded.done and offloaded.done.name) == ("start", "done")
    assert (offloaded.wire_bytes, offloaded.least_ps) == (direct.wire_bytes, direct.least_ps)
    # The direct one starts before the sine, the other one when its operand is passed.
    assert offloaded.work_ps == pytest.approx(direct.work_ps / 2)


def _transfer(text: str) -> NetworkTransfer:
    (found,) = network_transfers(_cost(text)) or []
    return found


def _cost(text: str) -> ProgramCost:
    dump = Compile([DumpFile.of_text(text)])
    found = program_cost(dump, chip_of(dump, "tpu7x"))
    assert found is not None
    return found


def test_collectives_of_a_real_program_have_costs_and_lines(tpu7x_fsdp: Path) -> None:
    path = next(tpu7x_fsdp.glob("*.after_optimizations.txt"))
    workspace = DumpWorkspace()
    dump = workspace.compile_of(workspace.file(path))
    program = program_cost(dump, chip_of(dump))
    assert program is not None
    assert program.executed.complete
    transfers = network_transfers(program) or []
    module = workspace.file(path).module
    starts = [one for one in async_operations(module) or [] if one.start.opcode == "async-start"]
    kinds = Counter(one.kind for one in starts)
    collectives = {"all-gather": 2, "reduce-scatter": 2, "all-reduce": 1}
    assert {kind: kinds[kind] for kind in collectives} == collectives
    names = {one.start.name for one in starts if one.kind in collectives}
    assert names <= {one.start.name for one in transfers}
    facts = instruction_facts(dump, names)
    assert all(one.source is not None and one.communicates for one in facts.values())
