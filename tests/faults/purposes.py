"""Damage to the purposes of allocations: flags, parameters, output, memory spaces."""

import re
from random import Random

from faults.allocations import has_values, is_temporary
from faults.digits import near, of_another
from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import New, change, damage, pick, put, rewrite

_FLAGS = (", constant", ", thread-local", ", maybe-live-out", ", preallocated-temp")


def _other_flag(random: Random, dump: Dump, row: Row) -> str | None:
    found = [flag for flag in _FLAGS if flag in row["flags"]]
    if not found or row.has("output") or row.has("parameter"):
        return None
    old = random.choice(found)
    new = random.choice([flag for flag in _FLAGS if flag not in row["flags"]])
    return row.put("flags", row["flags"].replace(old, new))


def _flag_less(random: Random, dump: Dump, row: Row) -> str | None:
    found = [flag for flag in _FLAGS if flag in row["flags"]]
    if not found:
        return None
    return row.put("flags", row["flags"].replace(random.choice(found), ""))


def _flag_more(random: Random, dump: Dump, row: Row) -> str | None:
    order = [flag for flag in _FLAGS if flag not in row["flags"]]
    new = random.choice(order)
    flags = "".join(flag for flag in _FLAGS if flag in row["flags"] or flag == new)
    return row.put("flags", flags)


def _dimension(field: str) -> New:
    def new(random: Random, dump: Dump, row: Row) -> str | None:
        found = list(re.finditer(r"(?<=[\[,])\d+(?=[\],])", row[field]))
        if not found:
            return None
        match = random.choice(found)
        number = int(match[0]) + random.choice((1, 2, 8))
        return row[field][: match.start()] + str(number) + row[field][match.end() :]

    return new


def _deeper(random: Random, dump: Dump, row: Row) -> str:
    inside = row["index"][1:-1]
    return random.choice(["{" + (f"{inside}," if inside else "") + "3}", "{7}"])


def _output_elsewhere(random: Random, dump: Dump) -> Damage | None:
    home = pick(random, dump, "allocation", lambda dump, row: row.has("output"))
    to = pick(
        random, dump, "allocation", lambda dump, row: not row.has("output") and bool(row["flags"])
    )
    if home is None or to is None:
        return None
    lines = list(dump.lines[home.path])
    lines[home.line] = home.put("output", "")
    lines[to.line] = (
        to.text[: to.match.start("flags")] + home["output"] + to.text[to.match.start("flags") :]
    )
    reported = f"`{home['output']}` moved to `{to.text}`"
    return damage(home.path, lines, [home.line, to.line], reported)


def _space(random: Random, dump: Dump, row: Row) -> str | None:
    found = re.findall(r"S\((\d+)\)", row["shape"])
    if not found:
        if not re.search(r"\{[\d,]+\}$", row["shape"]):
            return None
        return row["shape"][:-1] + f":S({random.choice((1, 5))})" + "}"
    new = random.choice([number for number in ("1", "2", "3", "5") if number != found[0]])
    return row["shape"].replace(f"S({found[0]})", f"S({new})")


def _colored(random: Random, dump: Dump) -> Damage | None:
    row = pick(
        random, dump, "allocation", lambda dump, row: not row["color"] and has_values(dump, row)
    )
    if row is None or is_temporary(dump, row):
        return None
    end = row.match.end("size")
    line = f"{row.text[:end]}, color {random.choice((1, 2, 5))}{row.text[end:]}"
    return put(dump, row, line, f"`{line}`")


FAULTS = (
    *faults(
        "flag-contradiction",
        another_flag=rewrite("allocation", _other_flag, has_values),
        a_flag_less=rewrite("allocation", _flag_less, has_values),
        a_flag_more=rewrite("allocation", _flag_more, has_values),
    ),
    *faults(
        "parameter-mismatch",
        number=change("allocation", "ordinal", near("ordinal")),
        number_of_another=change("allocation", "ordinal", of_another("allocation", "ordinal")),
        index=change("allocation", "index", _deeper),
        dimension=change("allocation", "shape", _dimension("shape")),
    ),
    *faults(
        "output-mismatch",
        shape=change("allocation", "returned", _dimension("returned")),
        not_said=change("allocation", "output", lambda random, dump, row: ""),
        said_of_another=_output_elsewhere,
    ),
    *faults(
        "color-mismatch",
        of_a_value=change("assigned", "color", near("color")),
        of_an_allocation=change("allocation", "color", near("color"), has_values),
        of_one_without=_colored,
        of_a_layout=change("assigned", "shape", _space),
    ),
)
