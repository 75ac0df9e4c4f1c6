"""Costs and least times as phrases, and what makes them lower bounds."""

from collections.abc import Iterator

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import ExecutedCost
from hlo_lsp.cost.operation import Cost
from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.text.amounts import (
    format_flops,
    format_short_bytes,
    format_time,
    format_transcendentals,
)

IF_IN_CACHE = "(less if in cache)"
_MAX_NAMES = 5


def describe_least(picoseconds: float, *, may_be_cached: bool) -> str:
    """Return ``at least 1.53 ms``, or ``1.53 ms (less if in cache)``, which is no lower bound."""
    time = format_time(picoseconds)
    return f"{time} {IF_IN_CACHE}" if may_be_cached else f"at least {time}"


def describe_peaks(chip: Chip) -> str:
    """Return what a chip does at most in a second, and where the figures are from."""
    flops = [
        f"{format_flops(round(peak))}/s with {bits} bits"
        for bits, peak in sorted(chip.flops_per_second.items(), reverse=True)
    ]
    memory = f"memory {format_short_bytes(round(chip.memory_bytes_per_second))}/s"
    network = chip.network_bytes_per_second
    wires = [] if network is None else [f"network {format_short_bytes(round(network))}/s"]
    return f"{chip.title}: {', '.join([*flops, memory, *wires])} ({chip.source})"


def describe_amounts(cost: Cost, memory_bytes: int, wire_bytes: int) -> Iterator[str]:
    """Yield ``12.6 GFLOP``, transcendentals, ``96.0 MiB accessed``, and ``8.0 MiB sent``."""
    yield format_flops(cost.flops)
    if cost.transcendentals:
        yield format_transcendentals(cost.transcendentals)
    accessed = f"{format_short_bytes(cost.bytes_accessed)} accessed"
    if memory_bytes != cost.bytes_accessed:
        accessed += f" ({format_short_bytes(memory_bytes)} off chip)"
    yield accessed
    if wire_bytes:
        yield f"{format_short_bytes(wire_bytes)} sent"


def unknown_parts(executed: ExecutedCost) -> Iterator[str]:
    """Yield what makes the cost of a program a lower bound; nothing if it is complete."""
    if executed.unknown_loops:
        names = join_limited(list(executed.unknown_loops), _MAX_NAMES)
        loops = count_noun(len(executed.unknown_loops), "loop")
        yield f"{loops} of unknown trip count, counted once: {names}"
    if executed.unknown_calls:
        calls = [f"{name} ({times})" for name, times in sorted(executed.unknown_calls.items())]
        number = count_noun(sum(executed.unknown_calls.values()), "custom call")
        yield f"{number} of unknown cost: {join_limited(calls, _MAX_NAMES)}"
    if executed.unbounded:
        number = count_noun(len(executed.unbounded), "array")
        names = join_limited(list(executed.unbounded), _MAX_NAMES)
        yield f"{number} of unknown size, with an unbounded dimension: {names}"
    if executed.missing_part is not None:
        yield f"only a part of the program: {executed.missing_part}"
