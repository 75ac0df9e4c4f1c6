"""Shardings and device groups as text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.model.device_groups import (
    Axis,
    DeviceOrder,
    EqualGroups,
    GroupMode,
    OrderedGroup,
    ShardingError,
    group_mode,
    parse_device_groups,
)
from hlo_lsp.model.display import Fact, count_noun, format_bytes, join_limited
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.shape import ArrayShape, Shape, TupleShape
from hlo_lsp.model.sharding import (
    Sharding,
    ShardingKind,
    Subgroup,
    TupleSharding,
    parse_sharding,
    shard_shape,
    unsharded_shape,
)
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.syntax.instruction_text import InstructionText

_MAX_GROUPS = 4
_MAX_DEVICES_OF_GROUP = 8


def group_facts(text: InstructionText) -> list[Fact]:
    """Return the device groups of ``replica_groups=``; empty without that attribute."""
    groups = text.attribute("replica_groups")
    channel = text.attribute("channel_id")
    global_ids = text.attribute("use_global_device_ids")
    if groups is None:
        return []
    counted_by = group_mode(
        text.opcode.text,
        channel=channel is not None,
        global_ids=global_ids is not None and global_ids.text.strip() == "true",
    )
    words = describe_replica_groups(groups.text.strip(), counted_by)
    return [Fact("replica groups", words)] if words else []


def describe_replica_groups(text: str, counted_by: GroupMode) -> str:
    """Return the value of ``replica_groups=`` as text; empty if it is invalid."""
    try:
        groups = parse_device_groups(text)
    except ShardingError:
        return ""
    whole = counted_by is GroupMode.WHOLE_REPLICAS
    noun = (GroupMode.REPLICAS if whole else counted_by).value
    if groups.count == 0:
        return f"all {GroupMode.DEVICES.value if whole else noun}s in one group"
    size = f" of {noun}s" if groups.size is None else f" of {count_noun(groups.size, noun)}"
    rest = " with all their partitions" if whole else ""
    along = ""
    if isinstance(groups, EqualGroups) and groups.mesh is not None:
        mesh = ", ".join(f"{name}={count}" for name, count in groups.mesh.axes)
        along = f"{describe_axes(groups.axes)} of the mesh {mesh}"
    shown = describe_groups(groups.first(_MAX_GROUPS), groups.count)
    return f"{count_noun(groups.count, 'group')}{size}{rest}{along}: {shown}"


def describe_groups(groups: "Iterable[tuple[int, ...] | OrderedGroup]", count: int) -> str:
    """Return ``{0,1}, {2,3} and 6 more`` for the first of ``count`` groups."""
    shown = [f"{{{','.join(_device_texts(group))}}}" for group in groups]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def describe_part_devices(order: DeviceOrder, parts: int) -> str:
    """Return the devices of each part, in the order of the parts.

    For example ``0, 1, 2, 3``, or ``{0,2}, {1,3}`` if parts are replicated.
    """
    copies = order.count // parts
    if copies == 1:
        return ", ".join(_device_texts(OrderedGroup(order, 0, order.count)))
    shown = range(min(parts, _MAX_GROUPS))
    return describe_groups((OrderedGroup(order, n * copies, copies) for n in shown), parts)


def describe_axes(axes: tuple[Axis, ...]) -> str:
    """Return `` by axis x``, or an empty text without axes."""
    names = ", ".join(map(str, axes))
    return f" by {'axis' if len(axes) == 1 else 'axes'} {names}" if axes else ""


def _device_texts(group: "tuple[int, ...] | OrderedGroup") -> list[str]:
    """Return the devices of a group; for a large group the first ones and the last."""
    if isinstance(group, tuple):
        count = len(group)
        devices = (
            group
            if count <= _MAX_DEVICES_OF_GROUP
            else (*group[: _MAX_DEVICES_OF_GROUP // 2], group[-1])
        )
    else:
        count = group.count
        places = (
            range(count)
            if count <= _MAX_DEVICES_OF_GROUP
            else (*range(_MAX_DEVICES_OF_GROUP // 2), count - 1)
        )
        devices = tuple(map(group.at, places))
    words = list(map(str, devices))
    return words if count <= _MAX_DEVICES_OF_GROUP else [*words[:-1], "...", words[-1]]


_MAX_SHARDINGS = 4  # of a tuple
_MAX_INDICES = 4


class PrintedShape(Enum):
    """The shape that a module prints next to a sharding.

    The SPMD partitioner replaces shapes by those of one device and keeps the shardings.
    """

    WHOLE = "whole"
    SHARD = "shard"


@dataclass(frozen=True, slots=True)
class _ShardedLeaf:
    index: str
    shape: Shape | None
    sharding: Sharding


@dataclass(frozen=True, slots=True)
class _DeviceShard:
    """An array and its shard on one device."""

    whole: ArrayShape
    shard: ArrayShape


def sharding_facts(
    text: str, shape: Shape | None, printed: PrintedShape = PrintedShape.WHOLE
) -> list[Fact]:
    """Return facts about the value of ``sharding=``; empty if it is invalid.

    Args:
        text: The sharding.
        shape: Shape of the instruction: the whole array before XLA's partitioner, one device's
            shard after it.
        printed: Which of the two shapes it is. Sizes are logical bytes.
    """
    try:
        sharding = parse_sharding(text)
    except ShardingError:
        return []
    if isinstance(sharding, TupleSharding):
        return _tuple_facts(list(_sharded_leaves(sharding.elements, shape)), printed)
    if isinstance(shape, TupleShape):
        return _tuple_facts(
            [_ShardedLeaf(*part, sharding) for part in _leaf_shapes(shape)], printed
        )
    facts = [Fact("sharding", _describe_leaves([_ShardedLeaf("{}", shape, sharding)], printed))]
    order, copies = sharding.order, {group.kind for group in sharding.subgroups}
    if order is not None and sharding.parts > 1 and copies <= {ShardingKind.REPLICATED}:
        facts.append(
            Fact(
                "parts",
                f"in row-major order on devices {describe_part_devices(order, sharding.parts)}",
            )
        )
    return facts


def _tuple_facts(leaves: list[_ShardedLeaf], printed: PrintedShape) -> list[Fact]:
    """Return one fact for each distinct sharding, up to a limit."""
    alike: dict[Sharding, list[_ShardedLeaf]] = {}
    for leaf in leaves:
        alike.setdefault(leaf.sharding, []).append(leaf)
    facts = []
    for same in list(alike.values())[:_MAX_SHARDINGS]:
        indexes = join_limited([leaf.index for leaf in same[1:]], _MAX_INDICES)
        others = f"and {indexes}: " if indexes else ""
        facts.append(Fact(f"sharding {same[0].index}", others + _describe_leaves(same, printed)))
    if len(alike) > _MAX_SHARDINGS:
        facts.append(Fact("shardings", f"and {len(alike) - _MAX_SHARDINGS:,} more"))
    return facts


def _sharded_leaves(shardings: Sequence[Sharding], shape: Shape | None) -> Iterator[_ShardedLeaf]:
    """Return the leaves of a tuple with their shardings, without shapes if the counts differ."""
    parts = list(_leaf_shapes(shape)) if isinstance(shape, TupleShape) else []
    for place, sharding in enumerate(shardings):
        matches = len(parts) == len(shardings)
        index, leaf = parts[place] if matches else (f"{{{place}}}", None)
        yield _ShardedLeaf(index, leaf, sharding)


def _leaf_shapes(shape: TupleShape, index: tuple[int, ...] = ()) -> Iterator[tuple[str, Shape]]:
    for place, element in enumerate(shape.elements):
        path = (*index, place)
        if isinstance(element, TupleShape):
            yield from _leaf_shapes(element, path)
        else:
            yield f"{{{','.join(map(str, path))}}}", element


def _describe_leaves(leaves: list[_ShardedLeaf], printed: PrintedShape) -> str:
    """Return the description of leaves that have the same sharding."""
    sharding = leaves[0].sharding
    words = [_describe_sharding(sharding)]
    held = [found for leaf in leaves if (found := _device_shard(leaf, printed)) is not None]
    if len(held) == len(leaves):
        amount = _describe_bytes_per_device(held, printed)
        if sharding.kind is not ShardingKind.TILED:
            words[0] += f" ({amount})"
        else:
            words.append(f"each device holds {amount}")
        if len(held) == 1 and printed is PrintedShape.WHOLE:
            words += _describe_uneven_dims(held[0], sharding)
    if sharding.group is not None:
        relation = "the same as" if sharding.group.is_exact else "as close as possible to"
        words.append(f"{relation} shard group {sharding.group.number}")
    return "; ".join(words)


def _describe_sharding(sharding: Sharding) -> str:
    count = sharding.devices
    if sharding.kind is not ShardingKind.TILED:
        each = "each device" if count is None else f"each of {count_noun(count, 'device')}"
        device = "" if sharding.order is None else sharding.order.at(0)
        return _WHOLES[sharding.kind].format(each=each, device=device)
    cuts = [
        f"dim {dim} in {count_noun(cut.parts, 'part')}{describe_axes(cut.axes)}"
        for dim, cut in enumerate(sharding.partitions)
        if cut.parts > 1
    ]
    words = [f"{', '.join(cuts) or 'no dim is split'} over {count_noun(count or 0, 'device')}"]
    words += [_subgroup_words(group) for group in sharding.subgroups if group.size > 1]
    words += [
        f"dim {dim} may be split further"
        for dim, cut in enumerate(sharding.partitions)
        if cut.is_open
    ]
    return ", ".join(words)


_WHOLES = {
    ShardingKind.REPLICATED: "replicated: the whole array on {each}",
    ShardingKind.MANUAL: "manual: partitioned by the program, the shape is the shard on {each}",
    ShardingKind.UNREDUCED: "unreduced: partial sums of the whole array on {each}",
    ShardingKind.UNKNOWN: "unknown: a placeholder that any other sharding overrides",
    ShardingKind.MAXIMAL: "the whole array on device {device} only",
}


def _subgroup_words(group: Subgroup) -> str:
    by = describe_axes(group.axes)
    if group.kind is ShardingKind.MANUAL:
        return f"manual over {group.size:,}{by} (partitioned by the program)"
    if group.kind is ShardingKind.UNREDUCED:
        return f"unreduced over {group.size:,}{by} (partial sums)"
    return f"each part replicated on {group.size:,}{by}"


def _device_shard(leaf: _ShardedLeaf, printed: PrintedShape) -> _DeviceShard | None:
    if not isinstance(leaf.shape, ArrayShape) or leaf.sharding.kind is ShardingKind.UNKNOWN:
        return None
    if printed is PrintedShape.WHOLE:
        shard = shard_shape(leaf.shape, leaf.sharding)
        return None if shard is None else _DeviceShard(leaf.shape, shard)
    whole = unsharded_shape(leaf.shape, leaf.sharding)
    return None if whole is None else _DeviceShard(whole, leaf.shape)


def _describe_bytes_per_device(held: list[_DeviceShard], printed: PrintedShape) -> str:
    shards = {_text(each.shard) for each in held}
    name = f"`{shards.pop()}`" if len(shards) == 1 else f"{len(held):,} arrays"
    if len(held) > 1 and not shards:
        name += f" {len(held):,} times"
    shard, whole = _bytes(each.shard for each in held), _bytes(each.whole for each in held)
    if shard is None or whole is None:
        return name
    if shard == whole:
        return f"{name}, {format_bytes(shard)}"
    if printed is PrintedShape.WHOLE:
        return f"{name}, {format_bytes(shard)} of {format_bytes(whole)}"
    # The shape of a shard does not show whether it contains padding.
    of = f"`{_text(held[0].whole)}`, " if len(held) == 1 else ""
    return f"{name}, {format_bytes(shard)} of {of}{format_bytes(whole)} or less if parts are padded"


def _describe_uneven_dims(held: _DeviceShard, sharding: Sharding) -> Iterator[str]:
    """Return texts about dimensions whose size is not divisible by their parts."""
    for number, (dim, part, cut) in enumerate(
        zip(held.whole.dims, held.shard.dims, sharding.partitions, strict=False)
    ):
        if not dim.size or not part.size or dim.size % cut.parts == 0:
            continue
        full, rest = divmod(dim.size, part.size)
        empty = cut.parts - full - (rest > 0)
        last = [f"one has {rest:,} of {part.size:,}"] if rest else []
        last += [f"{empty:,} empty"] if empty else []
        yield (
            f"dim {number}: {dim.size:,} is not divisible by {cut.parts:,}, "
            f"the last parts are padded ({', '.join(last)})"
        )


def _bytes(arrays: Iterable[ArrayShape]) -> int | None:
    sizes = [logical_bytes(array) for array in arrays]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _text(array: ArrayShape) -> str:
    """Return the shape without its layout: XLA assigns a new layout to each shard."""
    dims = (
        f"{'<=' if dim.dynamic and dim.size is not None else ''}"
        f"{'?' if dim.size is None else dim.size}"
        for dim in array.dims
    )
    return f"{array.element_type}[{','.join(dims)}]"


_ROLES_WITH_WHOLE_SHAPES = frozenset({FileRole.BEFORE_OPTIMIZATIONS})
_ROLES_WITH_SHARD_SHAPES = frozenset({FileRole.AFTER_SPMD_PARTITIONER})


def printed_shape_of(file: DumpFile) -> PrintedShape | None:
    """Return the meaning of shapes next to ``sharding=`` in a module, or None if it is unknown.

    The SPMD partitioner replaces whole shapes by those of one device and leaves the shardings of
    parameters unchanged. According to 661 parameters of real dumps, scheduled modules are
    partitioned and modules before optimizations are not. For other modules the text is ambiguous.
    """
    header = file.module.header
    text = "" if header is None else header.text
    if "num_partitions=" not in text:
        return PrintedShape.WHOLE
    if "is_scheduled=true" in text:
        return PrintedShape.SHARD
    role = None if file.path is None else suffix_of(file.path.name).role
    if role in _ROLES_WITH_SHARD_SHAPES:
        return PrintedShape.SHARD
    return (
        PrintedShape.WHOLE if role in _ROLES_WITH_WHOLE_SHAPES or "xla.sdy.meshes" in text else None
    )
