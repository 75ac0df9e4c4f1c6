"""Damage to headers of values in allocations and under `Used values`: ids, order, and names."""

from collections.abc import Callable
from random import Random

from faults.digits import copy_field, off_by_one
from faults.dump import Damage, Dump, Row
from faults.fault import Injection, faults
from faults.injections import (
    adjacent_lines,
    are_adjacent,
    are_in_same_file,
    change,
    copy,
    duplicate,
    file_damage,
    move,
    pick,
    replace_lines,
    swap,
)


def entry_lines(dump: Dump, head: Row) -> tuple[int, int]:
    """Return the lines of an entry (end exclusive)."""
    lines, end = dump.lines[head.path], head.line + 1
    while not lines[end - 1].startswith(" from instruction:"):
        end += 1
    return head.line, end


def _spots_of_value(dump: Dump, kind: str, row: Row) -> set[tuple[object, int]]:
    """Return the lines of another kind that have the id of a value."""
    return {other.spot for other in dump.rows(kind) if other["id"] == row["id"]}


def _unused_id(random: Random, dump: Dump, row: Row) -> str:
    """Return an unused id."""
    taken = {int(other["id"]) for kind in ("assigned", "entry") for other in dump.rows(kind)}
    free = sorted(set(range(max(taken) + 5)) - taken)
    return str(random.choice(free))


def _inject_into_entry(
    injection: Callable[[Random, Dump, Row, int, int], Damage | None],
) -> Injection:
    def inject(random: Random, dump: Dump) -> Damage | None:
        head = pick(random, dump, "entry")
        return None if head is None else injection(random, dump, head, *entry_lines(dump, head))

    return inject


def _duplicate_entry(random: Random, dump: Dump, head: Row, start: int, end: int) -> Damage:
    lines = dump.lines[head.path]
    new = replace_lines(lines, end, end, lines[start:end])
    return file_damage(head.path, new, [start, end], f"entry `{head.text}` duplicated")


def _remove_entry(random: Random, dump: Dump, head: Row, start: int, end: int) -> Damage | None:
    if head.spot == dump.rows("entry")[-1].spot:
        return None  # A list without its last entry is truncated.
    new = replace_lines(dump.lines[head.path], start, end)
    expected = {(head.path, line) for line in adjacent_lines(start, new)}
    assigned_spots = {
        (path, line - (end - start) * (path == head.path and line > start))
        for path, line in ((row.path, row.line) for row in dump.rows("assigned"))
        if (path, line) in _spots_of_value(dump, "assigned", head)
    }
    return Damage(
        {head.path: new}, frozenset(expected | assigned_spots), f"entry `{head.text}` removed"
    )


def _swap_entries(random: Random, dump: Dump, head: Row, start: int, end: int) -> Damage | None:
    other = next((row for row in dump.rows("entry") if row.line == end), None)
    if other is None:
        return None
    _, last = entry_lines(dump, other)
    lines = dump.lines[head.path]
    new = replace_lines(lines, start, last, [*lines[end:last], *lines[start:end]])
    description = f"entries `{head.text}` and `{other.text}` swapped"
    return file_damage(head.path, new, [start, start + last - end], description)


def _remove_assigned_value(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "assigned")
    if row is None:
        return None
    new = replace_lines(dump.lines[row.path], row.line, row.line + 1)
    expected = {(row.path, line) for line in adjacent_lines(row.line, new)}
    expected |= {
        (path, line - (path == row.path and line > row.line))
        for path, line in (other.spot for other in dump.rows("entry") if other["id"] == row["id"])
    }
    return Damage({row.path: new}, frozenset(expected), f"`{row.text.strip()[:80]}` removed")


def _rename(random: Random, dump: Dump, row: Row) -> str:
    stem, dot, number = row["name"].rpartition(".")
    forms = [row["name"] + ".clone", row["name"][:-1] or "x"]
    if dot and number.isdigit():
        forms.append(f"{stem}.{int(number) + 1}")
    return random.choice(forms)


def _extend_index(random: Random, dump: Dump, row: Row) -> str:
    inside = row["index"][1:-1]
    return "{" + (f"{inside},0" if inside else "0") + "}"


def _toggle_phi(random: Random, dump: Dump) -> Damage | None:
    """Add or remove the mark `(phi)`."""
    row = pick(random, dump, random.choice(("assigned", "entry")))
    if row is None:
        return None
    end = row.match.end("index") if row.has("index") else row.match.end("name")
    line = (
        row.with_field("phi", "") if row.has("phi") else f"{row.text[:end]} (phi){row.text[end:]}"
    )
    new = replace_lines(dump.lines[row.path], row.line, row.line + 1, [line])
    return file_damage(row.path, new, [row.line], f"`{line.strip()[:80]}`")


def _fits_in_other_allocation(dump: Dump, row: Row, to: Row) -> bool:
    """Return whether a value fits by its id before a value of another allocation."""
    own_allocation, other = dump.owners.get(row.spot), dump.owners.get(to.spot)
    before = (to.path, to.line - 1)
    previous_value = next((one for one in dump.rows("assigned") if one.spot == before), None)
    is_after_previous = previous_value is None or int(previous_value["id"]) < int(row["id"])
    return own_allocation != other and is_after_previous and int(row["id"]) < int(to["id"])


def _are_adjacent_in_allocation(dump: Dump, one: Row, other: Row) -> bool:
    return are_adjacent(dump, one, other) and dump.owners.get(one.spot) == dump.owners.get(
        other.spot
    )


def _are_in_same_allocation(dump: Dump, one: Row, other: Row) -> bool:
    return dump.owners.get(one.spot) == dump.owners.get(other.spot)


FAULTS = (
    *faults(
        "duplicate-value-id",
        of_another_in_the_allocations=change("assigned", "id", copy_field("assigned", "id")),
        of_another_entry=change("entry", "id", copy_field("entry", "id")),
        an_entry_twice=_inject_into_entry(_duplicate_entry),
        a_value_twice=duplicate("assigned"),
    ),
    *faults(
        "value-order",
        two_values_swapped=swap("assigned", _are_adjacent_in_allocation),
        a_value_moved=move("assigned", _are_in_same_allocation),
        two_entries_swapped=_inject_into_entry(_swap_entries),
    ),
    *faults(
        "value-set-mismatch",
        a_value_less=_remove_assigned_value,
        an_entry_less=_inject_into_entry(_remove_entry),
        id_of_none_in_the_allocations=change("assigned", "id", _unused_id),
        id_of_none_under_used_values=change("entry", "id", _unused_id),
    ),
    *faults(
        "header-mismatch",
        renamed_in_the_allocations=change("assigned", "name", _rename),
        renamed_under_used_values=change("entry", "name", _rename),
        name_of_another=change("entry", "name", copy_field("entry", "name")),
        another_index=change("assigned", "index", _extend_index),
        phi=_toggle_phi,
        color_under_used_values=change("entry", "color", off_by_one("color")),
    ),
    *faults(
        "value-in-two-allocations",
        in_another_allocation=copy("assigned", _fits_in_other_allocation),
        behind_an_allocation=copy(
            "assigned",
            lambda dump, row, to: (
                are_in_same_file(dump, row, to) and not _are_in_same_allocation(dump, row, to)
            ),
        ),
        below_the_next_head=copy(
            "assigned",
            lambda dump, row, to: (
                not _are_in_same_allocation(dump, row, to)
                and (to.path, to.line - 1) not in dump.owners
                and int(row["id"]) < int(to["id"])
            ),
        ),
    ),
)
