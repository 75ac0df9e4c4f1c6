"""Damage to the peak: its moment, its list, and the stack traces below."""

from random import Random

from faults.digits import near, of_another, spaced, times, typed
from faults.dump import Dump, Row
from faults.fault import faults
from faults.injections import (
    New,
    beside,
    change,
    double,
    drop,
    in_one_file,
    move,
    swap,
)


def _renamed(random: Random, dump: Dump, row: Row) -> str:
    return row["name"] + random.choice((".clone", ".99", "x"))


def _other_spaced(field: str) -> New:
    """Another number of bytes with blanks inside."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        number = int(row[field].replace(" ", ""))
        other = random.choice((number + 1, number * 2 or 8, number + 1000, number // 2 or 4))
        return spaced(other)

    return new


def _percent(random: Random, dump: Dump, row: Row) -> str:
    number = float(row["percent"])
    return random.choice((f"{number + 0.1:.1f}", f"{number + 10:.1f}", f"{abs(number - 0.1):.1f}"))


def _siblings(dump: Dump, one: Row, other: Row) -> bool:
    """Two leaves of one node, reported apart by more than their places."""
    return (
        beside(dump, one, other)
        and len(one["stem"]) == len(other["stem"])
        and (one["title"], one["total"]) != (other["title"], other["total"])
    )


def _of_one_size(dump: Dump, one: Row, other: Row) -> bool:
    """Two that are sorted by their names."""
    return _siblings(dump, one, other) and one["total"] == other["total"]


def _is_inside(dump: Dump, row: Row) -> bool:
    """Whether more follows: a text without its last row is cut off."""
    return len(row["stem"]) > 4 and row.line < dump.rows("stack")[-1].line


FAULTS = (
    *faults(
        "peak-moment",
        near_by=change("moment", "moment", near("moment")),
        another_step=change("moment", "moment", of_another("step", "step")),
        a_digit=change("moment", "moment", typed("moment")),
    ),
    *faults(
        "peak-list",
        one_less=drop("live"),
        one_twice=double("live"),
        two_swapped=swap("live", beside),
        one_moved=move("live", in_one_file),
        renamed=change("live", "name", _renamed),
    ),
    *faults(
        "peak-bytes",
        near_by=change("live", "bytes", near("bytes")),
        a_digit=change("live", "bytes", typed("bytes")),
        a_multiple=change("live", "bytes", times("bytes", 2, 4, 0.5)),
    ),
    *faults(
        "peak-cumulative",
        near_by=change("live", "cumulative", near("cumulative")),
        a_digit=change("live", "cumulative", typed("cumulative")),
        of_another=change("live", "cumulative", of_another("live", "cumulative")),
    ),
    *faults(
        "stack-total",
        of_all=change("stacks", "total", _other_spaced("total")),
        total=change("stack", "total", _other_spaced("total")),
        current=change("stack", "current", _other_spaced("current")),
        remaining=change("stack", "remaining", _other_spaced("remaining")),
        a_row_less=drop("stack", _is_inside),
    ),
    *faults(
        "stack-percent",
        another=change("stack", "percent", _percent),
        of_another=change("stack", "percent", of_another("stack", "percent")),
        all_of_it=change("stack", "percent", lambda random, dump, row: "100.0"),
    ),
    *faults(
        "stack-order",
        two_swapped=swap("stack", _siblings),
        two_titles_swapped=swap("stack", _of_one_size, ["title"]),
        two_rows_but_for_their_branches=swap(
            "stack", _siblings, ["title", "percent", "total", "current", "remaining"]
        ),
    ),
)
