"""The schedule that the module text implies."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.program.schedule import Schedule, schedule_of


@dataclass(frozen=True, slots=True)
class TextSchedule:
    """The schedule of a module text, and the steps of the names that it has once."""

    file: DumpFile
    schedule: Schedule
    steps: dict[str, int]


def text_schedule(dump: DumpSet) -> TextSchedule | None:
    """Return the schedule of the module text; None without a complete, scheduled one."""
    file = module_at_buffer_assignment(dump)
    return None if file is None else dump.derived(_compute, [file])


def once(names: Iterable[str]) -> dict[str, int]:
    """Return the places of the names that are there once."""
    listed = list(names)
    count = Counter(listed)
    return {name: place for place, name in enumerate(listed) if count[name] == 1}


def _compute(dump: DumpSet) -> TextSchedule | None:
    file = module_at_buffer_assignment(dump)
    schedule = schedule_of(file.module) if file is not None and is_complete_module(file) else None
    if file is None or schedule is None:
        return None
    return TextSchedule(file, schedule, once(line.name for line in schedule.instructions))
