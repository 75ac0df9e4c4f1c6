"""At which step the live range of a value begins."""

from collections import Counter
from dataclasses import dataclass

from hlo_lsp.analysis.live.live_section import live_section
from hlo_lsp.analysis.steps.printed_schedule import (
    PrintedSchedule,
    TextSchedule,
    printed_schedule,
    text_schedule,
)
from hlo_lsp.analysis.values.known_values import KnownValue, known_values
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.program.schedule import is_async_call
from hlo_lsp.syntax.memory_records import RangeRow


@dataclass(frozen=True, slots=True)
class Start:
    """Where a range begins: ``because`` says what stands there, for a message.

    ``is_parameter`` is whether the value is a parameter of its computation; what holds the step
    is the beginning of the computation then.
    """

    step: int
    because: str
    is_parameter: bool = False


class LiveStarts:
    """The steps at which live ranges should begin, from the module text or the printed schedule.

    A value begins to live at the step of the instruction that defines it; a parameter at the first
    step of its computation; what async work computes, on TPU, at the step behind its computation
    (hlo_live_range.cc, ``CalculateBufferStartEndMap``; held on 29 000 ranges of real dumps).
    """

    def __init__(self, dump: DumpSet) -> None:
        self._dump = dump
        self._text: TextSchedule | None = text_schedule(dump)
        self._printed: PrintedSchedule | None = printed_schedule(dump)
        self._values = known_values(dump)
        self._exchanged = exchanged_names(dump) if self._text is None else {}

    def wrong(self, row: RangeRow) -> Start | None:
        """Where a range should begin if it begins elsewhere; None if it is well or nobody knows."""
        if self._printed is None:
            return None
        printed = self._printed.step.get(row.name)
        if self._text is not None:
            return self._by_text(row, printed)
        if printed is None or row.start_step == printed or row.name in self._exchanged:
            return None
        return self._without_text(row, printed)

    def lives_to_the_end(self, value: KnownValue) -> bool:
        """Whether a value is a parameter of the program that nothing overwrites."""
        if not value.lives_long:
            return False
        step = None if self._text is None else self._text.step.get(value.name)
        if self._text is None or step is None:
            return self._opcode(value) in {"parameter", None}
        instruction, module = self._text.schedule.instructions[step], self._text.file.module
        is_parameter = instruction.opcode == "parameter"
        return is_parameter and module.computation_of(instruction) is module.entry

    def confirms(self, row: RangeRow) -> bool:
        """Whether a range begins at the step of the instruction that defines its value."""
        if self._printed is None:
            return False
        steps = {self._printed.step.get(row.name)}
        if self._text is not None:
            steps.add(self._text.step.get(row.name))
        return row.start_step in steps and self.wrong(row) is None

    def _by_text(self, row: RangeRow, printed: int | None) -> Start | None:
        text = self._text
        assert text is not None
        step = text.step.get(row.name)
        if step is None:
            return None
        instruction = text.schedule.instructions[step]
        is_parameter = instruction.opcode == "parameter"
        if not is_parameter and row.start_step in {step, printed}:
            return None
        computation = text.file.module.computation_of(instruction)
        span = None if computation is None else text.schedule.spans.get(computation)
        if span is None or computation is None:
            return None
        if is_parameter:
            because = f"the computation `{computation.name}` begins at step {span.start}"
            start = Start(span.start, because, is_parameter=True)
            return None if row.start_step == span.start else start
        if span.is_async and row.start_step == span.end:
            return None
        return Start(step, f"`{row.name}` stands at step {step} of the schedule")

    def _without_text(self, row: RangeRow, printed: int) -> Start | None:
        """A judgement on a range that does not begin at the step of its instruction."""
        value = self._values.by_key.get(row.key)
        opcode = None if value is None else self._opcode(value)
        if opcode is None:
            return None
        if opcode == "parameter":
            if row.start_step < printed:
                return None  # the first step of the computation, which only the module text tells
        elif row.start_step == printed + 1 and self._is_async(printed + 1):
            return None
        return Start(printed, f"`{row.name}` stands at step {printed} of the schedule")

    def _opcode(self, value: KnownValue) -> str | None:
        if value.id is None:
            return None
        entry = self._dump.find(lambda index: index.entries, value.id)
        text = None if entry is None else defining_text(entry.record)
        return None if text is None else text.opcode.text

    def _is_async(self, step: int) -> bool:
        row = None if self._printed is None else self._printed.at.get(step)
        text = None if row is None else self._dump.text_of(row.name)
        return text is None or is_async_call(text.opcode.text)


def exchanged_names(dump: DumpSet) -> dict[str, str]:
    """Names that stand at each other's step: so say the starts of all of their live ranges.

    One of them may define no value: then several ranges of the other must agree.
    """
    section, printed = live_section(dump), printed_schedule(dump)
    if section is None or printed is None:
        return {}
    starts: dict[str, int | None] = {}  # None where ranges of one instruction begin at several
    count = Counter(row.name for row in section.ranges)
    for row in section.ranges:
        start = starts.setdefault(row.name, row.start_step)
        if start != row.start_step:
            starts[row.name] = None
    found: dict[str, str] = {}
    for name, start in starts.items():
        step = printed.step.get(name)
        if step is None or start is None or step == start:
            continue
        other = printed.at.get(start)
        if other is None or other.name not in printed.step:
            continue
        if starts.get(other.name) == step:
            found[name] = other.name
        elif other.name not in starts and count[name] > 1:
            found |= {name: other.name, other.name: name}
    return found
