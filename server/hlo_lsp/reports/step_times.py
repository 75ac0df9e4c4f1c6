"""The memory map with the time of its steps: measured, or at least on a chip."""

from collections.abc import Iterator, Mapping
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.cost_facts import CostFacts
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.compile import Compile
from hlo_lsp.profiles.time_facts import MeasuredTimes, TimeSources, time_facts
from hlo_lsp.reports.memory_map import memory_map
from hlo_lsp.text.amounts import format_time

Json = dict[str, Any]
_SECOND_PS = 10**12
_UNKNOWN = -1


def timed_memory_map(dump: Compile, sources: TimeSources) -> Json:
    """Return the memory map of a compile, with the time of its steps if it is known."""
    found = memory_map(dump)
    if sources == TimeSources() or not found["steps"]:
        return found
    time = _time_of(dump, sources, [found["strings"][number] for number in found["steps"]])
    return found if time is None else {**found, "time": time}


def _time_of(dump: Compile, sources: TimeSources, names: list[str]) -> Json | None:
    """Return the time of the steps in one run, all iterations of a loop together."""
    facts = time_facts(dump, sources)
    costs = {} if facts.cost is None else facts.cost.instructions
    if facts.measured is not None:
        times = _measured_times(facts.measured)
        title, notes = "measured time", []
        elsewhere = sum(times.values()) - sum(times.get(name, 0.0) for name in names)
        if elsewhere >= 1:
            notes.append(f"{format_time(elsewhere)} in instructions that are no steps")
    elif facts.cost is not None and facts.cost.chip is not None:
        times = _least_times(facts.cost)
        title, notes = f"least time on {facts.cost.chip.title}", list(_least_notes(facts.cost))
    else:
        return None
    steps = []
    for name in names:
        checkpoint()
        # What costs nothing takes no time.
        steps.append(round(times.get(name, _UNKNOWN if name in costs else 0)))
    if not any(one > 0 for one in steps):
        return None
    unknown = steps.count(_UNKNOWN)
    if unknown:
        notes.insert(0, f"unknown for {count_noun(unknown, 'step')}")
    is_measured = facts.measured is not None
    return {"title": title, "isMeasured": is_measured, "picoseconds": steps, "notes": notes}


def _measured_times(measured: MeasuredTimes) -> Mapping[str, float]:
    """Return the own time of each instruction in one run on one device, on average."""
    instructions = measured.instructions.values()
    return {one.name: one.own_ps / measured.executions for one in instructions}


def _least_times(cost: CostFacts) -> Mapping[str, float]:
    known = cost.instructions.items()
    return {name: one.seconds * _SECOND_PS for name, one in known if one.seconds is not None}


def _least_notes(cost: CostFacts) -> Iterator[str]:
    """Yield what makes the least time longer or shorter than that of the program."""
    if not all(one.is_complete for one in cost.instructions.values()):
        yield "loops of unknown trip count count once"
    if any(one.may_be_cached for one in cost.instructions.values()):
        yield "less if in cache"
