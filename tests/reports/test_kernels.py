"""Tests for hlo_lsp.reports.kernels."""

from async_spellings import SPELLINGS, compile_of
from hlo_lsp.reports.kernels import kernel_table


def test_omitted_instructions_have_no_rows() -> None:
    spelling = next(one for one in SPELLINGS if one.opcode == "slice")
    printed, dumped = (
        [line.split(",")[1] for line in kernel_table([compile_of(text)[0]]).splitlines()]
        for text in (spelling.short, spelling.dumped)
    )
    assert printed == ["instruction", "start", "neg", "done"]
    assert sorted(dumped) == sorted([*printed, "run"])
