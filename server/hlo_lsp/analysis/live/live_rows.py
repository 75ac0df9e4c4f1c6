"""The rows of ``BufferLiveRange`` held against the values of the dump."""

from bisect import bisect_right
from collections.abc import Container
from dataclasses import dataclass, replace

from hlo_lsp.analysis.assignment.ordering import Misplaced, misplaced
from hlo_lsp.analysis.live.live_section import Part, live_section
from hlo_lsp.analysis.live.live_starts import LiveStarts
from hlo_lsp.analysis.steps.printed_schedule import printed_schedule, text_schedule
from hlo_lsp.analysis.values.known_values import KnownValue, known_values
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import RangeRow

_FEW = 2  # rows of a tiny module that may all be damaged


@dataclass(frozen=True, slots=True)
class Stranger:
    """A row that names no value, or one that has another row, its ``twin``.

    ``instead`` is the value whose row it seems to be.
    """

    row: RangeRow
    instead: str | None = None
    twin: RangeRow | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """Values that follow each other by id and have no row. Theirs would be in front of ``before``.

    That is None at the end of the list.
    """

    keys: tuple[str, ...]
    before: RangeRow | None


@dataclass(frozen=True, slots=True)
class LiveRows:
    """What is wrong with the rows of ``BufferLiveRange``.

    ``known`` are the rows that name a value, those in the wrong place among them; ``misplaced``
    counts them. ``local`` are rows of values that have no live range.
    """

    known: tuple[RangeRow, ...]
    strangers: tuple[Stranger, ...]
    local: tuple[RangeRow, ...]
    absent: tuple[Absent, ...]
    doubled: tuple[Stranger, ...]
    misplaced: tuple[Misplaced, ...]

    @property
    def are_foreign(self) -> bool:
        """Whether most rows name no value: the live ranges are those of another compile."""
        return len(self.strangers) > max(_FEW, len(self.known))

    @property
    def are_all_there(self) -> bool:
        """Whether each value that lives has one row, and no other rows are there."""
        return not (self.strangers or self.local or self.absent or self.doubled)


def live_rows(dump: DumpSet) -> LiveRows | None:
    """Compare rows and values; None where one or the other is not there."""
    section = live_section(dump)
    if section is None or not known_values(dump).by_key:
        return None
    return dump.derived(_live_rows, dump.files, but_places=True)


def _live_rows(dump: DumpSet) -> LiveRows | None:
    section = live_section(dump)
    if section is None:
        return None
    values, scheduled = known_values(dump), _scheduled(dump)
    known: list[RangeRow] = []
    local: list[RangeRow] = []
    strange: list[RangeRow] = []
    for row in section.ranges:
        value = values.by_key.get(row.key)
        if value is None:
            strange.append(row)
        elif value.is_thread_local and row.name not in scheduled:
            local.append(row)
        else:
            known.append(row)
    known, twins, wrong = _in_order(known, values.by_key, LiveStarts(dump))
    absent = _absent(dump, known) if section.is_whole(Part.RANGES) else []
    strangers, absent = _renamed(section.ranges, {*strange, *twins}, known, absent)
    return LiveRows(
        tuple(known),
        tuple(each for each in strangers if each.row not in twins) if values.are_all else (),
        tuple(local),
        tuple(absent),
        tuple(replace(each, twin=twins[each.row]) for each in strangers if each.row in twins),
        tuple(wrong),
    )


def _in_order(
    rows: list[RangeRow], values: dict[str, KnownValue], starts: LiveStarts
) -> tuple[list[RangeRow], dict[RangeRow, RangeRow], list[Misplaced]]:
    """The rows without second ones of a key, those by their twins, and which of the rest are wrong.

    Of two with one key that is the right one which begins where it should and stands where its id
    belongs.
    """
    ids = [values[row.key].id for row in rows]
    clear = [place for place, id_ in enumerate(ids) if id_ is not None]
    wrong = misplaced([ids[place] for place in clear])
    seats: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        seats.setdefault(row.key, []).append(place)
    if len(seats) == len(rows):
        return rows, {}, [_among(found, clear) for found in wrong]
    outside = {clear[found.at] for found in wrong}
    second: dict[int, int] = {}
    for places in seats.values():
        if len(places) > 1:
            right = min(
                places,
                key=lambda place: (starts.wrong(rows[place]) is not None, place in outside),
            )
            second.update({place: right for place in places if place != right})
    twins = {rows[place]: rows[right] for place, right in second.items()}
    rest = [row for place, row in enumerate(rows) if place not in second]
    kept, _, still_wrong = _in_order(rest, values, starts)
    return kept, twins, still_wrong


def _among(found: Misplaced, places: list[int]) -> Misplaced:
    other, before = found.swapped_with, found.fits_before
    return Misplaced(
        places[found.at],
        None if other is None else places[other],
        None if before is None else places[before],
    )


def _absent(dump: DumpSet, rows: list[RangeRow]) -> list[Absent]:
    """The values without a row that must have one: their instruction is in the schedule."""
    values, scheduled = known_values(dump).by_key, _scheduled(dump)
    there = {row.key for row in rows}
    missing = [
        (value.id, key)
        for key, value in values.items()
        if key not in there
        and value.id is not None
        and value.name in scheduled
        and _is_agreed(dump, value, key)
    ]
    by_id = [(id_, row) for row in rows if (id_ := values[row.key].id) is not None]
    by_id.sort(key=lambda pair: pair[0])
    ids = [id_ for id_, _ in by_id]
    groups: dict[int, list[str]] = {}
    for id_, key in sorted(missing):
        groups.setdefault(bisect_right(ids, id_), []).append(key)
    return [
        Absent(tuple(keys), by_id[place][1] if place < len(by_id) else None)
        for place, keys in groups.items()
    ]


def _scheduled(dump: DumpSet) -> Container[str]:
    """The names of scheduled instructions: only their values have live ranges."""
    printed, text = printed_schedule(dump), text_schedule(dump)
    if text is not None:
        return text.step
    return () if printed is None else printed.step


def _is_agreed(dump: DumpSet, value: KnownValue, key: str) -> bool:
    """Whether allocation and entry, as far as they are there, give the value the same name."""
    id_ = value.id
    assert id_ is not None
    assigned = dump.find(lambda index: index.assigned, id_)
    entry = dump.find(lambda index: index.entries, id_)
    return all(found is None or found.record.key == key for found in (assigned, entry))


def _renamed(
    rows: list[RangeRow], strange: set[RangeRow], known: list[RangeRow], absent: list[Absent]
) -> tuple[list[Stranger], list[Absent]]:
    """Pair rows that are nobody's with values that have no row, where their places agree."""
    left = {gap.before: list(gap.keys) for gap in absent}
    known_rows = set(known)
    following: RangeRow | None = None
    strangers: list[Stranger] = []
    for row in reversed(rows):
        if row in strange:
            keys = left.get(following)
            strangers.append(Stranger(row, keys.pop() if keys else None))
        elif row in known_rows:
            following = row
    rest = [Absent(tuple(keys), before) for before, keys in left.items() if keys]
    return strangers[::-1], rest
