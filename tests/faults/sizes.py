"""Damage to sizes of values and to rounded totals."""

import re
from random import Random

from faults.digits import copy_field, edit_digit, multiply, off_by_one
from faults.dump import Dump, Row
from faults.fault import faults
from faults.injections import change
from faults.uses import change_dimension

_UNITS = ("B", "KiB", "MiB", "GiB")


def _has_known_size(dump: Dump, row: Row) -> bool:
    """Return whether the size in this memory space follows from the shape."""
    return row["color"] in {"", "0", "1"}


def _is_tuple(dump: Dump, row: Row) -> bool:
    return row["shape"].startswith("(") and row["size"] != "0"


def _is_unpadded(dump: Dump, row: Row) -> bool:
    """Return whether an array has no padding, so another shape has another size."""
    return not row["shape"].startswith("(") and "_gpu_" in row.path.name


def _change_digit(random: Random, dump: Dump, row: Row) -> str:
    digits = [match.start() for match in re.finditer(r"\d", row["human"])]
    at = random.choice(digits)
    old = row["human"][at]
    new = random.choice([digit for digit in "123456789" if digit != old])
    return row["human"][:at] + new + row["human"][at + 1 :]


def _change_unit(random: Random, dump: Dump, row: Row) -> str:
    number = row["human"].rstrip("BiKMGT")
    other = [unit for unit in _UNITS if number + unit != row["human"]]
    return number + random.choice(other)


FAULTS = (
    *faults(
        "size-mismatch",
        near_by=change("assigned", "size", off_by_one("size"), _has_known_size),
        a_digit=change("assigned", "size", edit_digit("size"), _has_known_size),
        a_multiple=change("assigned", "size", multiply("size", 2, 4, 0.5), _has_known_size),
        of_another=change("assigned", "size", copy_field("assigned", "size"), _has_known_size),
        of_a_tuple=change("assigned", "size", edit_digit("size"), _is_tuple),
        a_dimension=change("assigned", "shape", change_dimension, _is_unpadded),
    ),
    *faults(
        "human-size",
        a_digit=change("total", "human", _change_digit),
        the_unit=change("total", "human", _change_unit),
        in_the_report=change("space_total", "human", _change_digit),
    ),
)
