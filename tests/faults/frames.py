"""Damage to the tables of source locations at the head of a module."""

import re
from random import Random

from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import New, change, damage, double, drop, pick, put, swap


def _no_such(kind: str) -> New:
    def new(random: Random, dump: Dump, row: Row) -> str:
        return str(len(dump.rows(kind)) + random.choice((1, 2, 40)) + (kind == "frame"))

    return new


def _of_an_instruction(random: Random, dump: Dump) -> Damage | None:
    count = len(dump.rows("frame"))
    row = pick(random, dump, "statement", lambda dump, row: "stack_frame_id=" in row.text)
    match = None if row is None else re.search(r"stack_frame_id=(\d+)", row.text)
    if row is None or match is None or not count:
        return None
    line = (
        row.text[: match.start(1)] + str(count + random.choice((1, 9))) + row.text[match.end(1) :]
    )
    return put(dump, row, line, f"`{match[0]}` of `{row['name']}` is of no frame")


def _own_caller(random: Random, dump: Dump, row: Row) -> str:
    return str(int(row["number"]) + 1)


def _circle(random: Random, dump: Dump) -> Damage | None:
    """Make a frame its own caller, directly or indirectly."""
    rows = {int(row["number"]): row for row in dump.rows("frame")}
    if not rows:
        return None
    below = random.choice(list(rows.values()))
    chain = [below]
    while (caller := rows.get(int(chain[-1]["parent"]) - 1)) is not None and caller is not chain[
        -1
    ]:
        chain.append(caller)
    if len(chain) < 2:
        return None
    top = random.choice(chain[1:])
    line = top.put("parent", str(int(below["number"]) + 1))
    on_the_way = [row.spot for row in chain[: chain.index(top)]]
    return put(dump, top, line, f"`{line}`, which calls frame {below['number']}", on_the_way)


def _two(random: Random, dump: Dump) -> Damage | None:
    """Two frames that call each other."""
    rows = dump.rows("frame")
    if len(rows) < 2:
        return None
    one, other = random.sample(rows, 2)
    lines = list(dump.lines[one.path])
    lines[one.line] = one.put("parent", str(int(other["number"]) + 1))
    lines[other.line] = other.put("parent", str(int(one["number"]) + 1))
    reported = f"frames {one['number']} and {other['number']} call each other"
    return damage(one.path, lines, [one.line, other.line], reported)


FAULTS = (
    *faults(
        "bad-stack-frame",
        of_an_instruction=_of_an_instruction,
        no_such_location=change("frame", "location", _no_such("location")),
        no_such_parent=change("frame", "parent", _no_such("frame")),
        number=change("frame", "number", _no_such("frame")),
        a_frame_twice=double("frame"),
        a_location_less=drop(
            "location", lambda dump, row: int(row["number"]) < len(dump.rows("location"))
        ),
        two_locations_swapped=swap("location", lambda dump, one, other: one.path == other.path),
    ),
    *faults(
        "frame-cycle",
        its_own_caller=change("frame", "parent", _own_caller),
        a_circle=_circle,
        two_that_call_each_other=_two,
    ),
)
