"""The schedule as the live ranges print it, and as the module text has it."""

from dataclasses import dataclass

from hlo_lsp.analysis.files.siblings import kin
from hlo_lsp.analysis.live.live_section import LiveSection, Part, live_section
from hlo_lsp.analysis.steps.step_numbers import StepNumbers, step_numbers
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.program.schedule import Schedule, schedule_of
from hlo_lsp.syntax.memory_records import SequenceRow
from hlo_lsp.syntax.module_records import ComputationEnd

_FEW = 2  # names that may differ in the schedule of a tiny module


@dataclass(frozen=True, slots=True)
class PrintedSchedule:
    """The rows of ``InstructionSequence`` with the steps they should have.

    ``rows`` are all lines of it, None for one that cannot be read. ``at`` are the rows by true
    step; ``step`` the steps of names that stand there once.

    ``last`` is the true length of the schedule, which the head line prints as ``max``. Where that
    and the rows disagree, the live ranges decide: the longest goes to the end of the program.
    """

    section: LiveSection
    rows: tuple[SequenceRow | None, ...]
    numbers: StepNumbers
    at: dict[int, SequenceRow]
    step: dict[str, int]
    last: int


@dataclass(frozen=True, slots=True)
class TextSchedule:
    """The schedule of the module text, and the steps of names that stand there once."""

    file: DumpFile
    schedule: Schedule
    step: dict[str, int]


def printed_schedule(dump: DumpSet) -> PrintedSchedule | None:
    """The printed schedule; None where there is none."""
    section = live_section(dump)
    if section is None or not section.steps:
        return None
    return dump.derived(_printed, [section.file])


def text_schedule(dump: DumpSet) -> TextSchedule | None:
    """The schedule of the module text.

    None if that does not tell, is damaged, or has less than half of the names that the live ranges
    print: it is from another compile then.
    """
    text, printed = any_text_schedule(dump), printed_schedule(dump)
    if text is not None and printed is not None and not share_names(printed, text):
        return None
    return text


def share_names(printed: PrintedSchedule, text: TextSchedule) -> bool:
    """Whether at least half of the names are in both, or all but one or two of a few."""
    common = len(printed.step.keys() & text.step.keys())
    most = max(len(printed.step), len(text.step))
    return 2 * common >= most or most - common <= _FEW


def any_text_schedule(dump: DumpSet) -> TextSchedule | None:
    """The schedule of the module text, from whatever compile it is.

    Where it differs from the printed one, the text must be sound to be believed.
    """
    files = _module_files(dump)
    text = dump.derived(_in_text, files) if files else None
    printed = printed_schedule(dump)
    if text is None or printed is None or is_printed(printed, text):
        return text
    return text if dump.derived(_is_sound, files) else None


def is_printed(printed: PrintedSchedule, text: TextSchedule) -> bool:
    """Whether both have the same names in the same order."""
    lines = text.schedule.instructions
    return len(lines) == len(printed.rows) and all(
        row is not None and row.name == line.name
        for row, line in zip(printed.rows, lines, strict=True)
    )


def _is_sound(dump: DumpSet) -> bool:
    """Whether the scheduled computations are whole: nothing they name is gone or stands below."""
    text = dump.derived(_in_text, _module_files(dump))
    if text is None:
        return False
    module = text.file.module
    if module.entry is None or not module.entry.is_entry:
        return False
    for computation in text.schedule.spans:
        seen: set[str] = set()
        for line in module.members(computation):
            if line.name in seen or not seen.issuperset(filter(None, line.operands)):
                return False
            if any(module.named(name) is None for name in line.called):
                return False
            seen.add(line.name)
        ends = (type(record) is ComputationEnd for record in text.file.records.members(computation))
        if not any(line.is_root for line in module.members(computation)) or not any(ends):
            return False
    return True


def learn_schedules(dump: DumpSet) -> DumpSet:
    """Read both schedules in steps; after that they are at hand.

    Returns the files that are of one compile with the live ranges.
    """
    holder = next((file for file in dump.files if len(file.memory.ranges)), None)
    kindred = dump if holder is None else (kin(dump, holder))
    state = kindred.state(_module_files(kindred))
    if state and kindred.remembered(_in_text, state) is None:
        found = _in_text_steps(kindred)
        kindred.remember(_in_text, state, (found,))
    printed_schedule(kindred)
    return kindred


def _module_files(dump: DumpSet) -> list[DumpFile]:
    """The text that the live ranges were printed from, if it is there."""
    file = module_at_buffer_assignment(dump)
    return [] if file is None else [file]


def _printed(dump: DumpSet) -> PrintedSchedule | None:
    section = live_section(dump)
    if section is None:
        return None
    rows: list[SequenceRow | None] = list(section.steps)
    for hole in reversed(section.holes):
        rows.insert(hole, None)
    steps = [None if row is None else row.step for row in rows]
    numbers = step_numbers(steps, None if section.head is None else section.head.max)
    at = {
        number: row
        for number, row in zip(numbers.numbers, rows, strict=True)
        if number is not None and row is not None
    }
    return PrintedSchedule(
        section,
        tuple(rows),
        numbers,
        at,
        _once({number: row.name for number, row in at.items()}),
        _last(section, numbers.count),
    )


def _last(section: LiveSection, count: int) -> int:
    said = count if section.head is None else section.head.max
    if said == count or not section.is_whole(Part.STEPS):
        return said
    longest = max((row.end_step for row in section.ranges), default=count)
    return said if longest == said else count


def _in_text(dump: DumpSet) -> TextSchedule | None:
    return _in_text_steps(dump)


def _in_text_steps(dump: DumpSet) -> TextSchedule | None:
    for file in _module_files(dump):
        if not is_complete_module(file):
            continue
        schedule = schedule_of(file.module)
        if schedule is not None:
            names = {step: line.name for step, line in enumerate(schedule.instructions)}
            return TextSchedule(file, schedule, _once(names))
    return None


def _once(names: dict[int, str]) -> dict[str, int]:
    steps: dict[str, int] = {}
    twice = set()
    for step, name in names.items():
        if name in steps:
            twice.add(name)
        steps[name] = step
    for name in twice:
        del steps[name]
    return steps
