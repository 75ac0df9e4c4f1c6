"""Tests for the steps at which a value occupies its bytes."""

import pytest

import marked_dump
from hlo_lsp.memory.occupied_steps import OccupiedSteps, occupied_steps


@pytest.mark.parametrize(
    ("steps", "text", "is_at_peak"),
    [
        (OccupiedSteps(5, 2062), "steps 5-2,062", None),
        (OccupiedSteps(5, 5, peak_step=5), "step 5, at the peak", True),
        (OccupiedSteps(5, 9, peak_step=4), "steps 5-9, not at the peak", False),
        (
            OccupiedSteps(0, 1014, is_fixed=True, is_input=True, peak_step=1061),
            "whole program, last read at step 1,014",
            True,
        ),
        (OccupiedSteps(0, 9, is_fixed=True, is_input=True, is_kept=True), "whole program", None),
        (
            OccupiedSteps(8, 9, is_fixed=True, is_kept=True, peak_step=1),
            "whole program, written at step 8",
            True,
        ),
        (OccupiedSteps(3, 8, is_fixed=True), "whole program, for data of steps 3-8", None),
    ],
)
def test_text_tells_when_bytes_are_occupied(
    steps: OccupiedSteps, text: str, is_at_peak: bool | None
) -> None:
    assert steps.text == text
    assert steps.is_at_peak is is_at_peak


@pytest.mark.parametrize(
    ("value_id", "is_fixed", "is_input"), [(3, True, True), (5, False, False), (8, True, False)]
)
def test_only_bytes_of_temp_allocations_are_reused(
    value_id: int, is_fixed: bool, is_input: bool
) -> None:
    dump = marked_dump.one_file().dump
    value = dump.value(value_id)
    assert value is not None
    found = occupied_steps(dump, value)
    assert found is not None
    assert (found.is_fixed, found.is_input) == (is_fixed, is_input)
