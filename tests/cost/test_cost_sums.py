"""Tests for sums of costs."""

from cost.costs import cost_of_text, module
from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.roofline import cost_sum

_SIZES = (3, 7, 11, 13, 1_000_003, 17, 19, 23, 99_991, 29)


def test_order_of_instructions_does_not_change_times() -> None:
    lines = [f"%n{size} = f32[{size}] negate(f32[{size}] %p)" for size in _SIZES]
    chip = chips()["v5e"]
    rows = cost_of_text(module(*lines), chip).executed.instructions
    sums = {cost_sum(rows[first:] + rows[:first], chip).least_ps for first in range(len(rows))}
    assert len(sums) == 1
