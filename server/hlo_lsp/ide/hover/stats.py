"""The cost and the measured time of instructions and computations as text."""

from dataclasses import dataclass, replace

from hlo_lsp.cost.descriptions import IF_IN_CACHE, describe_amounts, describe_least
from hlo_lsp.cost.roofline import may_be_cached
from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.model.compile import Compile
from hlo_lsp.stats.instruction_table import InstructionGroup, InstructionRow, InstructionTable
from hlo_lsp.text.amounts import format_flops, format_time

_MAX_HOT_INSTRUCTIONS = 10  # of a module
MIN_HOT_SHARE = 0.01  # of the sum of the own times, or of the least times
_OF_OWN_TIMES = "of own times"  # of all instructions, also of those that run at the same time


def with_times(
    dump: Compile, target: CursorTarget, card: Card, table: InstructionTable | None
) -> Card:
    """Return a card with the cost and the measured time of what the cursor is on, which come first.

    ``table`` is None if it is not computed yet.
    """
    facts = [] if table is None else time_target_facts(dump, target, table)
    return replace(card, facts=(*facts, *card.facts))


def time_target_facts(dump: Compile, target: CursorTarget, table: InstructionTable) -> list[Fact]:
    """Return the cost and the measured time of the instruction or computation at the cursor."""
    if (computation := timed_computation(dump, target)) is not None:
        return computation_time_facts(table, computation)
    name = timed_instruction(dump, target)
    return [] if name is None else instruction_time_facts(table, name)


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


def computation_time_facts(table: InstructionTable, name: str) -> list[Fact]:
    """Return the time of a computation; none if it is unknown or 0."""
    text = computation_time(table, name).text
    return [Fact("time", text)] if text else []


def instruction_time_facts(table: InstructionTable, name: str) -> list[Fact]:
    """Return the cost and the measured time of an instruction; none if it costs nothing."""
    row = table.by_name.get(name)
    if row is None:
        return []
    facts = [("cost", _describe_cost(table, row)), ("measured", _describe_time(table, row))]
    return [Fact(label, text) for label, text in facts if text]


def _describe_cost(table: InstructionTable, row: InstructionRow) -> str:
    """Return FLOPs, bytes, intensity, and least time of an execution, and how often it runs."""
    cost, chip, least = row.cost, table.chip, row.least
    if cost is None or not row.has_cost:
        return ""
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
        if chip is not None and least is not None and least.bound is not None:
            time = describe_least(least.ps / cost.executions, may_be_cached=least.may_be_cached)
            parts[0] += f": {time} on {chip.title}, bound by {least.bound.value}"
    if cost.is_lower_bound:
        parts.append("a custom call in it is of unknown cost")
    if not cost.is_complete:
        parts.append(f"at least {count_noun(cost.executions, 'execution')}")
    elif cost.executions > 1:
        parts.append(count_noun(cost.executions, "execution"))
    return "; ".join(parts)


def _describe_time(table: InstructionTable, row: InstructionRow) -> str:
    """Return the time in a run, of each occurrence, and the share of the roofline."""
    time, runs = row.measured, table.executions
    if time is None:
        return ""
    text = f"{format_time(row.run_ps)} a run ({table.share(row):.1%} {_OF_OWN_TIMES})"
    if time.total_ps != time.own_ps:
        text += f", {format_time(time.total_ps / runs)} with the instructions inside"
    parts = [text]
    if time.occurrences > runs:
        each = format_time(time.own_ps / time.occurrences)
        parts.append(f"{time.occurrences / runs:,.4g} times {each}")
    rates = table.achieved([row])
    if rates is not None and rates.roofline_share:
        parts.append(f"{rates.roofline_share:.0%} of the roofline")
    if time.async_ps:
        parts.append(f"{format_time(time.async_ps / runs)} of asynchronous transfer")
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


def computation_time(table: InstructionTable, name: str) -> ComputationTime:
    """Return the time of a computation, without computations that it calls, except for fusions."""
    rows = table.by_computation.get(name, ())
    time = sum(row.run_ps for row in rows)
    share = time / table.run_ps if time else 0.0
    if table.measured is not None:
        text = f"{format_time(time)} a run ({share:.0%} {_OF_OWN_TIMES})" if time else ""
        return ComputationTime(share, text)
    if time:
        least = describe_least(time, may_be_cached=any(row.may_be_cached for row in rows))
        return ComputationTime(share, f"{least}, {share:.0%} of the least time")
    costs = [row.cost for row in rows if row.cost is not None]
    flops = sum(cost.total.flops for cost in costs)
    at_least = "" if all(cost.is_known for cost in costs) else "at least "
    return ComputationTime(0.0, f"{at_least}{format_flops(flops)}" if flops else "")


def describe_run(table: InstructionTable) -> str:
    """Return the measured time of a run, or its least time; nothing if neither is known.

    For example ``392 µs measured, median of 3 runs`` and
    ``1.53 ms on TPU v5e without overlap``, the sum of the least times of the instructions; it is
    a lower bound of this sum if a part of the program is of unknown cost.
    """
    measured, chip = table.measured, table.chip
    if measured is not None:
        several = f", median of {measured.runs:,} runs" if measured.runs > 1 else ""
        return f"{format_time(measured.median_ps)} measured{several}"
    if table.cost is None or chip is None or not table.run_ps:
        return ""
    cached = f" {IF_IN_CACHE}" if may_be_cached(table.cost.total.bound, chip) else ""
    least = "" if cached or table.cost.executed.complete else "at least "
    return f"{least}{format_time(table.run_ps)} on {chip.title} without overlap{cached}"


def hot_labels(table: InstructionTable | None) -> dict[str, tuple[str, str]]:
    """Return the label and the tooltip of the few instructions that take most of the time."""
    if table is None:
        return {}
    hot = (row for row in table.timed[:_MAX_HOT_INSTRUCTIONS] if table.share(row) >= MIN_HOT_SHARE)
    return {
        row.name: (
            describe_hot(table, row),
            "\n".join(
                f"{fact.label}: {fact.text}" for fact in instruction_time_facts(table, row.name)
            ),
        )
        for row in hot
    }


def describe_hot(table: InstructionTable, part: InstructionRow | InstructionGroup) -> str:
    """Return the time and its share of the own times or least times of all instructions.

    ``1.53 ms, 12%`` if it is measured, else ``at least 1.53 ms, 12%`` or, if the cache of the chip
    can be faster, ``1.53 ms (less if in cache), 12%``.
    """
    time = format_time(part.run_ps)
    if table.measured is None:
        time = describe_least(part.run_ps, may_be_cached=part.may_be_cached)
    return f"{time}, {table.share(part):.0%}"
