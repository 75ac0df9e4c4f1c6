"""Damage to positions, uses, and shapes of values."""

import re
from random import Random

from faults.digits import copy_field, off_by_one
from faults.dump import Damage, Dump, Row
from faults.fault import Injection, faults
from faults.injections import (
    RowFilter,
    any_row,
    are_adjacent,
    change,
    drop,
    duplicate,
    rewrite,
    swap,
)

_TILED = re.compile(r"[a-z]+\d*\[([\d,]+)\]\{(\d+)[\d,]*:T\((?:\d+,)*(\d+)\)")
_SHAPE = re.compile(r"([a-z]+\d*)\[([\d,<=]*)\](?:\{([\d,]*)([^}]*)\})?")


def _is_first_position(dump: Dump, row: Row) -> bool:
    return dump.lines[row.path][row.line - 1] == " positions:"


def _is_later_position(dump: Dump, row: Row) -> bool:
    return not _is_first_position(dump, row)


def _drop_from_entry(kind: str, where: RowFilter = any_row) -> Injection:
    """Return an injection that removes a row; the label of its list may be reported instead."""
    injection = drop(kind, where)

    def inject(random: Random, dump: Dump) -> Damage | None:
        found = injection(random, dump)
        if found is None:
            return None
        path, first = min(found.expected)
        lines = dump.lines[path]
        while lines[first] not in {" positions:", " uses:"}:
            first -= 1
        return Damage(found.files, found.expected | {(path, first)}, found.description)

    return inject


def _change_index(random: Random, dump: Dump, row: Row) -> str:
    if not row.has("index"):
        return f"{row.text} {{{random.randrange(3)}}}"
    return row.with_field("index", row["index"][:-1] + (",0}" if row["index"] != "{}" else "7}"))


def change_dimension(random: Random, dump: Dump, row: Row) -> str | None:
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
    """Return whether a layout has no tiles, so the order of dimensions does not change the size."""
    return "T(" not in row["shape"]


def _grow_within_padding(random: Random, dump: Dump, row: Row) -> str | None:
    """Return a shape with one more element in the padding of the minor dimension."""
    match = _TILED.match(row["shape"])
    if match is None:
        return None
    sizes, fastest, tile = match[1].split(","), int(match[2]), int(match[3])
    if int(sizes[fastest]) % tile == 0:
        return None
    sizes[fastest] = str(int(sizes[fastest]) + 1)
    return row["shape"][: match.start(1)] + ",".join(sizes) + row["shape"][match.end(1) :]


def change_element_type(random: Random, dump: Dump, row: Row) -> str | None:
    """Change an element type to another of the same width, which keeps sizes."""
    same = {"f32": "s32", "s32": "u32", "u32": "f32", "bf16": "f16", "f16": "bf16", "s8": "u8"}
    found = [match for match in _SHAPE.finditer(row["shape"]) if match[1] in same]
    if not found:
        return None
    match = random.choice(found)
    return row["shape"][: match.start(1)] + same[match[1]] + row["shape"][match.end(1) :]


def change_numeric_type(random: Random, dump: Dump, row: Row) -> str | None:
    """Return a shape with a floating-point type for an integer type, or vice versa.

    XLA allows operands and results with floating-point types of different widths.
    """
    old, bracket, rest = row["shape"].partition("[")
    new = {"bf16": "s16", "f16": "s16", "f32": "s32", "s32": "f32", "s8": "f32"}.get(old)
    return None if new is None else new + bracket + rest


def swap_layout_dimensions(random: Random, dump: Dump, row: Row) -> str | None:
    """Swap two dimensions of a layout."""
    found = [match for match in _SHAPE.finditer(row["shape"]) if "," in (match[3] or "")]
    if not found:
        return None
    match = random.choice(found)
    order = match[3].split(",")
    order[0], order[1] = order[1], order[0]
    return row["shape"][: match.start(3)] + ",".join(order) + row["shape"][match.end(3) :]


def _change_instruction_shape(random: Random, dump: Dump, row: Row) -> str | None:
    new = (random.choice((change_dimension, change_element_type)))(random, dump, row)
    return None if new is None else row.with_field("shape", new)


FAULTS = (
    *faults(
        "position-mismatch",
        first_renamed=change(
            "position", "name", copy_field("position", "name"), _is_first_position
        ),
        another_renamed=change(
            "position", "name", copy_field("position", "name"), _is_later_position
        ),
        one_twice=duplicate("position"),
        two_swapped=swap(
            "position",
            lambda dump, one, other: (
                are_adjacent(dump, one, other) and _is_first_position(dump, one)
            ),
        ),
        another_index=rewrite("position", _change_index),
    ),
    *faults(
        "use-mismatch",
        one_less=_drop_from_entry("use"),
        position_less=_drop_from_entry("position", _is_later_position),
        another_user=change("use", "name", copy_field("use", "name")),
        another_operand=change("use", "operand", off_by_one("operand")),
        one_twice=duplicate("use"),
        another_index=rewrite("use", _change_index),
    ),
    *faults(
        "shape-definition-mismatch",
        element_type=change("assigned", "shape", change_element_type),
        layout=change("assigned", "shape", swap_layout_dimensions, _is_untiled),
        dimension_inside_of_a_tile=change("assigned", "shape", _grow_within_padding),
        in_the_entry=rewrite("instruction", _change_instruction_shape),
    ),
)
