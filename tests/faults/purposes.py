"""Damage to allocations: flags, parameters, output, and memory spaces."""

import re
from random import Random

from faults.allocations import has_values, is_temporary
from faults.digits import copy_field, off_by_one
from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import NewText, change, file_damage, pick, replace_line, rewrite

_FLAGS = (", constant", ", thread-local", ", maybe-live-out", ", preallocated-temp")


def _change_flag(random: Random, dump: Dump, row: Row) -> str | None:
    found = [flag for flag in _FLAGS if flag in row["flags"]]
    if not found or row.has("output") or row.has("parameter"):
        return None
    old = random.choice(found)
    new = random.choice([flag for flag in _FLAGS if flag not in row["flags"]])
    return row.with_field("flags", row["flags"].replace(old, new))


def _remove_flag(random: Random, dump: Dump, row: Row) -> str | None:
    found = [flag for flag in _FLAGS if flag in row["flags"]]
    if not found:
        return None
    return row.with_field("flags", row["flags"].replace(random.choice(found), ""))


def _add_flag(random: Random, dump: Dump, row: Row) -> str | None:
    order = [flag for flag in _FLAGS if flag not in row["flags"]]
    new = random.choice(order)
    flags = "".join(flag for flag in _FLAGS if flag in row["flags"] or flag == new)
    return row.with_field("flags", flags)


def _change_dimension(field: str) -> NewText:
    def new(random: Random, dump: Dump, row: Row) -> str | None:
        found = list(re.finditer(r"(?<=[\[,])\d+(?=[\],])", row[field]))
        if not found:
            return None
        match = random.choice(found)
        number = int(match[0]) + random.choice((1, 2, 8))
        return row[field][: match.start()] + str(number) + row[field][match.end() :]

    return new


def _change_index(random: Random, dump: Dump, row: Row) -> str:
    inside = row["index"][1:-1]
    return random.choice(["{" + (f"{inside}," if inside else "") + "3}", "{7}"])


def _move_output(random: Random, dump: Dump) -> Damage | None:
    output_allocation = pick(random, dump, "allocation", lambda dump, row: row.has("output"))
    other_allocation = pick(
        random, dump, "allocation", lambda dump, row: not row.has("output") and bool(row["flags"])
    )
    if output_allocation is None or other_allocation is None:
        return None
    lines = list(dump.lines[output_allocation.path])
    lines[output_allocation.line] = output_allocation.with_field("output", "")
    lines[other_allocation.line] = (
        other_allocation.text[: other_allocation.match.start("flags")]
        + output_allocation["output"]
        + other_allocation.text[other_allocation.match.start("flags") :]
    )
    description = f"`{output_allocation['output']}` moved to `{other_allocation.text}`"
    return file_damage(
        output_allocation.path, lines, [output_allocation.line, other_allocation.line], description
    )


def _change_memory_space(random: Random, dump: Dump, row: Row) -> str | None:
    found = re.findall(r"S\((\d+)\)", row["shape"])
    if not found:
        if not re.search(r"\{[\d,]+\}$", row["shape"]):
            return None
        return row["shape"][:-1] + f":S({random.choice((1, 5))})" + "}"
    new = random.choice([number for number in ("1", "2", "3", "5") if number != found[0]])
    return row["shape"].replace(f"S({found[0]})", f"S({new})")


def _add_color(random: Random, dump: Dump) -> Damage | None:
    row = pick(
        random, dump, "allocation", lambda dump, row: not row["color"] and has_values(dump, row)
    )
    if row is None or is_temporary(dump, row):
        return None
    end = row.match.end("size")
    line = f"{row.text[:end]}, color {random.choice((1, 2, 5))}{row.text[end:]}"
    return replace_line(dump, row, line, f"`{line}`")


FAULTS = (
    *faults(
        "flag-contradiction",
        another_flag=rewrite("allocation", _change_flag, has_values),
        a_flag_less=rewrite("allocation", _remove_flag, has_values),
        a_flag_more=rewrite("allocation", _add_flag, has_values),
    ),
    *faults(
        "parameter-mismatch",
        number=change("allocation", "ordinal", off_by_one("ordinal")),
        number_of_another=change("allocation", "ordinal", copy_field("allocation", "ordinal")),
        index=change("allocation", "index", _change_index),
        dimension=change("allocation", "shape", _change_dimension("shape")),
    ),
    *faults(
        "output-mismatch",
        shape=change("allocation", "returned", _change_dimension("returned")),
        not_said=change("allocation", "output", lambda random, dump, row: ""),
        said_of_another=_move_output,
    ),
    *faults(
        "color-mismatch",
        of_a_value=change("assigned", "color", off_by_one("color")),
        of_an_allocation=change("allocation", "color", off_by_one("color"), has_values),
        of_one_without=_add_color,
        of_a_layout=change("assigned", "shape", _change_memory_space),
    ),
)
