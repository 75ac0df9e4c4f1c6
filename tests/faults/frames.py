"""Damage to the source location tables of a module."""

import re
from random import Random

from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import (
    NewText,
    change,
    drop,
    duplicate,
    file_damage,
    pick,
    replace_line,
    swap,
)


def _invalid_number(kind: str) -> NewText:
    def new(random: Random, dump: Dump, row: Row) -> str:
        return str(len(dump.rows(kind)) + random.choice((1, 2, 40)) + (kind == "frame"))

    return new


def _refer_to_invalid_frame(random: Random, dump: Dump) -> Damage | None:
    count = len(dump.rows("frame"))
    row = pick(random, dump, "statement", lambda dump, row: "stack_frame_id=" in row.text)
    match = None if row is None else re.search(r"stack_frame_id=(\d+)", row.text)
    if row is None or match is None or not count:
        return None
    line = (
        row.text[: match.start(1)] + str(count + random.choice((1, 9))) + row.text[match.end(1) :]
    )
    return replace_line(dump, row, line, f"`{match[0]}` of `{row['name']}` refers to no frame")


def _call_itself(random: Random, dump: Dump, row: Row) -> str:
    return str(int(row["number"]) + 1)


def _make_cycle(random: Random, dump: Dump) -> Damage | None:
    """Make a frame its own caller, directly or indirectly."""
    rows = {int(row["number"]): row for row in dump.rows("frame")}
    if not rows:
        return None
    callee = random.choice(list(rows.values()))
    chain = [callee]
    while (caller := rows.get(int(chain[-1]["parent"]) - 1)) is not None and caller is not chain[
        -1
    ]:
        chain.append(caller)
    if len(chain) < 2:
        return None
    caller_in_chain = random.choice(chain[1:])
    line = caller_in_chain.with_field("parent", str(int(callee["number"]) + 1))
    callee_spots = [row.spot for row in chain[: chain.index(caller_in_chain)]]
    return replace_line(
        dump, caller_in_chain, line, f"`{line}`, which calls frame {callee['number']}", callee_spots
    )


def _call_each_other(random: Random, dump: Dump) -> Damage | None:
    """Make two frames call each other."""
    rows = dump.rows("frame")
    if len(rows) < 2:
        return None
    one, other = random.sample(rows, 2)
    lines = list(dump.lines[one.path])
    lines[one.line] = one.with_field("parent", str(int(other["number"]) + 1))
    lines[other.line] = other.with_field("parent", str(int(one["number"]) + 1))
    description = f"frames {one['number']} and {other['number']} call each other"
    return file_damage(one.path, lines, [one.line, other.line], description)


FAULTS = (
    *faults(
        "bad-stack-frame",
        of_an_instruction=_refer_to_invalid_frame,
        no_such_location=change("frame", "location", _invalid_number("location")),
        no_such_parent=change("frame", "parent", _invalid_number("frame")),
        number=change("frame", "number", _invalid_number("frame")),
        a_frame_twice=duplicate("frame"),
        a_location_less=drop(
            "location", lambda dump, row: int(row["number"]) < len(dump.rows("location"))
        ),
        two_locations_swapped=swap("location", lambda dump, one, other: one.path == other.path),
    ),
    *faults(
        "frame-cycle",
        its_own_caller=change("frame", "parent", _call_itself),
        a_circle=_make_cycle,
        two_that_call_each_other=_call_each_other,
    ),
)
