"""Where the printed schedule and the module text disagree, and which of them is wrong."""

from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.assignment.ordering import misplaced
from hlo_lsp.analysis.live.live_section import live_section
from hlo_lsp.analysis.live.live_starts import exchanged_names
from hlo_lsp.analysis.steps.printed_schedule import (
    PrintedSchedule,
    TextSchedule,
    any_text_schedule,
    is_printed,
    printed_schedule,
    share_names,
)
from hlo_lsp.analysis.steps.step_numbers import Trouble
from hlo_lsp.analysis.values.known_values import known_values
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import SequenceRow
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue


class Kind(Enum):
    """How schedule and text differ."""

    FOREIGN = "most names are not the same"
    RENAMED = "another name stands at a step"
    SWAPPED = "two names have changed places"
    MOVED = "a name stands at another place"
    ONLY_PRINTED = "a name is not in the text"
    ONLY_IN_TEXT = "a name is not in the schedule"
    NOWHERE = "a name is that of no instruction"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs.

    ``line`` is what the text has instead, or where the text would have it; None without a text.
    ``other`` is the second row of two that changed places. ``blames_text`` says that the values
    and the live ranges agree with the row.
    """

    kind: Kind
    row: SequenceRow
    line: LocatedRecord[InstructionLine] | None = None
    other: SequenceRow | None = None
    blames_text: bool = False


def schedule_differences(dump: DumpSet) -> list[Difference]:
    """All differences in the order of the schedule. Without a module text the values must do."""
    printed, text = printed_schedule(dump), any_text_schedule(dump)
    if printed is None or not printed.at:
        return []
    if text is None:
        return _without_text(dump, printed)
    if is_printed(printed, text):
        return []
    if not share_names(printed, text):
        return [Difference(Kind.FOREIGN, next(iter(printed.at.values())))]
    return _Comparison(dump, printed, text).differences()


def doubled_names(dump: DumpSet) -> list[tuple[SequenceRow, SequenceRow]]:
    """Rows with the name of another row, with that one.

    The live ranges tell which of two stands where it should: where they begin, or where those of
    no name that is left begin. Else the first one does.
    """
    printed, section = printed_schedule(dump), live_section(dump)
    if printed is None or section is None or len(printed.step) == len(printed.at):
        return []
    starts = {row.name: row.start_step for row in section.ranges}
    steps: dict[str, list[int]] = {}
    for step, row in printed.at.items():
        steps.setdefault(row.name, []).append(step)
    taken = {start for name, start in starts.items() if name not in steps}
    found = []
    for name, places in steps.items():
        right = min(places, key=lambda step: (step != starts.get(name), step in taken, step))
        found += [(printed.at[step], printed.at[right]) for step in places if step != right]
    return found


class _Comparison:
    """Rows of the schedule held against lines of the text; both have most names in common."""

    def __init__(self, dump: DumpSet, printed: PrintedSchedule, text: TextSchedule) -> None:
        self.printed = printed
        self.text = text
        self.lines = text.schedule.instructions
        section = live_section(dump)
        self.starts: dict[str, set[int]] = {}
        for row in section.ranges if section is not None else ():
            self.starts.setdefault(row.name, set()).add(row.start_step)
        self.values = {value.name for value in known_values(dump).by_key.values()}

    def differences(self) -> list[Difference]:
        steps = sorted(self.printed.at)
        common = [step for step in steps if self._place(step) is not None]
        places = [self.text.step[self.printed.at[step].name] for step in common]
        moved = misplaced(places)
        found: dict[int, Difference] = {}
        for fault in moved:
            step = common[fault.at]
            if fault.swapped_with is None:
                found[step] = self._moved(step, None)
            else:
                found[step] = self._moved(step, common[fault.swapped_with])
        out_of_place = {common[fault.at] for fault in moved}
        out_of_place |= {
            common[fault.swapped_with] for fault in moved if fault.swapped_with is not None
        }
        left = {place for place, line in enumerate(self.lines) if not self._is_common(line.name)}
        next_place = 0
        for step in steps:
            place = self._place(step)
            if place is not None:
                next_place = next_place + 1 if step in out_of_place else place + 1
                continue
            difference = self._stranger(step, next_place, left)
            if difference is not None:
                found[step] = difference
            if next_place in left:
                left.remove(next_place)
                next_place += 1
        absent = self._absent(left)
        return [*(found[step] for step in sorted(found)), *absent]

    def _place(self, step: int) -> int | None:
        name = self.printed.at[step].name
        return self.text.step.get(name) if name in self.printed.step else None

    def _is_common(self, name: str) -> bool:
        return name in self.text.step and name in self.printed.step

    def _line(self, place: int) -> LocatedRecord[InstructionLine]:
        return LocatedRecord(self.text.file, self.lines[min(place, len(self.lines) - 1)])

    def _moved(self, step: int, other: int | None) -> Difference:
        row = self.printed.at[step]
        line = self._line(self.text.step[row.name])
        steps = (step,) if other is None else (step, other)
        confirmed = any(self._starts_at(self.printed.at[each].name, each) for each in steps)
        if other is None:
            return Difference(Kind.MOVED, row, line, blames_text=confirmed)
        return Difference(Kind.SWAPPED, row, line, self.printed.at[other], confirmed)

    def _starts_at(self, name: str, step: int) -> bool:
        """Whether the live ranges of an instruction begin at this step and at no other."""
        line = self.lines[self.text.step[name]]
        return line.opcode != "parameter" and self.starts.get(name) == {step}

    def _stranger(self, step: int, place: int, left: set[int]) -> Difference | None:
        """A row whose name the text does not have, or has twice."""
        row = self.printed.at[step]
        knows_row = row.name in self.values or row.name in self.starts
        if place in left:
            name = self.lines[place].name
            if name == row.name:
                return None
            blames_text = knows_row and name not in self.values and row.name not in self.text.step
            return Difference(Kind.RENAMED, row, self._line(place), blames_text=blames_text)
        if row.name in self.text.step:
            return None  # it stands in the schedule twice
        return Difference(Kind.ONLY_PRINTED, row, self._line(place), blames_text=knows_row)

    def _absent(self, left: set[int]) -> list[Difference]:
        """What the text has and the schedule does not, unless rows of that are known to be gone."""
        numbers = self.printed.numbers
        gone = any(fault.trouble is Trouble.MISSING for fault in numbers.faults)
        if gone or None in self.printed.rows or self.printed.last != numbers.count:
            return []
        found = []
        names = {row.name for row in self.printed.at.values()}
        last = max(self.printed.at)
        for place in sorted(left):
            if self.lines[place].name in names:
                continue  # twice in the text, or twice in the schedule
            row = self.printed.at.get(place, self.printed.at[last])
            found.append(Difference(Kind.ONLY_IN_TEXT, row, self._line(place)))
        return found


def _without_text(dump: DumpSet, printed: PrintedSchedule) -> list[Difference]:
    found: list[Difference] = []
    exchanged = exchanged_names(dump)
    for name, other in exchanged.items():
        one, two = printed.at[printed.step[name]], printed.at[printed.step[other]]
        if one.step < two.step:
            found.append(Difference(Kind.SWAPPED, one, other=two))
    if _entries_are_whole(dump):
        names = {value.name for value in known_values(dump).by_key.values()}
        found += [
            Difference(Kind.NOWHERE, row)
            for row in printed.at.values()
            if row.name not in names
            and next(dump.entries_at(row.name), None) is None
            and next(dump.entries_used_by(row.name), None) is None
        ]
    return sorted(found, key=lambda difference: difference.row.line)


def _entries_are_whole(dump: DumpSet) -> bool:
    """Whether all entries are there: an instruction has a position in at least one of them."""
    holders = [file for file in dump.files if len(file.memory.entries)]
    return bool(holders) and not any(
        isinstance(record, UsedValue) for file in holders for record in file.memory.damaged
    )
