"""From which step to which each value lives, with its bytes: what the peak is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.analysis.live.live_rows import LiveRows, live_rows
from hlo_lsp.analysis.live.live_section import Part, live_section
from hlo_lsp.analysis.live.live_starts import LiveStarts, Start
from hlo_lsp.analysis.steps.printed_schedule import learn_schedules, printed_schedule
from hlo_lsp.analysis.values.known_values import known_values
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import RangeRow
from hlo_lsp.text.checkpoint import checkpoint

Order = tuple[int, bytes, tuple[int, ...]]


class Live(NamedTuple):
    """A value with its first and last step, its own unpadded bytes and those of its instruction."""

    row: RangeRow
    start: int
    end: int
    bytes: int
    weight: int

    def at(self, step: int) -> bool:
        """Whether it lives at a step; both ends count."""
        return self.start <= step <= self.end


@dataclass(frozen=True, slots=True)
class Lives:
    """The live values by key, in the order of their rows.

    A start that is certainly wrong is put right. ``unclear`` are the keys of which no range, or not
    the size, is known; ``are_sure`` says that none of them should have a range.
    """

    by_key: Mapping[str, Live]
    unclear: frozenset[str]
    are_sure: bool


def lives(dump: DumpSet) -> Lives | None:
    """The lives of all values; None where no file tells them."""
    if live_rows(dump) is None or printed_schedule(dump) is None:
        return None
    return dump.derived(_lives, dump.files, but_places=True)


def wrong_starts(dump: DumpSet) -> Mapping[RangeRow, Start]:
    """The live ranges that begin at a wrong step, with the right one."""
    return dump.derived(_wrong_starts, dump.files, but_places=True)


def learn_lives(dump: DumpSet) -> DumpSet:
    """Find out what :func:`lives` needs, in steps of some 20 ms; after that it is at hand.

    Returns the files that are of one compile with the live ranges.
    """
    kindred = learn_schedules(dump)
    for part in (known_values, live_rows, wrong_starts, lives):
        part(kindred)
        checkpoint()
    return kindred


def peak_order(key: str, size: int) -> Order:
    """What the list at the peak is sorted by: most bytes first, then name, then index."""
    name, _, index = key.partition("{")
    digits = index[:-1]
    return -size, name.encode(), tuple(map(int, digits.split(","))) if digits else ()


def _wrong_starts(dump: DumpSet) -> Mapping[RangeRow, Start]:
    rows, section = live_rows(dump), live_section(dump)
    starts = LiveStarts(dump)
    known = () if section is None else section.ranges
    found = {}
    for row in known if rows is None else rows.known:
        start = starts.wrong(row)
        if start is not None:
            found[row] = start
    return found


def _lives(dump: DumpSet) -> Lives | None:
    rows, section, printed = live_rows(dump), live_section(dump), printed_schedule(dump)
    if rows is None or section is None or printed is None:
        return None
    values, starts = known_values(dump), LiveStarts(dump)
    wrong_ones = wrong_starts(dump)
    found: dict[str, Live] = {}
    unclear = _without_row(rows)
    if not section.is_whole(Part.RANGES):
        listed = {row.key for row in rows.known}
        unclear |= {key for key in values.by_key if key not in listed}
    lost = len(unclear)
    for row in rows.known:
        key = row.key
        value = values.by_key[key]
        size, weight = values.bytes(key), values.weight(key)
        wrong = wrong_ones.get(row)
        start = row.start_step if wrong is None else wrong.step
        end = printed.last if starts.lives_to_the_end(value) else row.end_step
        in_order = row.start_step <= row.end_step and start <= end <= printed.last
        if size is None or weight is None or not in_order:
            unclear.add(key)
        else:
            found[key] = Live(row, start, end, size, weight)
    are_sure = len(unclear) == lost and rows.are_all_there and section.is_whole(Part.RANGES)
    return Lives(found, frozenset(unclear), are_sure)


def _without_row(rows: LiveRows) -> set[str]:
    """The values that should have a live range and have none, or one under a wrong name."""
    found = {key for gap in rows.absent for key in gap.keys}
    strange = (*rows.strangers, *rows.doubled)
    return found | {each.instead for each in strange if each.instead is not None}
