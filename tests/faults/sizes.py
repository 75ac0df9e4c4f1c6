"""Damage to the sizes of values, and to bytes as people read them."""

import re
from random import Random

from faults.digits import near, of_another, times, typed
from faults.dump import Dump, Row
from faults.fault import faults
from faults.injections import change
from faults.uses import dimension

_UNITS = ("B", "KiB", "MiB", "GiB")


def _known(dump: Dump, row: Row) -> bool:
    """Whether a size follows from the shape: not in spaces of which this is not known."""
    return row["color"] in {"", "0", "1"}


def _is_tuple(dump: Dump, row: Row) -> bool:
    return row["shape"].startswith("(") and row["size"] != "0"


def _is_unpadded(dump: Dump, row: Row) -> bool:
    """Whether an array of another shape takes other bytes."""
    return not row["shape"].startswith("(") and "_gpu_" in row.path.name


def _digit(random: Random, dump: Dump, row: Row) -> str:
    digits = [match.start() for match in re.finditer(r"\d", row["human"])]
    at = random.choice(digits)
    old = row["human"][at]
    new = random.choice([digit for digit in "123456789" if digit != old])
    return row["human"][:at] + new + row["human"][at + 1 :]


def _unit(random: Random, dump: Dump, row: Row) -> str:
    number = row["human"].rstrip("BiKMGT")
    other = [unit for unit in _UNITS if number + unit != row["human"]]
    return number + random.choice(other)


FAULTS = (
    *faults(
        "size-mismatch",
        near_by=change("assigned", "size", near("size"), _known),
        a_digit=change("assigned", "size", typed("size"), _known),
        a_multiple=change("assigned", "size", times("size", 2, 4, 0.5), _known),
        of_another=change("assigned", "size", of_another("assigned", "size"), _known),
        of_a_tuple=change("assigned", "size", typed("size"), _is_tuple),
        a_dimension=change("assigned", "shape", dimension, _is_unpadded),
    ),
    *faults(
        "human-size",
        a_digit=change("total", "human", _digit),
        the_unit=change("total", "human", _unit),
        in_the_report=change("space_total", "human", _digit),
    ),
)
