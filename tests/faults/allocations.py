"""Damage to the list of allocations: numbers, sizes, sums, order."""

from random import Random

from faults.digits import near, of_another, times, typed
from faults.dump import Damage, Dump, Row
from faults.fault import Injection, faults
from faults.injections import New, around, change, damage, pick, put, replaced


def block(dump: Dump, head: Row) -> tuple[int, int]:
    """Return the lines of an allocation: its own and those of its values (end exclusive)."""
    end = head.line + 1
    while (head.path, end) in dump.owners:
        end += 1
    return head.line, end


def values_of(dump: Dump, head: Row) -> list[Row]:
    """Return the values in an allocation."""
    return [row for row in dump.rows("assigned") if dump.owners.get(row.spot) == head]


def has_values(dump: Dump, head: Row) -> bool:
    """Whether there is something in an allocation."""
    return (head.path, head.line + 1) in dump.owners


def is_temporary(dump: Dump, head: Row) -> bool:
    """Whether an allocation is laid out by offsets."""
    return "preallocated-temp" in head["flags"]


def _beyond(random: Random, dump: Dump, row: Row) -> str:
    return str(len(dump.rows("allocation")) + random.randrange(1, 9))


def _twice(random: Random, dump: Dump) -> Damage | None:
    head = pick(random, dump, "allocation")
    if head is None:
        return None
    start, end = block(dump, head)
    lines = dump.lines[head.path]
    new = replaced(lines, end, end, lines[start:end])
    return damage(head.path, new, range(start, 2 * end - start), f"twice `{head.text}`")


def _gone(random: Random, dump: Dump) -> Damage | None:
    last = len(dump.rows("allocation")) - 1
    head = pick(random, dump, "allocation", lambda dump, row: int(row["number"]) != last)
    if head is None:
        return None
    start, end = block(dump, head)
    new = replaced(dump.lines[head.path], start, end)
    return damage(head.path, new, around(start, new), f"`{head.text}` and its values gone")


def _swapped(random: Random, dump: Dump) -> Damage | None:
    heads = dump.rows("allocation")
    if len(heads) < 2:
        return None
    at = random.randrange(len(heads) - 1)
    start, middle = block(dump, heads[at])
    _, end = block(dump, heads[at + 1])
    lines = dump.lines[heads[at].path]
    new = replaced(lines, start, end, [*lines[middle:end], *lines[start:middle]])
    reported = f"`{heads[at].text}` and the next one have changed places"
    return damage(heads[at].path, new, [start, start + end - middle], reported)


def _larger(random: Random, dump: Dump, row: Row) -> str:
    size = int(row["size"])
    return random.choice([str(size + 1), str(2 * size or 64), row["size"] + "0", str(size + 4096)])


def _moved_out(by: "New") -> Injection:
    """Move a value past the end of its temp allocation."""
    return change(
        "assigned",
        "offset",
        by,
        lambda dump, row: row.spot in dump.owners and is_temporary(dump, dump.owners[row.spot]),
    )


def _behind_the_end(random: Random, dump: Dump, row: Row) -> str | None:
    room = int(dump.owners[row.spot]["size"])
    if not int(row["size"]):
        return None
    return str(room - int(row["size"]) + random.choice((1, 64, 512, int(row["size"]))))


def _offset_typed(random: Random, dump: Dump, row: Row) -> str | None:
    new = row["offset"] + random.choice("0123456789")
    room = int(dump.owners[row.spot]["size"])
    is_outside = int(new) + int(row["size"]) > room and int(row["size"])
    return new if row["offset"] != "0" and is_outside else None


def _no_temporary(dump: Dump, row: Row) -> bool:
    return row.spot in dump.owners and not is_temporary(dump, dump.owners[row.spot])


def _by_a_slot(random: Random, dump: Dump, row: Row) -> str:
    return str(random.choice((4, 8, 64, 512, 16384)))


def _by_its_size(random: Random, dump: Dump, row: Row) -> str | None:
    return row["size"] if row["size"] != "0" else None


def _half_way(random: Random, dump: Dump, row: Row) -> str | None:
    return str(int(row["size"]) // 2) if int(row["size"]) > 1 else None


def _size_gone(random: Random, dump: Dump) -> Damage | None:
    """Exchange the sizes of two allocations, which keeps the sum."""
    one, other = (pick(random, dump, "allocation", _is_no_temp) for _ in range(2))
    if one is None or other is None or int(one["size"]) >= int(other["size"]):
        return None
    return put(dump, one, one.put("size", other["size"]), f"size of `{other.text}` on `{one.text}`")


def _is_no_temp(dump: Dump, head: Row) -> bool:
    return not is_temporary(dump, head) and has_values(dump, head)


FAULTS = (
    *faults(
        "duplicate-allocation",
        number_of_another=change("allocation", "number", of_another("allocation", "number")),
        twice_with_its_values=_twice,
        number_of_the_one_above=change(
            "allocation",
            "number",
            lambda random, dump, row: str(int(row["number"]) - 1),
            lambda dump, row: row["number"] != "0",
        ),
    ),
    *faults(
        "allocation-numbering",
        number_of_none=change("allocation", "number", _beyond),
        gone_with_its_values=_gone,
        two_swapped=_swapped,
    ),
    *faults(
        "allocation-too-small",
        one_byte_less=change(
            "allocation",
            "size",
            lambda random, dump, row: str(int(row["size"]) - 1),
            lambda dump, row: has_values(dump, row) and row["size"] != "0",
        ),
        half=change(
            "allocation",
            "size",
            times("size", 0.5, 0.25),
            lambda dump, row: has_values(dump, row) and row["size"] != "0",
        ),
        last_digit_gone=change(
            "allocation",
            "size",
            lambda random, dump, row: row["size"][:-1],
            lambda dump, row: has_values(dump, row) and len(row["size"]) > 1,
        ),
    ),
    *faults(
        "allocation-slack",
        larger=change("allocation", "size", _larger, _is_no_temp),
        larger_temporary=change(
            "allocation",
            "size",
            _larger,
            lambda dump, row: is_temporary(dump, row) and has_values(dump, row),
        ),
        size_of_a_larger_one=_size_gone,
    ),
    *faults(
        "out-of-bounds",
        behind_the_end=_moved_out(_behind_the_end),
        offset_with_a_digit_more=_moved_out(_offset_typed),
        offset_of_the_end=_moved_out(
            lambda random, dump, row: dump.owners[row.spot]["size"] if row["size"] != "0" else None
        ),
    ),
    *faults(
        "nonzero-offset",
        a_slot=change("assigned", "offset", _by_a_slot, _no_temporary),
        its_size=change("assigned", "offset", _by_its_size, _no_temporary),
        half_its_size=change("assigned", "offset", _half_way, _no_temporary),
    ),
    *faults(
        "total-mismatch",
        near_by=change("total", "total", near("total")),
        a_digit=change("total", "total", typed("total")),
        twice=change("total", "total", times("total", 2, 0.5)),
    ),
)
