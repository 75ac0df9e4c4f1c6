"""Tests for ``stack-total``, ``stack-percent``, and ``stack-order``."""

from pathlib import Path

import pytest

from checks.live import change, problems, reports_after_change

SCATTER = (
    "      ├── jit(don)/scatter (0.5%, total: 16 384 bytes, current: 16 384 bytes, "
    "remaining: 20 bytes)\n"
)
SUM = (
    "      ├── jit(don)/reduce_sum (0.0%, total: 16 bytes, current: 16 bytes, remaining: 4 bytes)\n"
)


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "sentence"),
    [
        ("usage: 3 162 132", "usage: 3 162 133", "stack-total",
         "35:   Stack trace breakdown for peak usage: »3 162 133« bytes",
         "the tree of 3,162,133 B does not match its root: expected 3,162,132 B"),
        ("(0.5%, total: 16 384 bytes", "(0.5%, total: 16 385 bytes", "stack-total",
         "40: " + SCATTER.strip("\n").replace("total: 16 384", "total: »16 385«"),
         "total 16,385 B does not match the rows above and below: expected 16,384 B"),
        ("current: 16 384 bytes", "current: 384 bytes", "stack-total",
         "40: " + SCATTER.strip("\n").replace("current: 16 384", "current: »384«"),
         "current 384 B does not match the rows above and below: expected 16,384 B"),
        ("remaining: 20 bytes", "remaining: 21 bytes", "stack-total",
         "40: " + SCATTER.strip("\n").replace("remaining: 20", "remaining: »21«"),
         "remaining 21 B does not match the rows above and below: expected 20 B"),
        ("(0.5%", "(0.6%", "stack-percent", "40: " + SCATTER.strip("\n").replace("0.5", "»0.6«"),
         "0.6% does not match 16,384 B of 3,162,132 B: expected 0.5%"),
        (SCATTER + SUM, SUM + SCATTER, "stack-order",
         "41: " + SCATTER.replace("├", "»├").strip("\n") + "«",
         "`jit(don)/scatter` is listed after `jit(don)/reduce_sum`: expected by total, then name"),
    ],
)  # fmt: skip
def test_damaged_tree_is_reported_once(
    compiled: Path, old: str, new: str, *, code: str, place: str, sentence: str
) -> None:
    assert reports_after_change(compiled, old, new) == [(code, place, sentence)]


def test_contradicted_number_can_be_fixed(compiled: Path) -> None:
    change(compiled, "current: 16 384 bytes", "current: 384 bytes")
    (finding,) = problems(compiled)
    assert [fix.title for fix in finding.fixes] == ["Change to `16 384`"]


def test_missing_row_relates_rows_around_it(compiled: Path) -> None:
    change(compiled, SCATTER, "")
    (finding,) = problems(compiled)
    assert finding.code == "stack-total"
    assert finding.fixes == ()
    assert {other.place.line + 1 for other in finding.related} >= {39, 40}


def test_doubled_row_is_out_of_order(compiled: Path) -> None:
    assert {code for code, _, _ in reports_after_change(compiled, SCATTER, SCATTER + SCATTER)} == {
        "stack-order",
        "stack-total",
    }


def test_sums_with_unreadable_row_are_not_reported(compiled: Path) -> None:
    assert reports_after_change(compiled, "current: 16 384 bytes", "current: 16 384 bites") == []
    assert [finding.code for finding in problems(compiled)] == ["syntax"]
