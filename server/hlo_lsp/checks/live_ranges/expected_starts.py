"""The step at which the live range of a value starts."""

from dataclasses import dataclass

from hlo_lsp.checks.schedule.section import LiveRangeSection
from hlo_lsp.checks.schedule.text_schedule import once, text_schedule
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.program.schedule import is_async_call
from hlo_lsp.syntax.memory_records import RangeRow, SequenceRow


@dataclass(frozen=True, slots=True)
class WrongStart:
    """A range that starts at another step than expected.

    Attributes:
        step: The row of the schedule at which it should start.
        computation: For a parameter the name of its computation, if known.
        is_certain: Whether no step but that one is possible.
    """

    row: RangeRow
    step: SequenceRow
    is_parameter: bool
    computation: str = ""
    is_certain: bool = True


class ExpectedStarts:
    """The steps at which live ranges start, by the printed schedule and the module text.

    A range starts at the step of the instruction that defines the value; that of a parameter at the
    first step of its computation; on TPU, that of a value in an async computation may start at the
    step after the computation (hlo_live_range.cc, ``CalculateBufferStartEndMap``; held on 29,000
    ranges of real dumps).
    """

    def __init__(self, dump: DumpSet, section: LiveRangeSection) -> None:
        self._dump = dump
        self._text = text_schedule(dump)
        self._rows = section.steps
        self._places = once(row.name for row in section.steps)

    def wrong_start(self, row: RangeRow) -> WrongStart | None:
        """Return the expected start of a range that starts elsewhere; None if it may be right."""
        place = self._places.get(row.name)
        if place is None:
            return None
        step = self._rows[place]
        if self._text is None or row.name not in self._text.steps:
            return None if row.start_step == step.step else self._without_text(row, place)
        schedule = self._text.schedule
        instruction = schedule.instructions[self._text.steps[row.name]]
        is_parameter = instruction.opcode == "parameter"
        if row.start_step == step.step and not is_parameter:
            return None
        computation = self._text.file.module.computation_of(instruction)
        span = None if computation is None else schedule.spans.get(computation)
        if span is None or computation is None:
            return None
        if is_parameter:
            first = self._places.get(schedule.instructions[span.start].name)
            if first is None or row.start_step == self._rows[first].step:
                return None
            return WrongStart(row, self._rows[first], is_parameter, computation.name)
        last = self._places.get(schedule.instructions[span.end - 1].name)
        if span.is_async and (last is None or row.start_step == self._rows[last].step + 1):
            return None
        return WrongStart(row, step, is_parameter)

    def _without_text(self, row: RangeRow, place: int) -> WrongStart | None:
        step = self._rows[place]
        text = self._dump.text_of(row.name)
        if text is None:
            return None
        if text.opcode.text == "parameter":
            if row.start_step < step.step:
                return None  # the first step of the computation, which only the module text has
            return WrongStart(row, step, is_parameter=True, is_certain=False)
        following = self._rows[place + 1] if place + 1 < len(self._rows) else None
        if following is not None and row.start_step == step.step + 1:
            next_text = self._dump.text_of(following.name)
            if next_text is None or is_async_call(next_text.opcode.text):
                return None
        return WrongStart(row, step, is_parameter=False)
