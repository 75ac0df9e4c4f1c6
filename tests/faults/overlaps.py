"""Values of temp allocations that are put into bytes that others have at that time."""

from random import Random

from faults.allocations import is_temporary, values_of
from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import pick, put

_Life = tuple[int, int]


def _lives(dump: Dump) -> dict[str, _Life]:
    return {
        row["name"] + row["index"]: (int(row["start"]), int(row["end"]))
        for row in dump.rows("range")
    }


def _life(lives: dict[str, _Life], row: Row) -> _Life | None:
    return lives.get(row["name"] + (row["index"] or "{}"))


def _at_once(one: _Life, other: _Life) -> bool:
    """Whether two values share more than one step: to touch is legal."""
    return one[0] < other[1] and other[0] < one[1]


def _shared(start: int, size: int, other: Row) -> bool:
    its = int(other["offset"])
    return start < its + int(other["size"]) and its < start + size


def _pair(random: Random, dump: Dump) -> tuple[Row, Row] | None:
    """Two values of an allocation that live at once, in bytes of their own; the first may move.

    It does not end the allocation, so that no other size is touched.
    """
    lives = _lives(dump)
    head = pick(random, dump, "allocation", is_temporary)
    if head is None:
        return None
    found = []
    values = values_of(dump, head)
    last = max((int(row["offset"]) + int(row["size"]) for row in values), default=0)
    for one in values:
        for other in values:
            life, its = _life(lives, one), _life(lives, other)
            if one is other or life is None or its is None or not _at_once(life, its):
                continue
            if int(one["offset"]) + int(one["size"]) == last or not int(other["size"]):
                continue
            if int(one["size"]) and not _shared(int(one["offset"]), int(one["size"]), other):
                found.append((one, other))
    return random.choice(found) if found else None


def _moved(random: Random, dump: Dump, one: Row, other: Row, offset: int) -> Damage | None:
    size, last = int(one["size"]), int(dump.owners[one.spot]["size"])
    is_slot = offset == int(other["offset"]) and one["size"] == other["size"]
    if is_slot or offset < 0 or offset + size > last or not _shared(offset, size, other):
        return None
    reported = (
        f"offset of `{one.text.strip()[:80]}` -> {offset}, on `{other['name']}{other['index']}`"
    )
    return put(dump, one, one.put("offset", str(offset)), reported)


def _half_on(random: Random, dump: Dump) -> Damage | None:
    pair = _pair(random, dump)
    if pair is None:
        return None
    one, other = pair
    half = max(1, int(other["size"]) // 2)
    return _moved(random, dump, one, other, int(other["offset"]) + half)


def _same_start(random: Random, dump: Dump) -> Damage | None:
    pair = _pair(random, dump)
    return pair and _moved(random, dump, *pair, int(pair[1]["offset"]))


def _from_below(random: Random, dump: Dump) -> Damage | None:
    pair = _pair(random, dump)
    if pair is None:
        return None
    one, other = pair
    return _moved(random, dump, one, other, int(other["offset"]) - max(1, int(one["size"]) // 2))


FAULTS = faults(
    "overlap",
    half_on_another=_half_on,
    where_another_starts=_same_start,
    into_another_from_below=_from_below,
)
