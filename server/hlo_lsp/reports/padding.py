"""The padded arrays at the peaks of a compile, as data, text, and JSON."""

from dataclasses import dataclass

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.memory.padded_arrays import PaddedShape, padded_shapes
from hlo_lsp.memory.savings import is_negligible
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json


@dataclass(frozen=True, slots=True)
class SpacePadding:
    """The padded arrays at the peak of a memory space, those of a shape together."""

    title: str
    peak_bytes: int
    peak_step: int
    shapes: tuple[PaddedShape, ...]

    @property
    def wasted(self) -> int:
        """The bytes of padding at the peak."""
        return sum(one.wasted for one in self.shapes)


@dataclass(frozen=True, slots=True)
class ModulePadding:
    """The padding at the peaks of a compile; ``spaces`` is empty without live ranges."""

    path: str
    spaces: tuple[SpacePadding, ...]

    @property
    def wasted(self) -> int:
        """The bytes of padding in all memory spaces."""
        return sum(space.wasted for space in self.spaces)


def padding_of(dump: Compile) -> ModulePadding:
    """Return the padded arrays at the peak of each memory space."""
    spaces = [
        SpacePadding(
            space_title(one.space, dump.backend),
            one.peak_bytes,
            one.peak_step,
            tuple(padded_shapes(dump, one)),
        )
        for one in memory_space_occupancies(dump)
    ]
    return ModulePadding(dump.files[0].label, tuple(spaces))


def padding_content(module: ModulePadding, count: int, title: str) -> Content:
    """Yield the text and the tables, with at most ``count`` shapes of each memory space."""
    if not module.spaces:
        yield f"{title}: no live ranges, so the padding at the peak is unknown"
        return
    yield f"{title}: {format_short_bytes(module.wasted)} of padding at the peaks"
    for space in module.spaces:
        if is_negligible(space.wasted, space.peak_bytes, 1):
            continue
        peak = format_short_bytes(space.peak_bytes)
        yield (
            f"{space.title}: {format_short_bytes(space.wasted)} of {peak} at step "
            f"{space.peak_step:,}"
        )
        large = [one for one in space.shapes if not is_negligible(one.wasted, space.wasted, 1)]
        rows = [_cells(shape) for shape in large[:count]]
        rest = space.shapes[len(rows) :]
        if rest:
            size = format_short_bytes(sum(shape.wasted for shape in rest))
            rows.append((size, f"in {count_noun(len(rest), 'other shape')}", "", "", ""))
        titles = (">padding", "shape", "arrays", "largest", "reason")
        yield Table(titles, rows, has_titles=False)


def _cells(shape: PaddedShape) -> tuple[str, ...]:
    arrays = f"{count_noun(shape.count, 'array')} of {format_short_bytes(shape.bytes)}"
    reasons = [] if shape.padded is None else list(map(str, shape.padded.padding))
    reason = "; ".join(reasons)
    if shape.change is not None:
        saved = format_short_bytes(shape.change.saves_bytes * shape.count)
        change = f"{shape.change.text}: {saved} less padding"
        reason = f"{reason}; {change}" if reason else change
    return format_short_bytes(shape.wasted), f"`{shape.shape}`", arrays, _owner(shape), reason


def _owner(one: PaddedShape) -> str:
    if one.argument is not None:
        return f"argument {one.argument}"
    return one.name if one.source is None else one.source.short


def padding_json(module: ModulePadding, count: int) -> Json:
    """Return the padding as JSON; see docs/json_schema.md."""
    return {
        "path": module.path,
        "spaces": [
            {
                "name": space.title,
                "peak_bytes": space.peak_bytes,
                "peak_step": space.peak_step,
                "wasted_bytes": space.wasted,
                "shapes": [_shape_json(one) for one in space.shapes[:count]],
            }
            for space in module.spaces
        ],
    }


def _shape_json(one: PaddedShape) -> Json:
    return {
        "shape": one.shape,
        "arrays": one.count,
        "bytes": one.bytes,
        "wasted_bytes": one.wasted,
        "largest": one.name,
        "source": None if one.source is None else str(one.source),
        "argument": one.argument,
        "padding": [] if one.padded is None else list(map(str, one.padded.padding)),
        "change": None if one.change is None else one.change.text,
        "change_saves_bytes": None if one.change is None else one.change.saves_bytes * one.count,
    }
