"""Damage to the list of allocations: numbers, sizes, totals, and order."""

from random import Random

from faults.digits import copy_field, edit_digit, multiply, off_by_one
from faults.dump import Damage, Dump, Row
from faults.fault import Injection, faults
from faults.injections import (
    NewText,
    adjacent_lines,
    change,
    file_damage,
    pick,
    replace_line,
    replace_lines,
)


def allocation_lines(dump: Dump, head: Row) -> tuple[int, int]:
    """Return the start and the end (exclusive) of the lines of an allocation and its values."""
    end = head.line + 1
    while (head.path, end) in dump.owners:
        end += 1
    return head.line, end


def values_of(dump: Dump, head: Row) -> list[Row]:
    """Return the values in an allocation."""
    return [row for row in dump.rows("assigned") if dump.owners.get(row.spot) == head]


def has_values(dump: Dump, head: Row) -> bool:
    """Return whether an allocation has values."""
    return (head.path, head.line + 1) in dump.owners


def is_temporary(dump: Dump, head: Row) -> bool:
    """Return whether an allocation is the temp allocation, in which values have offsets."""
    return "preallocated-temp" in head["flags"]


def _unused_number(random: Random, dump: Dump, row: Row) -> str:
    return str(len(dump.rows("allocation")) + random.randrange(1, 9))


def _duplicate_allocation(random: Random, dump: Dump) -> Damage | None:
    head = pick(random, dump, "allocation")
    if head is None:
        return None
    start, end = allocation_lines(dump, head)
    lines = dump.lines[head.path]
    new = replace_lines(lines, end, end, lines[start:end])
    return file_damage(head.path, new, range(start, 2 * end - start), f"`{head.text}` duplicated")


def _remove_allocation(random: Random, dump: Dump) -> Damage | None:
    last = len(dump.rows("allocation")) - 1
    head = pick(random, dump, "allocation", lambda dump, row: int(row["number"]) != last)
    if head is None:
        return None
    start, end = allocation_lines(dump, head)
    new = replace_lines(dump.lines[head.path], start, end)
    return file_damage(
        head.path, new, adjacent_lines(start, new), f"`{head.text}` and its values removed"
    )


def _swap_allocations(random: Random, dump: Dump) -> Damage | None:
    heads = dump.rows("allocation")
    if len(heads) < 2:
        return None
    at = random.randrange(len(heads) - 1)
    start, middle = allocation_lines(dump, heads[at])
    _, end = allocation_lines(dump, heads[at + 1])
    lines = dump.lines[heads[at].path]
    new = replace_lines(lines, start, end, [*lines[middle:end], *lines[start:middle]])
    description = f"`{heads[at].text}` and the next allocation swapped"
    return file_damage(heads[at].path, new, [start, start + end - middle], description)


def _increase_size(random: Random, dump: Dump, row: Row) -> str:
    size = int(row["size"])
    return random.choice([str(size + 1), str(2 * size or 64), row["size"] + "0", str(size + 4096)])


def _move_past_end(new_offset: NewText) -> Injection:
    """Move a value past the end of its temp allocation."""
    return change(
        "assigned",
        "offset",
        new_offset,
        lambda dump, row: row.spot in dump.owners and is_temporary(dump, dump.owners[row.spot]),
    )


def _offset_past_end(random: Random, dump: Dump, row: Row) -> str | None:
    allocation_size = int(dump.owners[row.spot]["size"])
    if not int(row["size"]):
        return None
    return str(allocation_size - int(row["size"]) + random.choice((1, 64, 512, int(row["size"]))))


def _append_offset_digit(random: Random, dump: Dump, row: Row) -> str | None:
    new = row["offset"] + random.choice("0123456789")
    allocation_size = int(dump.owners[row.spot]["size"])
    is_outside = int(new) + int(row["size"]) > allocation_size and int(row["size"])
    return new if row["offset"] != "0" and is_outside else None


def _is_in_non_temporary(dump: Dump, row: Row) -> bool:
    return row.spot in dump.owners and not is_temporary(dump, dump.owners[row.spot])


def _offset_of_slot(random: Random, dump: Dump, row: Row) -> str:
    return str(random.choice((4, 8, 64, 512, 16384)))


def _offset_of_size(random: Random, dump: Dump, row: Row) -> str | None:
    return row["size"] if row["size"] != "0" else None


def _offset_of_half_size(random: Random, dump: Dump, row: Row) -> str | None:
    return str(int(row["size"]) // 2) if int(row["size"]) > 1 else None


def _take_larger_size(random: Random, dump: Dump) -> Damage | None:
    """Replace the size of an allocation with the size of a larger one."""
    one, other = (pick(random, dump, "allocation", _is_non_temporary) for _ in range(2))
    if one is None or other is None or int(one["size"]) >= int(other["size"]):
        return None
    return replace_line(
        dump, one, one.with_field("size", other["size"]), f"size of `{other.text}` on `{one.text}`"
    )


def _is_non_temporary(dump: Dump, head: Row) -> bool:
    return not is_temporary(dump, head) and has_values(dump, head)


FAULTS = (
    *faults(
        "duplicate-allocation",
        number_of_another=change("allocation", "number", copy_field("allocation", "number")),
        twice_with_its_values=_duplicate_allocation,
        number_of_the_one_above=change(
            "allocation",
            "number",
            lambda random, dump, row: str(int(row["number"]) - 1),
            lambda dump, row: row["number"] != "0",
        ),
    ),
    *faults(
        "allocation-numbering",
        number_of_none=change("allocation", "number", _unused_number),
        gone_with_its_values=_remove_allocation,
        two_swapped=_swap_allocations,
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
            multiply("size", 0.5, 0.25),
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
        larger=change("allocation", "size", _increase_size, _is_non_temporary),
        larger_temporary=change(
            "allocation",
            "size",
            _increase_size,
            lambda dump, row: is_temporary(dump, row) and has_values(dump, row),
        ),
        size_of_a_larger_one=_take_larger_size,
    ),
    *faults(
        "out-of-bounds",
        behind_the_end=_move_past_end(_offset_past_end),
        offset_with_a_digit_more=_move_past_end(_append_offset_digit),
        offset_of_the_end=_move_past_end(
            lambda random, dump, row: dump.owners[row.spot]["size"] if row["size"] != "0" else None
        ),
    ),
    *faults(
        "nonzero-offset",
        a_slot=change("assigned", "offset", _offset_of_slot, _is_in_non_temporary),
        its_size=change("assigned", "offset", _offset_of_size, _is_in_non_temporary),
        half_its_size=change("assigned", "offset", _offset_of_half_size, _is_in_non_temporary),
    ),
    *faults(
        "total-mismatch",
        near_by=change("total", "total", off_by_one("total")),
        a_digit=change("total", "total", edit_digit("total")),
        twice=change("total", "total", multiply("total", 2, 0.5)),
    ),
)
