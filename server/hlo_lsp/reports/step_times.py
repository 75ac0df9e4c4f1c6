"""The memory map with the time of its steps: measured, or at least on a chip."""

from collections.abc import Iterator

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.memory_map import memory_map
from hlo_lsp.stats.instruction_table import InstructionTable
from hlo_lsp.stats.measured_programs import TimeSources, program_table
from hlo_lsp.stats.time_advice import time_advice
from hlo_lsp.text.amounts import format_time
from hlo_lsp.text.inert import Json

_UNKNOWN = -1


def timed_memory_map(dump: Compile, sources: TimeSources) -> Json:
    """Return the memory map of a compile, with the time of its steps and advice on it if known."""
    data = memory_map(dump)
    if sources == TimeSources() or not data["steps"]:
        return data
    names = [data["strings"][number] for number in data["steps"]]
    time = _time_of(program_table(dump, sources), names)
    found = [capitalized(one.text) for one in time_advice(dump, sources.chip)]
    facts = {"time": time, "timeAdvice": found}
    return data | {key: fact for key, fact in facts.items() if fact}


def _time_of(table: InstructionTable, names: list[str]) -> Json | None:
    """Return the time of the steps in one run, all iterations of a loop together."""
    steps = [round(_step_ps(table, name)) for name in names]
    if not any(step > 0 for step in steps):
        return None
    unknown = steps.count(_UNKNOWN)
    notes = [f"unknown for {count_noun(unknown, 'step')}"] if unknown else []
    title = "measured own times"  # their sum differs from the time of a run
    if table.measured is None:
        title = f"least time on {table.chip.title}" if table.chip else ""
        notes += _least_notes(table)
    else:
        notes.append(f"a run takes {format_time(table.measured.median_ps)}")
        elsewhere = table.run_ps - sum(max(0.0, _step_ps(table, name)) for name in names)
        if elsewhere >= 1:
            notes.append(f"{format_time(elsewhere)} in instructions that are no steps")
    is_measured = table.measured is not None
    return {"title": title, "isMeasured": is_measured, "picoseconds": steps, "notes": notes}


def _step_ps(table: InstructionTable, name: str) -> float:
    checkpoint()
    row = table.by_name.get(name)
    if row is None or not row.has_cost or row.is_timed:
        return 0.0 if row is None else row.run_ps  # what costs nothing takes no time
    is_known = table.measured is None and row.least is not None
    return row.run_ps if is_known else _UNKNOWN


def _least_notes(table: InstructionTable) -> Iterator[str]:
    """Yield what makes the least time longer or shorter than that of the program."""
    costing = list(table.costing)
    if not all(row.cost.is_complete for row in costing if row.cost is not None):
        yield "loops of unknown trip count count once"
    if any(row.may_be_cached for row in costing):
        yield "less if in cache"
