"""``stack-total``, ``stack-percent`` and ``stack-order``."""

from pathlib import Path

import pytest

from checks.live import problems, tell_beside

SCATTER = (
    "      ├── jit(don)/scatter (0.5%, total: 16 384 bytes, current: 16 384 bytes, "
    "remaining: 20 bytes)\n"
)
SUM = (
    "      ├── jit(don)/reduce_sum (0.0%, total: 16 bytes, current: 16 bytes, remaining: 4 bytes)\n"
)


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        (
            "usage: 3 162 132",
            "usage: 3 162 133",
            "35:   Stack trace breakdown for peak usage: »3 162 133« bytes",
            "3,162,133 B are broken down, but 3,162,132 B live at the peak",
        ),
        (
            "(0.5%, total: 16 384 bytes",
            "(0.5%, total: 16 385 bytes",
            "40: " + SCATTER.strip("\n").replace("total: 16 384", "total: »16 385«"),
            "here and below are 16,384 B, not 16,385 B",
        ),
        (
            "current: 16 384 bytes",
            "current: 384 bytes",
            "40: " + SCATTER.strip("\n").replace("current: 16 384", "current: »384«"),
            "the total and the rows below leave 16,384 B here, not 384 B",
        ),
        (
            "remaining: 20 bytes",
            "remaining: 21 bytes",
            "40: " + SCATTER.strip("\n").replace("remaining: 20", "remaining: »21«"),
            "20 B remain behind this row, not 21 B",
        ),
        (
            SCATTER,
            "",
            "40: " + SUM.strip("\n"),
            "rows of 16,384 B are missing in front of this one",
        ),
    ],
)
def test_sums(compiled: Path, old: str, new: str, place: str, sentence: str) -> None:
    ((code, where, told),) = tell_beside(compiled, old, new)
    assert (code, where.replace("»├", "├").replace(")«", ")"), told) == (
        "stack-total",
        place,
        sentence,
    )


def test_a_row_that_is_doubled(compiled: Path) -> None:
    ((code, _, sentence),) = tell_beside(compiled, SCATTER, SCATTER + SCATTER)
    assert (code, sentence) == ("stack-total", "`jit(don)/scatter` stands here twice")


def test_percentages(compiled: Path) -> None:
    ((code, place, sentence),) = tell_beside(compiled, "(0.5%", "(0.6%")
    assert (code, sentence) == ("stack-percent", "16,384 B are 0.5% of 3,162,132 B, not 0.6%")
    assert "»0.6«%" in place


def test_rows_that_changed_places(compiled: Path) -> None:
    ((code, _, sentence),) = tell_beside(compiled, SCATTER + SUM, SUM + SCATTER)
    assert code == "stack-order"
    assert sentence == "`jit(don)/reduce_sum` and `jit(don)/scatter` have changed places"


def test_a_line_that_cannot_be_read_accuses_nobody_else(compiled: Path) -> None:
    assert tell_beside(compiled, "current: 16 384 bytes", "current: 16 384 bites") == []
    assert [finding.code for finding in problems(compiled)] == ["syntax"]
