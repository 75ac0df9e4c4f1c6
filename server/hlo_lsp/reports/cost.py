"""The cost of a program as text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlo_lsp.cost.cost_facts import describe_amounts, unknown_parts
from hlo_lsp.cost.operation import Cost
from hlo_lsp.cost.program_cost import CostGroup, ProgramCost, merged
from hlo_lsp.cost.roofline import IF_IN_CACHE, Bound, may_be_cached, padding_flops
from hlo_lsp.cost.utilization import utilization_bound
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import aligned_rows
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.text.amounts import (
    format_flops,
    format_seconds,
    format_short_bytes,
    format_transcendentals,
)

Json = dict[str, Any]
_UNKNOWN_TABLES = " (bytes at least: the tables of tuples depend on the chip; use --chip)"
_MIN_PADDING_SHARE = 0.01  # of the FLOPs that the matrix unit could do meanwhile


def cost_lines(program: ProgramCost, key: InstructionKey, count: int) -> Iterator[str]:
    """Yield the lines of the text form, with at most ``count`` groups that cost something."""
    yield from cost_facts(program)
    groups = [group for group in program.groups(key) if has_cost(group)]
    shown, rest = groups[:count], groups[count:]
    if rest:
        shown.append(merged(rest, f"in {len(rest):,} more"))
    rows = [group_cells(group, program) for group in shown]
    if rows:
        titles = [*list(rows[0])[:-1], key.title]
        yield from aligned_rows([titles, *(list(row.values()) for row in rows)])


def cost_facts(program: ProgramCost) -> Iterator[str]:
    """Yield the lines on the whole program, the first one with the name of the module."""
    yield f"{program.dump.module_name}: {_least_amounts(program)}"
    time = _time(program)
    why = "unknown chip; use --chip" if program.is_optimized else "not optimized"
    yield f"least time: {why}" if time is None else time
    yield from _resource_lines(program)
    yield from cost_notes(program)


def _resource_lines(program: ProgramCost) -> Iterator[str]:
    """Yield what the least time consists of, the time of each resource, and the bound of MFU."""
    total, chip = program.total, program.chip
    if chip is None or not total.seconds:
        return
    parts = " + ".join(_times(total.bound_seconds))
    alone = list(_times(total.resource_seconds))
    if total.wire_bytes and chip.network_bytes_per_second is None:
        alone.append("network unknown")
    yield f"bound by {parts}; each resource alone: {', '.join(alone)}"
    bound = utilization_bound(program)
    if bound is not None:
        cached = " (more if in cache)" if chip.has_cache else ""
        yield (
            f"MFU at most {bound.share:.1%}{cached}: compute takes"
            f" {format_seconds(bound.compute_seconds)} of at least"
            f" {format_seconds(bound.elapsed_seconds)}"
        )


def _times(seconds: Mapping[Bound, float]) -> Iterator[str]:
    return (f"{one.value} {format_seconds(time)}" for one, time in seconds.items() if time)


def cost_notes(program: ProgramCost) -> Iterator[str]:
    """Yield the compiler's analysis, what the cost of the program leaves out, and unused hardware.

    The analysis is that of ``compiled.cost_analysis()`` in JAX.
    """
    executed, libtpu = program.executed, program.libtpu
    whose, own = ("XLA", program.xla) if libtpu is None else ("libtpu", libtpu)
    if executed.missing_part is None:  # the compiler analyzed the whole program
        least = "at least " if executed.unbounded else ""
        tables = "" if libtpu is None or program.has_table_sizes else _UNKNOWN_TABLES
        yield f"{whose}'s analysis, each loop once: {least}{_own_amounts(own)}{tables}"
    yield from unknown_parts(executed)
    if executed.conditionals:
        number = count_noun(executed.conditionals, "conditional")
        yield f"{number}: the branch with the most FLOPs counts"
    yield from _padding_lines(program)


def _padding_lines(program: ProgramCost) -> Iterator[str]:
    """Yield a line on the part of the matrix unit without work, if it is large."""
    wasted, flops = program.total.padding_flops, program.total.cost.flops
    if program.chip is None or not wasted or wasted < _MIN_PADDING_SHARE * (flops + wasted):
        return
    unit = program.chip.matrix_unit or 1
    costs = ((padding_flops(one, program.chip), one) for one in program.executed.instructions)
    _, most = max(costs, key=lambda one: one[0])
    product = max(most.products, key=lambda one: one.padding_flops(unit))
    yield (
        f"matrix unit ({unit} x {unit}): at least {format_flops(wasted)} unused because of padding,"
        f" most in {most.instruction.name}: {', '.join(product.padded_dimensions(unit))}"
    )


def cost_line(program: ProgramCost) -> str:
    """Return the cost of one run, with its least time if the chip is known."""
    time = _time(program)
    return f"cost of one run: {_least_amounts(program)}{f'; {time}' if time else ''}"


def _least_amounts(program: ProgramCost) -> str:
    at_least = "" if program.executed.complete else "at least "
    total = program.total
    amounts = describe_amounts(total.cost, total.memory_bytes, total.wire_bytes)
    return f"{at_least}{', '.join(amounts)}"


def _own_amounts(cost: Cost) -> str:
    return (
        f"{format_flops(cost.flops)}, {format_transcendentals(cost.transcendentals)},"
        f" {format_short_bytes(max(0, cost.bytes_accessed))} accessed"
    )


def _time(program: ProgramCost) -> str | None:
    """Return the least time and what bounds it, None if the chip is unknown."""
    total = program.total
    if program.chip is None or total.seconds is None:
        return None
    bound = "" if total.bound is None else f", mostly bound by {total.bound.value}"
    time = format_seconds(total.seconds)
    cached = f" {IF_IN_CACHE}" if may_be_cached(total.bound, program.chip) else ""
    return f"least time on {program.chip.title}: {time}{bound}{cached}"


def has_cost(group: CostGroup) -> bool:
    """Return whether a number in the row of a group is not 0, or its cost is unknown."""
    amounts = (
        *(group.cost.flops, group.memory_bytes, group.wire_bytes),
        *(group.seconds, group.estimated_cycles),
    )
    return bool(group.unknown) or any(amounts)


def group_cells(group: CostGroup, program: ProgramCost) -> dict[str, str]:
    """Return the cells of a group by the title of their column; times only on a chip."""
    total = program.total
    cells = {
        "FLOPs": format_flops(group.cost.flops),
        program.memory_title: format_short_bytes(group.memory_bytes),
    }
    if total.wire_bytes:
        cells["sent"] = format_short_bytes(group.wire_bytes)
    if group.seconds is not None:
        share = group.seconds / total.seconds if total.seconds else 0.0
        bound = "" if group.bound is None else group.bound.value
        time = format_seconds(group.seconds)
        cells = {"least time": time, "share": f"{share:.0%}", **cells, "bound": bound}
    if total.estimated_cycles is not None:
        cells["cycles"] = f"{group.estimated_cycles or 0:,}"
    name = group.name if group.source is None else group.source.short
    return {**cells, "name": f"{name}{' (unknown)' if group.unknown else ''}"}


def cost_json(programs: Sequence[ProgramCost], key: InstructionKey, count: int) -> list[Json]:
    """Return the costs as JSON; see docs/json_schema.md."""
    return [_program_json(program, key, count) for program in programs]


def _program_json(program: ProgramCost, key: InstructionKey, count: int) -> Json:
    executed, bound = program.executed, utilization_bound(program)
    return {
        "name": program.dump.module_name,
        "path": program.dump.files[0].label,
        "chip": None if program.chip is None else program.chip.name,
        "xla": _analysis_json(program.xla, program),
        "libtpu": None
        if program.libtpu is None
        else _analysis_json(program.libtpu, program, has_table_sizes=program.has_table_sizes),
        "executed": {
            **total_json(program),
            "unknown_loops": list(executed.unknown_loops),
            "unknown_custom_calls": executed.unknown_calls,
            "unbounded": list(executed.unbounded),
            "missing_part": executed.missing_part,
            "conditionals": executed.conditionals,
            "bound_seconds": _seconds_json(program, program.total.bound_seconds),
            "resource_seconds": _seconds_json(program, program.total.resource_seconds),
            "mfu_bound": None if bound is None else bound.share,
        },
        "by": key.value,
        "groups": [_group_json(group) for group in program.groups(key)[:count]],
    }


def _seconds_json(program: ProgramCost, seconds: Mapping[Bound, float]) -> Json | None:
    if program.chip is None:
        return None
    return {bound.value: time for bound, time in seconds.items()}


def total_json(program: ProgramCost) -> Json:
    """Return the cost of one run as JSON."""
    return {
        **_amounts_json(program.total.cost),
        **_traffic_json(program.total),
        "complete": program.executed.complete,
    }


def _analysis_json(cost: Cost, program: ProgramCost, *, has_table_sizes: bool = True) -> Json:
    """Return what the analysis of a compiler counts; loops and custom calls do not matter to it."""
    executed = program.executed
    complete = executed.missing_part is None and not executed.unbounded and has_table_sizes
    return {**_amounts_json(cost), "complete": complete}


def _amounts_json(cost: Cost) -> Json:
    return {
        "flops": cost.flops,
        "transcendentals": cost.transcendentals,
        "bytes_accessed": cost.bytes_accessed,
    }


def _traffic_json(group: CostGroup) -> Json:
    return {
        "memory_bytes": group.memory_bytes,
        "wire_bytes": group.wire_bytes,
        "least_seconds": group.seconds,
        "bound": None if group.bound is None else group.bound.value,
        "padding_flops": group.padding_flops,
        "estimated_cycles": group.estimated_cycles,
    }


def _group_json(group: CostGroup) -> Json:
    return {
        "name": group.name,
        "instructions": group.instructions,
        "executions": group.executions,
        **_amounts_json(group.cost),
        **_traffic_json(group),
        "flops_per_byte": group.intensity,
        "unknown": group.unknown,
    }
