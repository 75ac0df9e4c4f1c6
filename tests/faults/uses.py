"""Damage to positions, uses and shapes of values."""

import re
from random import Random

from faults.digits import near, of_another
from faults.dump import Damage, Dump, Row
from faults.fault import Injection, faults
from faults.injections import (
    Filter,
    anywhere,
    beside,
    change,
    double,
    drop,
    rewrite,
    swap,
)

_TILED = re.compile(r"[a-z]+\d*\[([\d,]+)\]\{(\d+)[\d,]*:T\((?:\d+,)*(\d+)\)")
_SHAPE = re.compile(r"([a-z]+\d*)\[([\d,<=]*)\](?:\{([\d,]*)([^}]*)\})?")


def _is_first(dump: Dump, row: Row) -> bool:
    return dump.lines[row.path][row.line - 1] == " positions:"


def _is_later(dump: Dump, row: Row) -> bool:
    return not _is_first(dump, row)


def _less(kind: str, where: Filter = anywhere) -> Injection:
    """Remove a line."""
    injection = drop(kind, where)

    def inject(random: Random, dump: Dump) -> Damage | None:
        found = injection(random, dump)
        if found is None:
            return None
        path, first = min(found.right)
        lines = dump.lines[path]
        while lines[first] not in {" positions:", " uses:"}:
            first -= 1
        return Damage(found.files, found.right | {(path, first)}, found.description)

    return inject


def _with_index(random: Random, dump: Dump, row: Row) -> str:
    if not row.has("index"):
        return f"{row.text} {{{random.randrange(3)}}}"
    return row.put("index", row["index"][:-1] + (",0}" if row["index"] != "{}" else "7}"))


def dimension(random: Random, dump: Dump, row: Row) -> str | None:
    """Change a dimension of a shape."""
    found = [match for match in _SHAPE.finditer(row["shape"]) if match[2] and "<" not in match[2]]
    if not found:
        return None
    match = random.choice(found)
    sizes = match[2].split(",")
    at = random.randrange(len(sizes))
    sizes[at] = str(int(sizes[at]) + random.choice((1, 2, 8)))
    return row["shape"][: match.start(2)] + ",".join(sizes) + row["shape"][match.end(2) :]


def _is_untiled(dump: Dump, row: Row) -> bool:
    """Whether a layout without tiles has the same bytes in another order."""
    return "T(" not in row["shape"]


def _inside_of_a_tile(random: Random, dump: Dump, row: Row) -> str | None:
    """One element more in the fastest dimension of an array, where the padding has room for it."""
    match = _TILED.match(row["shape"])
    if match is None:
        return None
    sizes, fastest, tile = match[1].split(","), int(match[2]), int(match[3])
    if int(sizes[fastest]) % tile == 0:
        return None
    sizes[fastest] = str(int(sizes[fastest]) + 1)
    return row["shape"][: match.start(1)] + ",".join(sizes) + row["shape"][match.end(1) :]


def element_type(random: Random, dump: Dump, row: Row) -> str | None:
    """Change an element type to another of the same width, which keeps sizes."""
    same = {"f32": "s32", "s32": "u32", "u32": "f32", "bf16": "f16", "f16": "bf16", "s8": "u8"}
    found = [match for match in _SHAPE.finditer(row["shape"]) if match[1] in same]
    if not found:
        return None
    match = random.choice(found)
    return row["shape"][: match.start(1)] + same[match[1]] + row["shape"][match.end(1) :]


def other_type(random: Random, dump: Dump, row: Row) -> str | None:
    """Whole numbers for others: of those with a point operands and results may differ in width."""
    old, bracket, rest = row["shape"].partition("[")
    new = {"bf16": "s16", "f16": "s16", "f32": "s32", "s32": "f32", "s8": "f32"}.get(old)
    return None if new is None else new + bracket + rest


def layout(random: Random, dump: Dump, row: Row) -> str | None:
    """Two dimensions of a layout that have changed places."""
    found = [match for match in _SHAPE.finditer(row["shape"]) if "," in (match[3] or "")]
    if not found:
        return None
    match = random.choice(found)
    order = match[3].split(",")
    order[0], order[1] = order[1], order[0]
    return row["shape"][: match.start(3)] + ",".join(order) + row["shape"][match.end(3) :]


def _in_the_entry(random: Random, dump: Dump, row: Row) -> str | None:
    new = (random.choice((dimension, element_type)))(random, dump, row)
    return None if new is None else row.put("shape", new)


FAULTS = (
    *faults(
        "position-mismatch",
        first_renamed=change("position", "name", of_another("position", "name"), _is_first),
        another_renamed=change("position", "name", of_another("position", "name"), _is_later),
        one_twice=double("position"),
        two_swapped=swap(
            "position", lambda dump, one, other: beside(dump, one, other) and _is_first(dump, one)
        ),
        another_index=rewrite("position", _with_index),
    ),
    *faults(
        "use-mismatch",
        one_less=_less("use"),
        position_less=_less("position", _is_later),
        another_user=change("use", "name", of_another("use", "name")),
        another_operand=change("use", "operand", near("operand")),
        one_twice=double("use"),
        another_index=rewrite("use", _with_index),
    ),
    *faults(
        "shape-definition-mismatch",
        element_type=change("assigned", "shape", element_type),
        layout=change("assigned", "shape", layout, _is_untiled),
        dimension_inside_of_a_tile=change("assigned", "shape", _inside_of_a_tile),
        in_the_entry=rewrite("instruction", _in_the_entry),
    ),
)
