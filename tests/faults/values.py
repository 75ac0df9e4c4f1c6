"""Damage to the headers of values: ids, order, names, in allocations and under `Used values`."""

from collections.abc import Callable
from random import Random

from faults.digits import near, of_another
from faults.dump import Damage, Dump, Row
from faults.fault import Injection, faults
from faults.injections import (
    around,
    beside,
    change,
    copy,
    damage,
    double,
    in_one_file,
    move,
    pick,
    replaced,
    swap,
)


def entry(dump: Dump, head: Row) -> tuple[int, int]:
    """Return the lines of an entry (end exclusive)."""
    lines, end = dump.lines[head.path], head.line + 1
    while not lines[end - 1].startswith(" from instruction:"):
        end += 1
    return head.line, end


def _of_value(dump: Dump, kind: str, row: Row) -> set[tuple[object, int]]:
    """Return where the same value is among lines of another kind."""
    return {other.spot for other in dump.rows(kind) if other["id"] == row["id"]}


def _free(random: Random, dump: Dump, row: Row) -> str:
    """Return an id that no value has."""
    taken = {int(other["id"]) for kind in ("assigned", "entry") for other in dump.rows(kind)}
    free = sorted(set(range(max(taken) + 5)) - taken)
    return str(random.choice(free))


def _on_entry(
    injection: Callable[[Random, Dump, Row, int, int], Damage | None],
) -> Injection:
    def inject(random: Random, dump: Dump) -> Damage | None:
        head = pick(random, dump, "entry")
        return None if head is None else injection(random, dump, head, *entry(dump, head))

    return inject


def _twice(random: Random, dump: Dump, head: Row, start: int, end: int) -> Damage:
    lines = dump.lines[head.path]
    new = replaced(lines, end, end, lines[start:end])
    return damage(head.path, new, [start, end], f"the entry `{head.text}` twice")


def _gone(random: Random, dump: Dump, head: Row, start: int, end: int) -> Damage | None:
    if head.spot == dump.rows("entry")[-1].spot:
        return None  # a list without its last entry is cut off
    new = replaced(dump.lines[head.path], start, end)
    right = {(head.path, line) for line in around(start, new)}
    at_home = {
        (path, line - (end - start) * (path == head.path and line > start))
        for path, line in ((row.path, row.line) for row in dump.rows("assigned"))
        if (path, line) in _of_value(dump, "assigned", head)
    }
    return Damage({head.path: new}, frozenset(right | at_home), f"the entry `{head.text}` gone")


def _swapped(random: Random, dump: Dump, head: Row, start: int, end: int) -> Damage | None:
    other = next((row for row in dump.rows("entry") if row.line == end), None)
    if other is None:
        return None
    _, last = entry(dump, other)
    lines = dump.lines[head.path]
    new = replaced(lines, start, last, [*lines[end:last], *lines[start:end]])
    reported = f"the entries `{head.text}` and `{other.text}` have changed places"
    return damage(head.path, new, [start, start + last - end], reported)


def _assigned_gone(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "assigned")
    if row is None:
        return None
    new = replaced(dump.lines[row.path], row.line, row.line + 1)
    right = {(row.path, line) for line in around(row.line, new)}
    right |= {
        (path, line - (path == row.path and line > row.line))
        for path, line in (other.spot for other in dump.rows("entry") if other["id"] == row["id"])
    }
    return Damage({row.path: new}, frozenset(right), f"`{row.text.strip()[:80]}` gone")


def _renamed(random: Random, dump: Dump, row: Row) -> str:
    stem, dot, number = row["name"].rpartition(".")
    forms = [row["name"] + ".clone", row["name"][:-1] or "x"]
    if dot and number.isdigit():
        forms.append(f"{stem}.{int(number) + 1}")
    return random.choice(forms)


def _indexed(random: Random, dump: Dump, row: Row) -> str:
    inside = row["index"][1:-1]
    return "{" + (f"{inside},0" if inside else "0") + "}"


def _phi(random: Random, dump: Dump) -> Damage | None:
    """Add or remove the mark of a merged value."""
    row = pick(random, dump, random.choice(("assigned", "entry")))
    if row is None:
        return None
    end = row.match.end("index") if row.has("index") else row.match.end("name")
    line = row.put("phi", "") if row.has("phi") else f"{row.text[:end]} (phi){row.text[end:]}"
    new = replaced(dump.lines[row.path], row.line, row.line + 1, [line])
    return damage(row.path, new, [row.line], f"`{line.strip()[:80]}`")


def _fits(dump: Dump, row: Row, to: Row) -> bool:
    """Return whether a value precedes one of another allocation by id."""
    mine, other = dump.owners.get(row.spot), dump.owners.get(to.spot)
    before = (to.path, to.line - 1)
    above = next((one for one in dump.rows("assigned") if one.spot == before), None)
    is_behind = above is None or int(above["id"]) < int(row["id"])
    return mine != other and is_behind and int(row["id"]) < int(to["id"])


def _of_one(dump: Dump, one: Row, other: Row) -> bool:
    return beside(dump, one, other) and dump.owners.get(one.spot) == dump.owners.get(other.spot)


def _in_one(dump: Dump, one: Row, other: Row) -> bool:
    return dump.owners.get(one.spot) == dump.owners.get(other.spot)


FAULTS = (
    *faults(
        "duplicate-value-id",
        of_another_in_the_allocations=change("assigned", "id", of_another("assigned", "id")),
        of_another_entry=change("entry", "id", of_another("entry", "id")),
        an_entry_twice=_on_entry(_twice),
        a_value_twice=double("assigned"),
    ),
    *faults(
        "value-order",
        two_values_swapped=swap("assigned", _of_one),
        a_value_moved=move("assigned", _in_one),
        two_entries_swapped=_on_entry(_swapped),
    ),
    *faults(
        "value-set-mismatch",
        a_value_less=_assigned_gone,
        an_entry_less=_on_entry(_gone),
        id_of_none_in_the_allocations=change("assigned", "id", _free),
        id_of_none_under_used_values=change("entry", "id", _free),
    ),
    *faults(
        "header-mismatch",
        renamed_in_the_allocations=change("assigned", "name", _renamed),
        renamed_under_used_values=change("entry", "name", _renamed),
        name_of_another=change("entry", "name", of_another("entry", "name")),
        another_index=change("assigned", "index", _indexed),
        phi=_phi,
        color_under_used_values=change("entry", "color", near("color")),
    ),
    *faults(
        "value-in-two-allocations",
        in_another_allocation=copy("assigned", _fits),
        behind_an_allocation=copy(
            "assigned",
            lambda dump, row, to: in_one_file(dump, row, to) and not _in_one(dump, row, to),
        ),
        below_the_next_head=copy(
            "assigned",
            lambda dump, row, to: (
                not _in_one(dump, row, to)
                and (to.path, to.line - 1) not in dump.owners
                and int(row["id"]) < int(to["id"])
            ),
        ),
    ),
)
