"""The cost and the measured time of instructions and computations as text."""

from dataclasses import dataclass, replace

from hlo_lsp.cost.cost_facts import CostFacts, ExecutedInstruction, describe_amounts
from hlo_lsp.cost.roofline import IF_IN_CACHE, describe_least, may_be_cached
from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.model.compile import Compile
from hlo_lsp.profiles.measured import InstructionTime
from hlo_lsp.profiles.time_facts import HotGroup, HotInstruction, MeasuredTimes, TimeFacts
from hlo_lsp.text.amounts import format_flops, format_seconds, format_time

_MAX_HOT_INSTRUCTIONS = 10  # of a module
MIN_HOT_SHARE = 0.01  # of the sum of the own times, or of the least times
_OF_OWN_TIMES = "of own times"  # of all instructions, also of those that run at the same time


def with_times(dump: Compile, target: CursorTarget, card: Card, facts: TimeFacts | None) -> Card:
    """Return a card with the cost and the measured time of what the cursor is on, which come first.

    ``facts`` is None if they are not computed yet.
    """
    found = [] if facts is None else time_target_facts(dump, target, facts)
    return replace(card, facts=(*found, *card.facts))


def time_target_facts(dump: Compile, target: CursorTarget, facts: TimeFacts) -> list[Fact]:
    """Return the cost and the measured time of the instruction or computation at the cursor."""
    if (computation := timed_computation(dump, target)) is not None:
        return computation_time_facts(facts, computation)
    name = timed_instruction(dump, target)
    return [] if name is None else instruction_time_facts(facts, name)


def timed_computation(dump: Compile, target: CursorTarget) -> str | None:
    """Return the name of the computation at the cursor if it is one of the compiled module."""
    if not isinstance(target.entity, targets.ComputationTarget):
        return None
    head = targets.resolve_computation(dump, target, target.entity.name)
    is_compiled = head is not None and head.file is dump.module_file
    return head.record.name if head is not None and is_compiled else None


def timed_instruction(dump: Compile, target: CursorTarget) -> str | None:
    """Return the name of the instruction at the cursor if it is one of the compiled module."""
    name = targets.target_instruction(dump, target.entity)
    line = None if name is None else targets.resolve_instruction(dump, target, name)
    own = None if name is None else dump.instruction(name)
    # The compile has only one cost by name, and another text may have the same name.
    return None if line is not None and (own is None or own.record is not line.record) else name


def computation_time_facts(facts: TimeFacts, name: str) -> list[Fact]:
    """Return the time of a computation; none if it is unknown or 0."""
    text = computation_time(facts, name).text
    return [Fact("time", text)] if text else []


def instruction_time_facts(facts: TimeFacts, name: str) -> list[Fact]:
    """Return the cost and the measured time of an instruction; none if it costs nothing."""
    found = []
    cost = None if facts.cost is None else facts.cost.instructions.get(name)
    if facts.cost is not None and cost is not None:
        found.append(Fact("cost", _describe_cost(facts.cost, cost)))
    time = None if facts.measured is None else facts.measured.instructions.get(name)
    if facts.measured is not None and time is not None:
        text = _describe_time(facts.measured, time, facts.roofline_share(name))
        found.append(Fact("measured", text))
    return found


def _describe_cost(facts: CostFacts, one: ExecutedInstruction) -> str:
    """Return FLOPs, bytes, intensity, and least time of an execution, and how often it runs."""
    cost = one.cost
    if cost.cost is None:
        parts = ["unknown (custom call)"]
    else:
        amounts = list(describe_amounts(cost.cost, cost.memory_bytes, cost.wire_bytes))
        if not cost.cost.flops and len(amounts) > 1:
            del amounts[0]
        if cost.cost.flops and cost.memory_bytes:
            intensity = cost.cost.flops / cost.memory_bytes
            number = f"{intensity:,.0f}" if intensity >= 100 else f"{intensity:.3g}"
            amounts.append(f"{number} FLOP/B")
        parts = [f"{'at least ' if cost.is_lower_bound else ''}{', '.join(amounts)}"]
        if facts.chip is not None and one.seconds_each and one.bound is not None:
            time = describe_least(one.seconds_each, may_be_cached=one.may_be_cached)
            parts[0] += f": {time} on {facts.chip.title}, bound by {one.bound.value}"
    if cost.is_lower_bound:
        parts.append("a custom call in it is of unknown cost")
    if not one.is_complete:
        parts.append(f"at least {count_noun(cost.executions, 'execution')}")
    elif cost.executions > 1:
        parts.append(count_noun(cost.executions, "execution"))
    return "; ".join(parts)


