"""Tests for costs of both spellings of asynchronous operations."""

from collections import Counter

import pytest

from async_spellings import SPELLINGS, AsyncSpelling, compile_of
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.cost.program_cost import program_cost


@pytest.mark.parametrize("spelling", SPELLINGS, ids=[one.opcode for one in SPELLINGS])
def test_spellings_have_equal_costs(spelling: AsyncSpelling) -> None:
    assert _costs(spelling.short) == _costs(spelling.dumped)


def _costs(text: str) -> tuple[object, ...]:
    dump, file = compile_of(text.replace("{1,0}", "{1,0:T(8,128)}"))
    program = program_cost(dump, chip_of(dump, "v5e"))
    assert program is not None
    rows = Counter(
        (
            *(file.module.opcode(one.instruction), one.instruction.shape, one.cost),
            *(one.memory_bytes, one.wire_bytes, one.executions),
        )
        for one in program.executed.instructions
    )
    return rows, program.xla, program.libtpu, program.executed.unknown_calls
