"""The largest values at a step, and why each is alive; as a table and as JSON."""

from dataclasses import dataclass

from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy, memory_space_occupancies
from hlo_lsp.memory.savings import large_spaces
from hlo_lsp.memory.why_alive import Lifetime, lifetime_of
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import Value
from hlo_lsp.reports.why_alive_text import kept_for, lifetime_json
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json


@dataclass(frozen=True, slots=True)
class ValueAtStep:
    """A value, the bytes that it occupies at the step, and why it is alive."""

    value: Value
    bytes: int
    lifetime: Lifetime | None


@dataclass(frozen=True, slots=True)
class SpaceValues:
    """The largest values of a memory space at a step; ``bytes`` is the sum of all."""

    title: str
    step: int
    bytes: int
    values: tuple[ValueAtStep, ...]


def largest_values(
    dump: Compile, space: int | None, step: int | None, count: int
) -> list[SpaceValues]:
    """Return the largest values of each memory space.

    Args:
        dump: The compile.
        space: The number of the only memory space; None for all that are not tiny.
        step: The step, None for the peak of each memory space.
        count: The number of values of a memory space.
    """
    spaces = memory_space_occupancies(dump)
    chosen = [one for one in spaces if one.space == space]
    if space is None:
        chosen = large_spaces(spaces, lambda one: one.peak_bytes)
    return [_of_space(dump, one, one.peak_step if step is None else step, count) for one in chosen]


def _of_space(dump: Compile, occupancy: SpaceOccupancy, step: int, count: int) -> SpaceValues:
    found = []
    for buffer in live_buffers(dump, occupancy.space, step):
        value = None if buffer.value is None else dump.value(buffer.value.record.id)
        if value is not None:
            found.append(ValueAtStep(value, buffer.bytes, lifetime_of(dump, value)))
        if len(found) == count:
            break
    title = space_title(occupancy.space, dump.backend)
    return SpaceValues(title, step, occupancy.bytes_at(step), tuple(found))


def largest_values_content(dump: Compile, spaces: list[SpaceValues], title: str) -> Content:
    """Yield a table for each memory space of a compile, which is shown with a title."""
    if not spaces:
        yield f"{title}: live ranges are unknown"
    for space in spaces:
        total = format_short_bytes(space.bytes)
        yield f"{title}: {total} of {space.title} are occupied at step {space.step:,}"
        yield Table(
            (">bytes", "value", "Python line", "kept for"),
            [_row(dump, one) for one in space.values],
        )


def _row(dump: Compile, one: ValueAtStep) -> tuple[str, str, str, str]:
    origin = None if one.lifetime is None else one.lifetime.origin
    owner = ""
    if origin is not None:
        owner = f"`{origin.argument}`" if origin.argument else ""
        if not owner and origin.source is not None:
            owner = f"{origin.source.short}{origin.saving}"
    reason = ""
    if one.lifetime is not None:
        reason = kept_for(dump, one.value, one.lifetime, is_short=True)
    return format_short_bytes(one.bytes), f"`{one.value.label}`", owner, reason


def largest_values_json(dump: Compile, spaces: list[SpaceValues]) -> Json:
    """Return the values as JSON; see docs/json_schema.md."""
    return {
        "path": dump.files[0].label,
        "spaces": [
            {
                "space": space.title,
                "step": space.step,
                "bytes": space.bytes,
                "values": [
                    {
                        **lifetime_json(dump, one.value, one.lifetime),
                        "path": dump.files[0].label,
                        "bytes_at_step": one.bytes,
                    }
                    for one in space.values
                ],
            }
            for space in spaces
        ],
    }
