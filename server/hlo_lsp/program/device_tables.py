"""Tables of the devices that have each part of an array."""

from hlo_lsp.display.table import Table
from hlo_lsp.model.device_groups import OrderedGroup
from hlo_lsp.model.padded_sizes import logical_bytes
from hlo_lsp.model.shape import shape_text
from hlo_lsp.model.sharding import ShardingKind
from hlo_lsp.program.global_shapes import GlobalShape
from hlo_lsp.text.amounts import format_bytes

DeviceGroup = tuple[int, ...] | OrderedGroup

_MAX_DEVICES_OF_GROUP = 8
_MAX_CELLS = (8, 8)  # of a table


def describe_cut(whole: GlobalShape) -> str:
    r"""Return ``\`f32[8,8]\`, 256 B: dim 0 in 4 parts over \`model\```."""
    size = logical_bytes(whole.shape)
    cuts = (
        f"dim {cut.dimension} in {cut.parts:,} parts{f' over `{cut.axes}`' if cut.axes else ''}"
        for cut in whole.cuts
    )
    held = "" if size is None else f", {format_bytes(size)}"
    return f"`{shape_text(whole.shape)}`{held}: {', '.join(cuts)}"


def device_table(whole: GlobalShape) -> Table | None:
    """Return the devices of each part of an array, a part in each cell.

    Returns None if the devices are unknown.
    """
    sharding = whole.sharding
    if sharding is None:
        return None
    order, parts = sharding.order, [one.parts for one in sharding.partitions]
    cut = [dim for dim, count in enumerate(parts) if count > 1]
    copies = {group.kind for group in sharding.subgroups}
    sizes = [one.size for one in whole.shape.dims]
    if order is None or not cut or len(parts) != len(sizes) or None in sizes:
        return None
    if not copies <= {ShardingKind.REPLICATED}:
        return None
    if len(cut) > len(_MAX_CELLS) or any(parts[dim] > _MAX_CELLS[0] for dim in cut):
        shown, most = (" x ".join(map(str, one)) for one in ([parts[d] for d in cut], _MAX_CELLS))
        text = f"devices of {shown} parts: the table is for at most {most}"
        return Table(("devices",), [[text]], has_titles=False)
    down, across = parts[cut[0]], parts[cut[1]] if len(cut) > 1 else 1
    size = order.count // (down * across)
    ranges = [_ranges(sizes[dim] or 0, parts[dim]) for dim in cut]
    titles = [f"dim {cut[1]}: {one}" for one in ranges[1]] if len(cut) > 1 else ["devices"]
    groups = (OrderedGroup(order, first, size) for first in range(0, order.count, size))
    cells = [", ".join(device_texts(group)) for group in groups]
    rows = [[ranges[0][row], *cells[row * across :][:across]] for row in range(down)]
    return Table((f"dim {cut[0]}", *titles), rows)


def _ranges(size: int, parts: int) -> list[str]:
    """Return the first and the last index of each part of a dimension of known size."""
    step = -(-size // parts)
    ends = [(start, min(start + step, size) - 1) for start in range(0, step * parts, step)]
    return ["padding" if last < start else f"{start:,}-{last:,}" for start, last in ends]


def device_texts(group: DeviceGroup) -> list[str]:
    """Return the devices of a group; for a large group the first ones and the last."""
    count = len(group) if isinstance(group, tuple) else group.count
    at = group.__getitem__ if isinstance(group, tuple) else group.at
    if count <= _MAX_DEVICES_OF_GROUP:
        return [str(at(place)) for place in range(count)]
    return [
        *(str(at(place)) for place in range(_MAX_DEVICES_OF_GROUP // 2)),
        "...",
        str(at(count - 1)),
    ]
