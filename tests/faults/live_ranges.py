"""Damage to the schedule and to live ranges."""

from random import Random

from faults.digits import more, near, of_another, typed
from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import (
    anywhere,
    beside,
    change,
    damage,
    double,
    drop,
    in_one_file,
    move,
    pick,
    put,
    replaced,
    swap,
)


def _opcodes(dump: Dump) -> dict[str, str]:
    return {row["name"]: row["opcode"] for row in dump.rows("instruction")}


def _is_parameter(dump: Dump, row: Row) -> bool:
    return _opcodes(dump).get(row["name"]) == "parameter"


def _is_computed(dump: Dump, row: Row) -> bool:
    """No parameter: such a value lives from its instruction on."""
    return _opcodes(dump).get(row["name"], "parameter") != "parameter"


def _last(dump: Dump) -> int:
    return int(dump.rows("max")[0]["max"])


def _unknown(random: Random, dump: Dump, row: Row) -> str:
    return row["name"] + random.choice((".clone", ".99", "x"))


def _unknown_index(random: Random, dump: Dump, row: Row) -> str:
    return row["index"][:-1] + (",9}" if row["index"] != "{}" else "9}")


def _behind_the_end(random: Random, dump: Dump, row: Row) -> str:
    return str(_last(dump) + random.choice((1, 2, 10)))


def _before_its_start(random: Random, dump: Dump, row: Row) -> str | None:
    start = int(row["start"])
    return str(random.randrange(start)) if start else None


def _behind_its_end(random: Random, dump: Dump, row: Row) -> str | None:
    end, last = int(row["end"]), _last(dump)
    return str(random.randrange(end + 1, last + 1)) if end < last else None


def _other_start(random: Random, dump: Dump, row: Row) -> str | None:
    """Another start that is inside of the range that the end allows."""
    free = [step for step in range(int(row["end"]) + 1) if step != int(row["start"])]
    return str(random.choice(free)) if free else None


def _shorter(random: Random, dump: Dump) -> Damage | None:
    """End the live range of a parameter early, though nothing overwrites it."""
    last = _last(dump) if dump.rows("max") else 0
    alone = {
        row["id"]
        for row in dump.rows("assigned")
        if row.spot in dump.owners
        and dump.owners[row.spot].has("parameter")
        and not dump.owners[row.spot]["flags"]
    }
    names = {
        row["name"] + (row["index"] or "{}") for row in dump.rows("assigned") if row["id"] in alone
    }
    row = pick(
        random,
        dump,
        "range",
        lambda dump, row: row["name"] + row["index"] in names and int(row["end"]) == last,
    )
    if row is None or last < 2:
        return None
    end = str(random.randrange(1, last))
    return put(dump, row, row.put("end", end), f"`{row.text.strip()}` ends at {end}")


def _of_a_local(random: Random, dump: Dump) -> Damage | None:
    """Add a live range of a value in a thread-local allocation."""
    local = pick(
        random,
        dump,
        "assigned",
        lambda dump, row: (
            row.spot in dump.owners and "thread-local" in dump.owners[row.spot]["flags"]
        ),
    )
    at = pick(random, dump, "range")
    if local is None or at is None:
        return None
    text = f"    {local['name']}{local['index'] or '{}'}:{at['start']}-{at['end']}"
    new = replaced(dump.lines[at.path], at.line, at.line, [text])
    return damage(at.path, new, [at.line], f"`{text.strip()}` put in")


def _far(dump: Dump, one: Row, other: Row) -> bool:
    return in_one_file(dump, one, other) and abs(one.line - other.line) > 1


FAULTS = (
    *faults(
        "schedule-numbering",
        another_number=change("step", "step", typed("step")),
        number_of_another=change("step", "step", of_another("step", "step")),
        a_step_twice=double("step"),
        steps_less=drop("step", most=3),
        length=change("max", "max", near("max")),
        two_lines_swapped=swap("step", beside),
    ),
    *faults(
        "schedule-mismatch",
        two_names_swapped=swap("step", in_one_file, ["name"]),
        renamed=change("step", "name", _unknown),
        name_of_another=change("step", "name", of_another("step", "name")),
    ),
    *faults(
        "live-range-unknown",
        renamed=change("range", "name", _unknown),
        another_index=change("range", "index", _unknown_index),
        of_a_thread_local_value=_of_a_local,
    ),
    *faults(
        "live-range-missing",
        one_less=drop("range"),
        some_less=drop("range", most=4),
        of_a_parameter_less=drop("range", _is_parameter),
    ),
    *faults(
        "live-range-bounds",
        behind_the_end=change("range", "end", _behind_the_end),
        ends_before_its_start=change("range", "end", _before_its_start),
        starts_behind_its_end=change("range", "start", _behind_its_end),
    ),
    *faults(
        "live-range-start",
        another_step=change("range", "start", _other_start, _is_computed),
        near_by=change(
            "range",
            "start",
            more("start", -1, 1),
            lambda dump, row: _is_computed(dump, row) and int(row["start"]) < int(row["end"]),
        ),
        starts_swapped=swap(
            "range",
            lambda dump, one, other: (
                _is_computed(dump, one)
                and _is_computed(dump, other)
                and int(one["start"]) <= int(other["end"])
                and int(other["start"]) <= int(one["end"])
            ),
            ["start"],
        ),
    ),
    *faults(
        "live-range-parameter",
        starts_late=change("range", "start", _other_start, _is_parameter),
        one_step_late=change(
            "range",
            "start",
            more("start", 1),
            lambda dump, row: _is_parameter(dump, row) and int(row["start"]) < int(row["end"]),
        ),
        ends_early=_shorter,
    ),
    *faults(
        "live-range-order",
        two_swapped=swap("range", beside),
        two_swapped_far_apart=swap("range", _far),
        one_moved=move("range", in_one_file, anywhere),
        one_twice=double("range"),
    ),
)
