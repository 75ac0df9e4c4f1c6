"""Damage to the peak: the peak moment, the list of live values, and the stack traces."""

from random import Random

from faults.digits import copy_field, edit_digit, group_digits, multiply, off_by_one
from faults.dump import Dump, Row
from faults.fault import faults
from faults.injections import (
    NewText,
    are_adjacent,
    are_in_same_file,
    change,
    drop,
    duplicate,
    move,
    swap,
)


def _rename(random: Random, dump: Dump, row: Row) -> str:
    return row["name"] + random.choice((".clone", ".99", "x"))


def _change_grouped_number(field: str) -> NewText:
    """Return a function that changes a number with grouped digits."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        number = int(row[field].replace(" ", ""))
        other = random.choice((number + 1, number * 2 or 8, number + 1000, number // 2 or 4))
        return group_digits(other)

    return new


def _change_percent(random: Random, dump: Dump, row: Row) -> str:
    number = float(row["percent"])
    return random.choice((f"{number + 0.1:.1f}", f"{number + 10:.1f}", f"{abs(number - 0.1):.1f}"))


def _are_siblings(dump: Dump, one: Row, other: Row) -> bool:
    """Return whether two adjacent rows have the same depth and different titles or sizes."""
    return (
        are_adjacent(dump, one, other)
        and len(one["stem"]) == len(other["stem"])
        and (one["title"], one["total"]) != (other["title"], other["total"])
    )


def _are_siblings_of_same_size(dump: Dump, one: Row, other: Row) -> bool:
    """Return whether two sibling rows have the same size, so their names determine the order."""
    return _are_siblings(dump, one, other) and one["total"] == other["total"]


def _is_nested(dump: Dump, row: Row) -> bool:
    """Return whether a row is nested and not the last one, whose removal truncates the text."""
    return len(row["stem"]) > 4 and row.line < dump.rows("stack")[-1].line


FAULTS = (
    *faults(
        "peak-moment",
        near_by=change("moment", "moment", off_by_one("moment")),
        another_step=change("moment", "moment", copy_field("step", "step")),
        a_digit=change("moment", "moment", edit_digit("moment")),
    ),
    *faults(
        "peak-list",
        one_less=drop("live"),
        one_twice=duplicate("live"),
        two_swapped=swap("live", are_adjacent),
        one_moved=move("live", are_in_same_file),
        renamed=change("live", "name", _rename),
    ),
    *faults(
        "peak-bytes",
        near_by=change("live", "bytes", off_by_one("bytes")),
        a_digit=change("live", "bytes", edit_digit("bytes")),
        a_multiple=change("live", "bytes", multiply("bytes", 2, 4, 0.5)),
    ),
    *faults(
        "peak-cumulative",
        near_by=change("live", "cumulative", off_by_one("cumulative")),
        a_digit=change("live", "cumulative", edit_digit("cumulative")),
        of_another=change("live", "cumulative", copy_field("live", "cumulative")),
    ),
    *faults(
        "stack-total",
        of_all=change("stacks", "total", _change_grouped_number("total")),
        total=change("stack", "total", _change_grouped_number("total")),
        current=change("stack", "current", _change_grouped_number("current")),
        remaining=change("stack", "remaining", _change_grouped_number("remaining")),
        a_row_less=drop("stack", _is_nested),
    ),
    *faults(
        "stack-percent",
        another=change("stack", "percent", _change_percent),
        of_another=change("stack", "percent", copy_field("stack", "percent")),
        all_of_it=change("stack", "percent", lambda random, dump, row: "100.0"),
    ),
    *faults(
        "stack-order",
        two_swapped=swap("stack", _are_siblings),
        two_titles_swapped=swap("stack", _are_siblings_of_same_size, ["title"]),
        two_rows_but_for_their_branches=swap(
            "stack", _are_siblings, ["title", "percent", "total", "current", "remaining"]
        ),
    ),
)
