"""The cost of a program as text and JSON: the table of its instructions without measured times."""

from collections.abc import Iterator, Mapping, Sequence

from hlo_lsp.cost.descriptions import IF_IN_CACHE, describe_amounts, unknown_parts
from hlo_lsp.cost.operation import Cost
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.roofline import Bound, CostSum, may_be_cached, padding_flops
from hlo_lsp.cost.utilization import utilization_bound
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Content, Table
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.mesh import axes_json
from hlo_lsp.stats.instruction_table import CostTable, InstructionGroup, merged
from hlo_lsp.text.amounts import (
    format_flops,
    format_short_bytes,
    format_time,
    format_transcendentals,
    in_seconds,
)
from hlo_lsp.text.inert import Json

_UNKNOWN_TABLES = " (bytes at least: the tables of tuples depend on the chip; use --chip)"
_MIN_PADDING_SHARE = 0.01  # of the FLOPs that the matrix unit could do meanwhile


def cost_content(
    table: CostTable, key: InstructionKey, count: int, title: str | None = None
) -> Content:
    """Yield the text and the table, with at most ``count`` groups that cost something.

    The first line begins with ``title``, by default the name of the module.
    """
    yield from cost_facts(table.cost, title)
    groups = [group for group in table.cost_groups(key) if has_cost(group.cost)]
    shown, rest = groups[:count], groups[count:]
    if rest:
        shown.append(merged(rest, f"in {len(rest):,} more"))
    yield cost_groups_table(shown, table.cost, key.title)


def cost_facts(program: ProgramCost, title: str | None = None) -> Iterator[str]:
    """Yield the lines on the whole program, the first one with a title as ``cost_content``."""
    yield f"{title or program.dump.module_name}: {_least_amounts(program)}"
    time = _time(program)
    why = "unknown chip; use --chip" if program.is_optimized else "not optimized"
    yield f"least time: {why}" if time is None else time
    yield from _resource_lines(program)
    yield from cost_notes(program)


def _resource_lines(program: ProgramCost) -> Iterator[str]:
    """Yield what the least time consists of, the time of each resource, and the bound of MFU."""
    total, chip = program.total, program.chip
    if chip is None or not total.least_ps:
        return
    parts = " + ".join(_times(total.bound_ps))
    alone = list(_times(total.resource_ps))
    if total.wire_bytes and chip.network_bytes_per_second is None:
        alone.append("network unknown")
    yield f"bound by {parts}; each resource alone: {', '.join(alone)}"
    bound = utilization_bound(program)
    if bound is not None:
        cached = " (more if in cache)" if chip.has_cache else ""
        yield (
            f"MFU at most {bound.share:.1%}{cached}: compute takes"
            f" {format_time(bound.compute_ps)} of at least"
            f" {format_time(bound.elapsed_ps)}"
        )


def _times(times: Mapping[Bound, float]) -> Iterator[str]:
    return (f"{bound.value} {format_time(time)}" for bound, time in times.items() if time)


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
    chip = program.chip
    most = max(program.executed.instructions, key=lambda row: padding_flops(row, chip))
    product = max(most.products, key=lambda product: product.padding_flops(unit))
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
    if program.chip is None or total.least_ps is None:
        return None
    bound = "" if total.bound is None else f", mostly bound by {total.bound.value}"
    time = format_time(total.least_ps)
    cached = f" {IF_IN_CACHE}" if may_be_cached(total.bound, program.chip) else ""
    return f"least time on {program.chip.title}: {time}{bound}{cached}"


def has_cost(cost: CostSum) -> bool:
    """Return whether a number in the row of a group is not 0, or its cost is unknown."""
    amounts = cost.cost.flops, cost.memory_bytes, cost.wire_bytes, cost.least_ps
    return bool(cost.unknown or cost.estimated_cycles) or any(amounts)


def group_cells(group: InstructionGroup, program: ProgramCost) -> dict[str, str]:
    """Return the cells of a group by the title of their column, its name last."""
    name = group.name if group.source is None else group.source.short
    cost = group.cost
    total = program.total
    cells = {
        "FLOPs": format_flops(cost.cost.flops),
        program.memory_title: format_short_bytes(cost.memory_bytes),
    }
    if total.wire_bytes:
        cells["sent"] = format_short_bytes(cost.wire_bytes)
    if cost.least_ps is not None:
        share = cost.least_ps / total.least_ps if total.least_ps else 0.0
        bound = "" if cost.bound is None else cost.bound.value
        time = format_time(cost.least_ps)
        cells = {"least time": time, "share": f"{share:.0%}", **cells, "bound": bound}
    if total.estimated_cycles is not None:
        cells["cycles"] = f"{cost.estimated_cycles or 0:,}"
    return {**cells, "name": f"{name}{' (unknown)' if cost.unknown else ''}"}


def cost_groups_table(
    groups: Sequence[InstructionGroup], program: ProgramCost, title: str
) -> Table:
    """Return the table of groups of instructions; ``title`` is that of their names."""
    rows = [group_cells(group, program) for group in groups]
    titles = [f">{each}" for each in rows[0]][:-1] if rows else []
    return Table((*titles, title), [list(row.values()) for row in rows])


def cost_json(table: CostTable, key: InstructionKey, count: int) -> Json:
    """Return the costs of a program as JSON; see docs/json_schema.md."""
    program = table.cost
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
            "bound_seconds": _seconds_json(program, program.total.bound_ps),
            "resource_seconds": _seconds_json(program, program.total.resource_ps),
            "mfu_bound": None if bound is None else bound.share,
        },
        "by": key.value,
        "groups": [_group_json(group, table) for group in table.cost_groups(key)[:count]],
    }


def _seconds_json(program: ProgramCost, times: Mapping[Bound, float]) -> Json | None:
    if program.chip is None:
        return None
    return {bound.value: in_seconds(time) for bound, time in times.items()}


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


def _traffic_json(cost: CostSum) -> Json:
    return {
        "memory_bytes": cost.memory_bytes,
        "wire_bytes": cost.wire_bytes,
        "least_seconds": in_seconds(cost.least_ps),
        "bound": None if cost.bound is None else cost.bound.value,
        "padding_flops": cost.padding_flops,
        "estimated_cycles": cost.estimated_cycles,
    }


def _group_json(group: InstructionGroup, table: CostTable) -> Json:
    cost, owners = group.cost, table.owners
    return {
        "name": group.name,
        "instructions": cost.instructions,
        "executions": cost.executions,
        **_amounts_json(cost.cost),
        **_traffic_json(cost),
        "flops_per_byte": cost.intensity,
        "unknown": cost.unknown,
        "axes": axes_json(owners[row.name].axes for row in group.rows if row.name in owners),
    }
