"""The collectives over an axis of the mesh, as text and as JSON."""

from dataclasses import dataclass
from typing import Any

from hlo_lsp.cost.chips import Chip
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Content, Table
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.instruction_owners import instruction_facts
from hlo_lsp.program.mesh import CollectiveAxes
from hlo_lsp.reports.overlap import Overlap, OverlapRow, collective_json, overlap_of
from hlo_lsp.text.amounts import format_short_bytes, format_time, in_seconds


@dataclass(frozen=True, slots=True)
class AxisCollective:
    """A collective over an axis, with the least time of all executions, None if it is unknown."""

    placed: OverlapRow
    least_ps: float | None
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class AxisInModule:
    """The collectives of a compile over an axis, those with most time or else bytes first."""

    overlap: Overlap
    collectives: tuple[AxisCollective, ...]

    @property
    def bytes_per_run(self) -> int:
        """Logical bytes of the results of all executions."""
        return sum(one.placed.bytes_per_run for one in self.collectives)

    @property
    def least_ps(self) -> float:
        """The least time of the collectives of which it is known."""
        return sum(one.least_ps or 0.0 for one in self.collectives)


def find_axis(dump: Compile, axis: str, chip: Chip | None) -> AxisInModule:
    """Return the collectives over an axis by its name, or by its label if it has none."""
    overlap = overlap_of(dump, chip)
    placed = [one for one in overlap.placed if one.axes and _has_axis(one.axes, axis)]
    times = {one.start: one.least_ps for one in overlap.network or ()}
    owners = instruction_facts(dump, (one.start.name for one in placed))
    sources = {name: owner.source for name, owner in owners.items()}
    found = [
        AxisCollective(one, times.get(one.start), sources.get(one.start.name)) for one in placed
    ]
    found.sort(key=lambda one: (-(one.least_ps or 0.0), -one.placed.bytes_per_run))
    return AxisInModule(overlap, tuple(found))


def _has_axis(axes: CollectiveAxes, text: str) -> bool:
    """Return whether a text names one of the axes, or the one of which it is a part."""
    return any(text in {one.label, (one.name or "").partition(":")[0]} for one in axes.axes)


def axis_content(found: AxisInModule, axis: str, count: int) -> Content:
    """Yield the sums, and a table of the first collectives."""
    size = format_short_bytes(found.bytes_per_run)
    at_least = "at least " * found.overlap.at_least
    counted = count_noun(len(found.collectives), "collective")
    text = f"{found.overlap.name}: {counted} over {axis}, {at_least}{size} in one run"
    if found.least_ps and found.overlap.chip is not None:
        time = format_time(found.least_ps)
        text += f", at least {time} on the network of {found.overlap.chip.title}"
    yield text
    rows = [_row(one) for one in found.collectives[:count]]
    titles = ">network", ">bytes", ">executions", "exposed", "axis", "collective", "why", "owner"
    yield Table(titles, rows)
    if rest := found.collectives[count:]:
        size = format_short_bytes(sum(one.placed.bytes_per_run for one in rest))
        yield f"  and {len(rest):,} more ({size})"


def _row(one: AxisCollective) -> tuple[str, ...]:
    placed, role = one.placed, one.placed.role
    return (
        "" if one.least_ps is None else format_time(one.least_ps),
        format_short_bytes(placed.bytes_per_run),
        f"{placed.executions:,}",
        "exposed" if placed.is_exposed else "",
        placed.axis,
        f"`{placed.start.name}`",
        "" if role is None else role.text,
        "" if one.source is None else one.source.short,
    )


def axis_json(found: AxisInModule) -> dict[str, Any]:
    """Return what was found as JSON; see docs/json_schema.md."""
    return {
        "name": found.overlap.name,
        "path": found.overlap.path,
        "chip": None if found.overlap.chip is None else found.overlap.chip.name,
        "bytes_per_run": found.bytes_per_run,
        "at_least": found.overlap.at_least,
        "collectives": [
            {
                "instruction": one.placed.start.name,
                "kind": one.placed.kind,
                "bytes": one.placed.bytes,
                "executions": one.placed.executions,
                "exposed": one.placed.is_exposed,
                "least_seconds": None if one.least_ps is None else in_seconds(one.least_ps),
                "source": None if one.source is None else str(one.source),
                **collective_json(one.placed),
            }
            for one in found.collectives
        ],
    }
