"""One damage to a tree that adds up is one slip, at its row."""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from hlo_lsp.analysis.live.stack_tree import Slip, StackRow, StackSlip, percent, spaced, stack_slips

Shape = tuple[int, list["Shape"]]  # bytes of a node alone, and what is below it
LEAVES = st.tuples(st.integers(1, 10**6), st.just([]))
TREES = st.recursive(
    LEAVES,
    lambda below: st.tuples(st.integers(0, 100), st.lists(below, min_size=1, max_size=4)),
    max_leaves=8,
)


def _total(tree: Shape) -> int:
    return tree[0] + sum(map(_total, tree[1]))


def _rows(tree: Shape) -> list[StackRow]:
    rows: list[StackRow] = []
    left = _total(tree)

    def add(node: Shape, depth: int, title: str) -> None:
        nonlocal left
        left -= node[0]
        rows.append(StackRow(depth, title, _total(node), node[0], left))
        below = sorted(enumerate(node[1]), key=lambda child: (-_total(child[1]), child[0]))
        for number, child in below:
            add(child, depth + 1, f"{title}.{number}")

    add(tree, 0, "root")
    return rows


@given(TREES)
def test_a_tree_that_adds_up(tree: Shape) -> None:
    assert stack_slips(_rows(tree), _total(tree)) == []


@given(TREES, st.data())
def test_a_wrong_number(tree: Shape, data: st.DataObject) -> None:
    rows = _rows(tree)
    at = data.draw(st.integers(0, len(rows) - 1))
    slip = data.draw(st.sampled_from([Slip.TOTAL, Slip.CURRENT, Slip.REMAINING]))
    field = {Slip.TOTAL: "total", Slip.CURRENT: "current", Slip.REMAINING: "remaining"}[slip]
    right = getattr(rows[at], field)
    rows[at] = replace(rows[at], **{field: right + data.draw(st.integers(1, 999))})
    assert stack_slips(rows, _total(tree)) == [StackSlip(slip, at, right)]


@given(TREES, st.data())
def test_a_row_that_is_gone_or_doubled(tree: Shape, data: st.DataObject) -> None:
    rows = _rows(tree)
    leaves = [place for place, row in enumerate(rows) if row.current == row.total]
    at = data.draw(st.sampled_from(leaves))
    assume(at)
    gone = [*rows[:at], *rows[at + 1 :]]
    assert stack_slips(gone, _total(tree)) == [StackSlip(Slip.MISSING, at, rows[at].total)]
    doubled = [*rows[: at + 1], rows[at], *rows[at + 1 :]]
    assert stack_slips(doubled, _total(tree)) == [StackSlip(Slip.EXTRA, at + 1, other=at)]


@given(TREES, st.data())
def test_rows_that_changed_places(tree: Shape, data: st.DataObject) -> None:
    rows = _rows(tree)
    assume(len(rows) > 2)
    one = data.draw(st.integers(1, len(rows) - 2))
    other = data.draw(st.integers(one + 1, len(rows) - 1))
    rows[one], rows[other] = rows[other], rows[one]
    (found,) = stack_slips(rows, _total(tree))
    assert (found.slip, found.row, found.other) == (Slip.ORDER, one, other)


def test_several_damages_are_told_one_by_one() -> None:
    rows = _rows((0, [(50, []), (30, []), (20, [])]))
    rows[1] = replace(rows[1], total=51, remaining=49)
    rows[3] = replace(rows[3], current=19)
    found = stack_slips(rows, 100)
    assert {slip.row for slip in found} >= {1, 3}


def test_numbers_as_they_are_printed() -> None:
    assert spaced(3162132) == "3 162 132"
    assert spaced(12) == "12"
    assert percent(16384, 3162132) == "0.5"
    assert percent(0, 0) is None
