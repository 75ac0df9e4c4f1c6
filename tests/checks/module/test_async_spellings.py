"""Tests for findings in both spellings of asynchronous operations."""

import pytest

from async_spellings import SPELLINGS, AsyncSpelling
from checks.damage import reports

_REDUCE_SCATTER = next(one for one in SPELLINGS if one.opcode == "reduce-scatter").short


@pytest.mark.parametrize("spelling", SPELLINGS, ids=[one.opcode for one in SPELLINGS])
def test_valid_spellings_have_no_findings(spelling: AsyncSpelling) -> None:
    assert reports(spelling.short) == reports(spelling.dumped) == []


@pytest.mark.parametrize(
    ("good", "bad", "code", "message"),
    [
        (
            "to_apply=%add",
            "to_apply=%sum",
            "undefined-computation",
            "undefined computation `sum`",
        ),
        (
            ", to_apply=%add",
            "",
            "missing-attribute",
            "`reduce-scatter-start` needs `to_apply`",
        ),
        (
            "%done = f32[32,128]",
            "%done = f32[32,64]",
            "shape-mismatch",
            "the result is `f32[32,64]`, but the result of `start` is `f32[32,128]`",
        ),
        (
            "((f32[64,128]{1,0})",
            "((f32[64,64]{1,0})",
            "shape-mismatch",
            "`p` is `f32[64,128]`, but the shape of the start has `f32[64,64]`",
        ),
    ],
)
def test_damage_in_short_spelling_is_reported(good: str, bad: str, code: str, message: str) -> None:
    found = reports(_REDUCE_SCATTER.replace(good, bad))
    assert (code, message) in [
        (found_code, found_message) for found_code, _, found_message in found
    ]