def _describe_time(times: MeasuredTimes, one: InstructionTime, roofline: float | None) -> str:
    """Return the time in a run, of each occurrence, and the share of the roofline."""
    runs = times.executions
    share = f"{one.own_ps / times.own_ps:.1%} {_OF_OWN_TIMES}"
    text = f"{format_time(one.own_ps / runs)} a run ({share})"
    if one.total_ps != one.own_ps:
        text += f", {format_time(one.total_ps / runs)} with the instructions inside"
    parts = [text]
    if one.occurrences > runs:
        each = format_time(one.own_ps / one.occurrences)
        parts.append(f"{one.occurrences / runs:,.4g} times {each}")
    if roofline is not None:
        parts.append(f"{roofline:.0%} of the roofline")
    if one.async_ps:
        parts.append(f"{format_time(one.async_ps / runs)} of asynchronous transfer")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class ComputationTime:
    """The time of the instructions of a computation in a run.

    Attributes:
        share: The share of the run, 0 if the time is unknown.
        text: The time, or the FLOPs without one; empty if there are none.
    """

    share: float
    text: str


def computation_time(facts: TimeFacts, name: str) -> ComputationTime:
    """Return the time of a computation, without computations that it calls, except for fusions."""
    measured, cost = facts.measured, facts.cost
    members = () if cost is None else cost.computations.get(name, ())
    if measured is not None:
        own = measured.computations.get(name, 0)
        share, time = own / measured.own_ps, format_time(own / measured.executions)
        return ComputationTime(share, f"{time} a run ({share:.0%} {_OF_OWN_TIMES})" if own else "")
    seconds, total = sum(one.seconds or 0.0 for one in members), _seconds(cost)
    if seconds and total:
        share, is_cached = seconds / total, any(one.may_be_cached for one in members)
        time = describe_least(seconds, may_be_cached=is_cached)
        return ComputationTime(share, f"{time}, {share:.0%} of the least time")
    flops = sum(one.cost.total.flops for one in members)
    is_whole = all(one.is_complete and one.is_known for one in members)
    least = "" if is_whole else "at least "
    return ComputationTime(0.0, f"{least}{format_flops(flops)}" if flops else "")


def _seconds(cost: CostFacts | None) -> float:
    return 0.0 if cost is None else cost.total.seconds or 0.0


def describe_run(facts: TimeFacts) -> str:
    """Return the measured time of a run, or its least time; nothing if neither is known.

    For example ``392 µs measured, median of 3 runs`` and
    ``1.53 ms on TPU v5e without overlap``, the sum of the least times of the instructions.
    """
    if facts.measured is not None:
        program = facts.measured.program
        median = format_time(program.median_ps)
        several = f", median of {program.runs:,} runs" if program.runs > 1 else ""
        return f"{median} measured{several}"
    cost = facts.cost
    if cost is None or cost.chip is None or not _seconds(cost):
        return ""
    cached = f" {IF_IN_CACHE}" if may_be_cached(cost.total.bound, cost.chip) else ""
    return f"{format_seconds(_seconds(cost))} on {cost.chip.title} without overlap{cached}"


def hot_labels(facts: TimeFacts | None) -> dict[str, tuple[str, str]]:
    """Return the label and the tooltip of the few instructions that take most of the time."""
    found = [] if facts is None else facts.hottest(_MAX_HOT_INSTRUCTIONS)
    return {
        one.name: (
            describe_hot(one),
            "\n".join(
                f"{fact.label}: {fact.text}" for fact in instruction_time_facts(facts, one.name)
            ),
        )
        for one in found
        if facts is not None and one.share >= MIN_HOT_SHARE
    }


def describe_hot(one: HotInstruction | HotGroup) -> str:
    """Return the time and its share of the own times or least times of all instructions.

    ``1.53 ms, 12%`` if it is measured, else ``at least 1.53 ms, 12%`` or, if the cache of the chip
    can be faster, ``1.53 ms (less if in cache), 12%``.
    """
    time = format_seconds(one.seconds)
    if not one.is_measured:
        time = describe_least(one.seconds, may_be_cached=one.may_be_cached)
    return f"{time}, {one.share:.0%}"
