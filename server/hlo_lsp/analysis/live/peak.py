"""The declared peak: its moment and its list, held against live ranges and shapes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hlo_lsp.analysis.live.live_section import Part, live_section
from hlo_lsp.analysis.live.lives import Lives, lives
from hlo_lsp.analysis.live.old_peak_list import flaws_of_old_list, row_name
from hlo_lsp.analysis.live.peak_list import Flaw, PeakFlaw, PeakList
from hlo_lsp.analysis.live.peak_moment import live_weight, peak_moment
from hlo_lsp.analysis.values.known_values import known_values
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import padded_size_of_text, target_of
from hlo_lsp.syntax.memory_records import PeakRow

_FEW = 4  # flaws of a list that are told one by one, however short it is


@dataclass(frozen=True, slots=True)
class Peak:
    """What is wrong with the declared peak.

    ``moment`` is the right one where another is printed, with the bytes that XLA counts at it and
    at the printed one; else None. ``at`` is the moment that the list was made for. ``flaws`` are
    those of the list; ``is_foreign`` says that most of its rows do not fit. ``if_sizes_fit`` is
    whether the moment is wrong only if no shape is damaged, which their sizes tell.
    """

    moment: int | None
    weight: int
    printed_weight: int
    at: int
    flaws: tuple[PeakFlaw, ...]
    is_foreign: bool
    if_sizes_fit: bool = False


def peak(dump: DumpSet) -> Peak | None:
    """The peak; None where there is none, or nothing to hold it against."""
    section = live_section(dump)
    if section is None or section.moment is None or lives(dump) is None:
        return None
    found = dump.derived(_peak, dump.files, but_places=True)
    if found is None or found.moment is None or not found.if_sizes_fit or sizes_fit(dump):
        return found
    return replace(found, moment=None, weight=0)


def _peak(dump: DumpSet) -> Peak | None:
    section, found = live_section(dump), lives(dump)
    if section is None or section.moment is None or found is None:
        return None
    printed = at = section.moment.moment
    weighed = [(live.start, live.end, live.weight) for live in found.by_key.values()]
    right: int | None = None
    if_sizes_fit = False
    best = peak_moment(weighed) if found.are_sure else printed
    if best != printed:
        here, there = (_unlike(section.peak, found, step) for step in (printed, best))
        if there < here:
            right = at = best
        elif here == 0:
            right, if_sizes_fit = best, True
    flaws = _flaws(dump, at)
    return Peak(
        right,
        0 if right is None else live_weight(weighed, right),
        live_weight(weighed, printed),
        at,
        tuple(flaws),
        len(flaws) > max(_FEW, len(section.peak) // 2),
        if_sizes_fit,
    )


def _flaws(dump: DumpSet, moment: int) -> list[PeakFlaw]:
    section, found = live_section(dump), lives(dump)
    if section is None or found is None:
        return []
    is_whole = section.is_whole(Part.PEAK)
    values = known_values(dump)
    rows = section.peak
    has_index = any(row.index is not None for row in rows)
    is_mixed = has_index and any(row.index is None for row in rows)
    if rows and (not has_index or is_mixed or all(row.cumulative is None for row in rows)):
        if found.unclear or is_mixed:
            return []
        due = [live for live in found.by_key.values() if live.at(moment)]
        ids = {live.row: values.by_key[live.row.key].id for live in due}
        if None not in ids.values():
            due.sort(key=lambda live: ids[live.row] or 0)
        names = {row_name(key, has_index=has_index) for key in values.by_key}
        flaws = flaws_of_old_list(rows, due, names, is_whole=is_whole)
    else:
        total = section.breakdown_total
        unclear = found.unclear
        if not values.are_all:  # a name that nobody knows may be that of a line nobody can read
            unclear |= {row.key for row in rows if row.key and row.key not in values.by_key}
        given = PeakList(rows, values.by_key, found.by_key, unclear, moment, total, is_whole)
        flaws = given.flaws()
    if values.are_all:
        return flaws
    return [flaw for flaw in flaws if flaw.flaw is not Flaw.UNKNOWN]


def _unlike(rows: Sequence[PeakRow], found: Lives, moment: int) -> int:
    """How many rows and values live at a step have no counterpart."""
    is_old = any(row.index is None for row in rows)
    live: Counter[str | None] = Counter(
        entry.row.name if is_old else key for key, entry in found.by_key.items() if entry.at(moment)
    )
    listed = Counter(row.name if is_old else row.key for row in rows)
    return (live - listed).total() + (listed - live).total()


def sizes_fit(dump: DumpSet) -> bool:
    """Whether the shapes of all values agree with their sizes: else one of them is damaged."""
    target = target_of(dump)
    for file in dump.files:
        for value in file.memory.assigned.records():
            padded = padded_size_of_text(value.shape, target, value.color or 0)
            if padded is None:
                continue
            if padded.exact and value.size not in padded.allowed | {padded.bytes}:
                return False
    return True
