"""Damage to the schedule and the live ranges."""

from random import Random

from faults.digits import add, copy_field, edit_digit, off_by_one
from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import (
    any_row,
    are_adjacent,
    are_in_same_file,
    change,
    drop,
    duplicate,
    file_damage,
    move,
    pick,
    replace_line,
    replace_lines,
    swap,
)


def _opcodes(dump: Dump) -> dict[str, str]:
    return {row["name"]: row["opcode"] for row in dump.rows("instruction")}


def _is_parameter(dump: Dump, row: Row) -> bool:
    return _opcodes(dump).get(row["name"]) == "parameter"


def _is_computed(dump: Dump, row: Row) -> bool:
    """Return whether a value is not a parameter, so its live range starts at its instruction."""
    return _opcodes(dump).get(row["name"], "parameter") != "parameter"


def _last_step(dump: Dump) -> int:
    return int(dump.rows("max")[0]["max"])


def _unknown_name(random: Random, dump: Dump, row: Row) -> str:
    return row["name"] + random.choice((".clone", ".99", "x"))


def _unknown_index(random: Random, dump: Dump, row: Row) -> str:
    return row["index"][:-1] + (",9}" if row["index"] != "{}" else "9}")


def _step_after_schedule(random: Random, dump: Dump, row: Row) -> str:
    return str(_last_step(dump) + random.choice((1, 2, 10)))


def _step_before_start(random: Random, dump: Dump, row: Row) -> str | None:
    start = int(row["start"])
    return str(random.randrange(start)) if start else None


def _step_after_end(random: Random, dump: Dump, row: Row) -> str | None:
    end, last = int(row["end"]), _last_step(dump)
    return str(random.randrange(end + 1, last + 1)) if end < last else None


def _other_start(random: Random, dump: Dump, row: Row) -> str | None:
    """Return another start step that does not exceed the end step."""
    free = [step for step in range(int(row["end"]) + 1) if step != int(row["start"])]
    return str(random.choice(free)) if free else None


def _end_early(random: Random, dump: Dump) -> Damage | None:
    """End the live range of a parameter early, although no value overwrites the parameter."""
    last = _last_step(dump) if dump.rows("max") else 0
    parameter_ids = {
        row["id"]
        for row in dump.rows("assigned")
        if row.spot in dump.owners
        and dump.owners[row.spot].has("parameter")
        and not dump.owners[row.spot]["flags"]
    }
    names = {
        row["name"] + (row["index"] or "{}")
        for row in dump.rows("assigned")
        if row["id"] in parameter_ids
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
    return replace_line(
        dump, row, row.with_field("end", end), f"`{row.text.strip()}` ends at {end}"
    )


def _add_thread_local_range(random: Random, dump: Dump) -> Damage | None:
    """Add a live range of a value in a thread-local allocation."""
    local = pick(
        random,
        dump,
        "assigned",
        lambda dump, row: (
            row.spot in dump.owners and "thread-local" in dump.owners[row.spot]["flags"]
        ),
    )
    next_range = pick(random, dump, "range")
    if local is None or next_range is None:
        return None
    text = f"    {local['name']}{local['index'] or '{}'}:{next_range['start']}-{next_range['end']}"
    new = replace_lines(dump.lines[next_range.path], next_range.line, next_range.line, [text])
    return file_damage(next_range.path, new, [next_range.line], f"`{text.strip()}` inserted")


def _are_apart(dump: Dump, one: Row, other: Row) -> bool:
    return are_in_same_file(dump, one, other) and abs(one.line - other.line) > 1


FAULTS = (
    *faults(
        "schedule-numbering",
        another_number=change("step", "step", edit_digit("step")),
        number_of_another=change("step", "step", copy_field("step", "step")),
        a_step_twice=duplicate("step"),
        steps_less=drop("step", max_lines=3),
        length=change("max", "max", off_by_one("max")),
        two_lines_swapped=swap("step", are_adjacent),
    ),
    *faults(
        "schedule-mismatch",
        two_names_swapped=swap("step", are_in_same_file, ["name"]),
        renamed=change("step", "name", _unknown_name),
        name_of_another=change("step", "name", copy_field("step", "name")),
    ),
    *faults(
        "live-range-unknown",
        renamed=change("range", "name", _unknown_name),
        another_index=change("range", "index", _unknown_index),
        of_a_thread_local_value=_add_thread_local_range,
    ),
    *faults(
        "live-range-missing",
        one_less=drop("range"),
        some_less=drop("range", max_lines=4),
        of_a_parameter_less=drop("range", _is_parameter),
    ),
    *faults(
        "live-range-bounds",
        behind_the_end=change("range", "end", _step_after_schedule),
        ends_before_its_start=change("range", "end", _step_before_start),
        starts_behind_its_end=change("range", "start", _step_after_end),
    ),
    *faults(
        "live-range-start",
        another_step=change("range", "start", _other_start, _is_computed),
        near_by=change(
            "range",
            "start",
            add("start", -1, 1),
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
            add("start", 1),
            lambda dump, row: _is_parameter(dump, row) and int(row["start"]) < int(row["end"]),
        ),
        ends_early=_end_early,
    ),
    *faults(
        "live-range-order",
        two_swapped=swap("range", are_adjacent),
        two_swapped_far_apart=swap("range", _are_apart),
        one_moved=move("range", are_in_same_file, any_row),
        one_twice=duplicate("range"),
    ),
)
