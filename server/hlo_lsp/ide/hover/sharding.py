"""Shardings and device groups as text."""

from collections.abc import Iterable

from hlo_lsp.display.cards import Fact
from hlo_lsp.display.phrases import count_noun, join_limited
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
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.padded_sizes import logical_bytes
from hlo_lsp.model.shape import (
    ArrayShape,
    shape_indexes,
    shape_text,
    subshape_text,
    try_shape,
)
from hlo_lsp.model.sharding import (
    Sharding,
    ShardingKind,
    TupleSharding,
    parse_sharding,
    shard_shape,
)
from hlo_lsp.program.device_tables import DeviceGroup, device_texts
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.text.amounts import format_bytes

_MAX_GROUPS = 4
_MAX_SHARDINGS = 4  # of a tuple
_MAX_INDICES = 4


def group_facts(text: InstructionText) -> list[Fact]:
    """Return the device groups of ``replica_groups=``; empty without that attribute."""
    groups = text.attribute("replica_groups")
    if groups is None:
        return []
    global_ids = text.attribute("use_global_device_ids")
    counted_by = group_mode(
        text.opcode.text,
        channel=text.attribute("channel_id") is not None,
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
    size = f"{noun}s" if groups.size is None else count_noun(groups.size, noun)
    rest = " with all their partitions" if whole else ""
    along = ""
    if isinstance(groups, EqualGroups) and groups.mesh is not None:
        mesh = ", ".join(f"{name}={count}" for name, count in groups.mesh.axes)
        along = f"{_describe_axes(groups.axes)} of the mesh {mesh}"
    shown = _describe_groups(groups.first(_MAX_GROUPS), groups.count)
    return f"{count_noun(groups.count, 'group')} of {size}{rest}{along}: {shown}"


def _describe_groups(groups: Iterable[DeviceGroup], count: int) -> str:
    """Return ``{0,1}, {2,3} and 6 more`` for the first of ``count`` groups."""
    shown = [f"{{{','.join(device_texts(group))}}}" for group in groups]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def _describe_part_devices(order: DeviceOrder, parts: int) -> str:
    """Return the devices of each part, in the order of the parts.

    For example ``0, 1, 2, 3``, or ``{0,2}, {1,3}`` if parts are replicated.
    """
    copies = order.count // parts
    if copies == 1:
        return ", ".join(device_texts(OrderedGroup(order, 0, order.count)))
    shown = range(min(parts, _MAX_GROUPS))
    return _describe_groups((OrderedGroup(order, n * copies, copies) for n in shown), parts)


def _describe_axes(axes: tuple[Axis, ...]) -> str:
    """Return `` by axis x``, or an empty text without axes."""
    names = ", ".join(map(str, axes))
    return f" by {'axis' if len(axes) == 1 else 'axes'} {names}" if axes else ""


def sharding_facts(text: str, shape: str, *, is_shard: bool = False) -> list[Fact]:
    """Return facts about the value of ``sharding=``; empty if it is invalid.

    The shape of the instruction is that of one device's shard if ``is_shard``, as XLA prints it
    after its partitioner, otherwise that of the whole array; it is empty if that is unknown. Sizes
    are logical bytes.
    """
    try:
        sharding = parse_sharding(text)
    except ShardingError:
        return []
    if isinstance(sharding, TupleSharding):
        return _tuple_facts(sharding, shape)
    words, array = [_describe_sharding(sharding)], try_shape(shape)
    if isinstance(array, ArrayShape) and sharding.kind is not ShardingKind.UNKNOWN:
        words += _describe_shard(array, sharding, is_shard)
    facts = [Fact("sharding", "; ".join(words + _describe_shard_group(sharding)))]
    order, copies = sharding.order, {group.kind for group in sharding.subgroups}
    if order is not None and sharding.parts > 1 and copies <= {ShardingKind.REPLICATED}:
        devices = _describe_part_devices(order, sharding.parts)
        facts.append(Fact("parts", f"in row-major order on devices {devices}"))
    return facts


def _tuple_facts(sharding: TupleSharding, shape: str) -> list[Fact]:
    """Return a fact for each distinct sharding of the elements of a tuple."""
    leaves = [
        index or "{}"
        for index in shape_indexes(shape)
        if not (subshape_text(shape, index) or "").startswith("(")
    ]
    if len(leaves) != len(sharding.elements):
        leaves = [f"{{{number}}}" for number in range(len(sharding.elements))]
    alike: dict[Sharding, list[str]] = {}
    for index, own in zip(leaves, sharding.elements, strict=True):
        alike.setdefault(own, []).append(index)
    facts = []
    for own, indexes in list(alike.items())[:_MAX_SHARDINGS]:
        others = join_limited(indexes[1:], _MAX_INDICES)
        words = "; ".join([_describe_sharding(own), *_describe_shard_group(own)])
        facts.append(Fact(f"sharding {indexes[0]}", f"and {others}: {words}" if others else words))
    if len(alike) > _MAX_SHARDINGS:
        facts.append(Fact("shardings", f"and {len(alike) - _MAX_SHARDINGS:,} more"))
    return facts


def _describe_shard(array: ArrayShape, sharding: Sharding, is_shard: bool) -> list[str]:
    """Return ``each device holds `f32[4]`, 16 B of 32 B``, empty if the ranks differ."""
    shard = array if is_shard else shard_shape(array, sharding)
    if shard is None:
        return []
    size, whole = logical_bytes(shard), logical_bytes(array)
    held = "" if size is None else f", {format_bytes(size)}"
    of = "" if whole is None or whole == size else f" of {format_bytes(whole)}"
    return [f"each device holds `{shape_text(shard)}`{held}{of}"]


def _describe_shard_group(sharding: Sharding) -> list[str]:
    if sharding.group is None:
        return []
    relation = "the same as" if sharding.group.is_exact else "as close as possible to"
    return [f"{relation} shard group {sharding.group.number}"]


_WHOLES = {
    ShardingKind.REPLICATED: "replicated: the whole array on {each}",
    ShardingKind.MANUAL: "manual: partitioned by the program, the shape is the shard on {each}",
    ShardingKind.UNREDUCED: "unreduced: partial sums of the whole array on {each}",
    ShardingKind.UNKNOWN: "unknown: a placeholder that any other sharding overrides",
    ShardingKind.MAXIMAL: "the whole array on device {device} only",
}
_SUBGROUPS = {
    ShardingKind.MANUAL: "manual over {size} (partitioned by the program)",
    ShardingKind.UNREDUCED: "unreduced over {size} (partial sums)",
    ShardingKind.REPLICATED: "each part replicated on {size}",
}


def _describe_sharding(sharding: Sharding) -> str:
    count = sharding.devices
    if sharding.kind is not ShardingKind.TILED:
        each = "each device" if count is None else f"each of {count_noun(count, 'device')}"
        device = "" if sharding.order is None else sharding.order.at(0)
        return _WHOLES[sharding.kind].format(each=each, device=device)
    cuts = [
        f"dim {dim} in {count_noun(cut.parts, 'part')}{_describe_axes(cut.axes)}"
        for dim, cut in enumerate(sharding.partitions)
        if cut.parts > 1
    ]
    words = [f"{', '.join(cuts) or 'no dim is split'} over {count_noun(count or 0, 'device')}"]
    for group in sharding.subgroups:
        if group.size > 1:
            size = f"{group.size:,}{_describe_axes(group.axes)}"
            words.append(_SUBGROUPS[group.kind].format(size=size))
    for dim, cut in enumerate(sharding.partitions):
        if cut.is_open:
            words.append(f"dim {dim} may be split further")
    return ", ".join(words)


def has_shard_shapes(file: DumpFile) -> bool | None:
    """Return whether the shapes next to ``sharding=`` are those of one device, None if unknown.

    The SPMD partitioner replaces whole shapes by those of one device and leaves the shardings of
    parameters unchanged. According to 661 parameters of real dumps, scheduled modules are
    partitioned and modules before optimizations are not. For other modules the text is ambiguous.
    """
    header = file.module.header
    role = None if file.path is None else suffix_of(file.path.name).role
    if header is None or "num_partitions=" not in header.text:
        return False
    if header.is_scheduled or role is FileRole.AFTER_SPMD_PARTITIONER:
        return True
    is_whole = role is FileRole.BEFORE_OPTIMIZATIONS or "xla.sdy.meshes" in header.text
    return False if is_whole else None
