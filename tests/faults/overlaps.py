"""Damage to offsets in temp allocations: values that overlap in memory and time."""

from random import Random

from faults.allocations import is_temporary, values_of
from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import pick, replace_line

_LiveRange = tuple[int, int]


def _live_ranges(dump: Dump) -> dict[str, _LiveRange]:
    return {
        row["name"] + row["index"]: (int(row["start"]), int(row["end"]))
        for row in dump.rows("range")
    }


def _live_range(live_ranges: dict[str, _LiveRange], row: Row) -> _LiveRange | None:
    return live_ranges.get(row["name"] + (row["index"] or "{}"))


def _overlap_in_time(one: _LiveRange, other: _LiveRange) -> bool:
    """Return whether two live ranges share more than one step, since one shared step is legal."""
    return one[0] < other[1] and other[0] < one[1]


def _overlap_in_memory(start: int, size: int, other: Row) -> bool:
    other_start = int(other["offset"])
    return start < other_start + int(other["size"]) and other_start < start + size


def _concurrent_pair(random: Random, dump: Dump) -> tuple[Row, Row] | None:
    """Return two values of an allocation that are live at the same time in separate bytes.

    The first value can move: it is not at the end of the allocation, so no size changes.
    """
    live_ranges = _live_ranges(dump)
    head = pick(random, dump, "allocation", is_temporary)
    if head is None:
        return None
    found = []
    values = values_of(dump, head)
    last = max((int(row["offset"]) + int(row["size"]) for row in values), default=0)
    for one in values:
        for other in values:
            live_range, other_range = _live_range(live_ranges, one), _live_range(live_ranges, other)
            if (
                one is other
                or live_range is None
                or other_range is None
                or not _overlap_in_time(live_range, other_range)
            ):
                continue
            if int(one["offset"]) + int(one["size"]) == last or not int(other["size"]):
                continue
            if int(one["size"]) and not _overlap_in_memory(
                int(one["offset"]), int(one["size"]), other
            ):
                found.append((one, other))
    return random.choice(found) if found else None


def _move(random: Random, dump: Dump, one: Row, other: Row, offset: int) -> Damage | None:
    size, last = int(one["size"]), int(dump.owners[one.spot]["size"])
    is_slot = offset == int(other["offset"]) and one["size"] == other["size"]
    if is_slot or offset < 0 or offset + size > last or not _overlap_in_memory(offset, size, other):
        return None
    description = (
        f"offset of `{one.text.strip()[:80]}` -> {offset}, "
        f"overlapping `{other['name']}{other['index']}`"
    )
    return replace_line(dump, one, one.with_field("offset", str(offset)), description)


def _move_to_middle(random: Random, dump: Dump) -> Damage | None:
    pair = _concurrent_pair(random, dump)
    if pair is None:
        return None
    one, other = pair
    half = max(1, int(other["size"]) // 2)
    return _move(random, dump, one, other, int(other["offset"]) + half)


def _move_to_start(random: Random, dump: Dump) -> Damage | None:
    pair = _concurrent_pair(random, dump)
    return pair and _move(random, dump, *pair, int(pair[1]["offset"]))


def _move_across_start(random: Random, dump: Dump) -> Damage | None:
    pair = _concurrent_pair(random, dump)
    if pair is None:
        return None
    one, other = pair
    return _move(random, dump, one, other, int(other["offset"]) - max(1, int(one["size"]) // 2))


FAULTS = faults(
    "overlap",
    half_on_another=_move_to_middle,
    where_another_starts=_move_to_start,
    into_another_from_below=_move_across_start,
)
