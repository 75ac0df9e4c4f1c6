"""Groups of devices in words, however many there are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.model.bytesize import readable
from hlo_lsp.model.card import Fact, counted, listed
from hlo_lsp.model.device_groups import (
    EqualGroups,
    Members,
    OrderedGroup,
    members,
    parse_groups,
)
from hlo_lsp.model.device_mesh import Axis, DeviceOrder, ShardingError
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import Role, suffix_of
from hlo_lsp.model.shape import Array, Shape, TupleShape
from hlo_lsp.model.sharding import (
    Kind,
    Sharding,
    Subgroup,
    TupleSharding,
    parse_sharding,
    shard_of,
    whole_of,
)
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.syntax.instruction_text import InstructionText

_GROUPS = 4  # shown at most
_DEVICES = 8  # of a group


def group_facts(text: InstructionText) -> list[Fact]:
    """Which devices work together by ``replica_groups=``; nothing if that is not there."""
    groups = text.attribute("replica_groups")
    channel = text.attribute("channel_id")
    global_ids = text.attribute("use_global_device_ids")
    if groups is None:
        return []
    counted_by = members(
        text.opcode.text,
        channel=channel is not None,
        global_ids=global_ids is not None and global_ids.text.strip() == "true",
    )
    words = collective_words(groups.text.strip(), counted_by)
    return [Fact("replica groups", words)] if words else []


def collective_words(text: str, counted_by: Members) -> str:
    """The value of ``replica_groups=`` in words; empty if it cannot be read."""
    try:
        groups = parse_groups(text)
    except ShardingError:
        return ""
    whole = counted_by is Members.WHOLE_REPLICAS
    noun = (Members.REPLICAS if whole else counted_by).value
    if groups.count == 0:
        return f"all {Members.DEVICES.value if whole else noun}s in one group"
    size = f" of {noun}s" if groups.size is None else f" of {counted(groups.size, noun)}"
    rest = " with all their partitions" if whole else ""
    along = ""
    if isinstance(groups, EqualGroups) and groups.mesh is not None:
        mesh = ", ".join(f"{name}={count}" for name, count in groups.mesh.axes)
        along = f"{axes_words(groups.axes)} of the mesh {mesh}"
    shown = groups_words(groups.first(_GROUPS), groups.count)
    return f"{counted(groups.count, 'group')}{size}{rest}{along}: {shown}"


def groups_words(groups: "Iterable[tuple[int, ...] | OrderedGroup]", count: int) -> str:
    """``{0,1}, {2,3} and 6 more``: the first of ``count`` groups."""
    shown = [f"{{{','.join(_members(group))}}}" for group in groups]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def copies_words(order: DeviceOrder, parts: int) -> str:
    """The devices of each part, in the order of the parts: ``0, 1, 2, 3`` or ``{0,2}, {1,3}``."""
    copies = order.count // parts
    if copies == 1:
        return ", ".join(_members(OrderedGroup(order, 0, order.count)))
    shown = range(min(parts, _GROUPS))
    return groups_words((OrderedGroup(order, n * copies, copies) for n in shown), parts)


def axes_words(axes: tuple[Axis, ...]) -> str:
    """`` by axis x``, or nothing where there is no axis."""
    names = ", ".join(map(str, axes))
    return f" by {'axis' if len(axes) == 1 else 'axes'} {names}" if axes else ""


def _members(group: "tuple[int, ...] | OrderedGroup") -> list[str]:
    """The devices of a group; of a large one the first and the last."""
    if isinstance(group, tuple):
        count = len(group)
        devices = group if count <= _DEVICES else (*group[: _DEVICES // 2], group[-1])
    else:
        count = group.count
        places = range(count) if count <= _DEVICES else (*range(_DEVICES // 2), count - 1)
        devices = tuple(map(group.at, places))
    words = list(map(str, devices))
    return words if count <= _DEVICES else [*words[:-1], "...", words[-1]]


_SHARDINGS = 4  # different ones of a tuple
_INDEXES = 4


class Printed(Enum):
    """What the shape beside a sharding is: the partitioner changes shapes and keeps shardings."""

    WHOLE = "whole"
    SHARD = "shard"


@dataclass(frozen=True, slots=True)
class _Leaf:
    index: str
    shape: Shape | None
    sharding: Sharding


@dataclass(frozen=True, slots=True)
class _Held:
    """An array and what one device holds of it."""

    whole: Array
    shard: Array


def sharding_facts(text: str, shape: Shape | None, printed: Printed = Printed.WHOLE) -> list[Fact]:
    """How the value of ``sharding=`` spreads a shape over devices; nothing if it cannot be read.

    ``shape`` is the printed shape of the instruction: the whole before XLA's partitioner, that of
    one device after it. Bytes are logical.
    """
    try:
        sharding = parse_sharding(text)
    except ShardingError:
        return []
    if isinstance(sharding, TupleSharding):
        return _tuple_facts(list(_leaves(sharding.elements, shape)), printed)
    if isinstance(shape, TupleShape):
        return _tuple_facts([_Leaf(*part, sharding) for part in _parts(shape)], printed)
    facts = [Fact("sharding", _line([_Leaf("{}", shape, sharding)], printed))]
    order, copies = sharding.order, {group.kind for group in sharding.subgroups}
    if order is not None and sharding.parts > 1 and copies <= {Kind.REPLICATED}:
        facts.append(Fact("parts", f"row by row on devices {copies_words(order, sharding.parts)}"))
    return facts


def _tuple_facts(leaves: list[_Leaf], printed: Printed) -> list[Fact]:
    """A line for each different sharding, the first few of them."""
    alike: dict[Sharding, list[_Leaf]] = {}
    for leaf in leaves:
        alike.setdefault(leaf.sharding, []).append(leaf)
    facts = []
    for same in list(alike.values())[:_SHARDINGS]:
        indexes = listed([leaf.index for leaf in same[1:]], _INDEXES)
        others = f"and {indexes}: " if indexes else ""
        facts.append(Fact(f"sharding {same[0].index}", others + _line(same, printed)))
    if len(alike) > _SHARDINGS:
        facts.append(Fact("shardings", f"and {len(alike) - _SHARDINGS:,} more"))
    return facts


def _leaves(shardings: Sequence[Sharding], shape: Shape | None) -> Iterator[_Leaf]:
    """The leaves of a tuple with their shardings; without shapes where those are not as many."""
    parts = list(_parts(shape)) if isinstance(shape, TupleShape) else []
    for place, sharding in enumerate(shardings):
        matches = len(parts) == len(shardings)
        index, leaf = parts[place] if matches else (f"{{{place}}}", None)
        yield _Leaf(index, leaf, sharding)


def _parts(shape: TupleShape, index: tuple[int, ...] = ()) -> Iterator[tuple[str, Shape]]:
    for place, element in enumerate(shape.elements):
        path = (*index, place)
        if isinstance(element, TupleShape):
            yield from _parts(element, path)
        else:
            yield f"{{{','.join(map(str, path))}}}", element


def _line(leaves: list[_Leaf], printed: Printed) -> str:
    """All there is to say of leaves with the same sharding."""
    sharding = leaves[0].sharding
    words = [_spread(sharding)]
    held = [found for leaf in leaves if (found := _held(leaf, printed)) is not None]
    if len(held) == len(leaves):
        amount = _amount(held, printed)
        if sharding.kind is not Kind.TILED:
            words[0] += f" ({amount})"
        else:
            words.append(f"each device holds {amount}")
        if len(held) == 1 and printed is Printed.WHOLE:
            words += _padding(held[0], sharding)
    if sharding.group is not None:
        how = "exactly" if sharding.group.is_exact else "as far as it can be"
        words.append(f"sharded like all others of shard group {sharding.group.number}, {how}")
    return "; ".join(words)


def _spread(sharding: Sharding) -> str:
    count = sharding.devices
    if sharding.kind is not Kind.TILED:
        each = "each device" if count is None else f"each of {counted(count, 'device')}"
        device = "" if sharding.order is None else sharding.order.at(0)
        return _WHOLES[sharding.kind].format(each=each, device=device)
    cuts = [
        f"dim {dim} in {counted(cut.parts, 'part')}{axes_words(cut.axes)}"
        for dim, cut in enumerate(sharding.cuts)
        if cut.parts > 1
    ]
    words = [f"{', '.join(cuts) or 'no dim is cut'} over {counted(count or 0, 'device')}"]
    words += [_subgroup_words(group) for group in sharding.subgroups if group.size > 1]
    words += [
        f"dim {dim} may be cut further" for dim, cut in enumerate(sharding.cuts) if cut.is_open
    ]
    return ", ".join(words)


_WHOLES = {
    Kind.REPLICATED: "replicated: the whole on {each}",
    Kind.MANUAL: "manual: the program divides the work, the shape is that on {each}",
    Kind.UNREDUCED: "unreduced: partial values of the whole on {each}, still to be summed",
    Kind.UNKNOWN: "unknown: a placeholder that gives way to any other sharding",
    Kind.MAXIMAL: "the whole on device {device} only",
}


def _subgroup_words(group: Subgroup) -> str:
    by = axes_words(group.axes)
    if group.kind is Kind.MANUAL:
        return f"manual over {group.size:,}{by} (the program divides the work there)"
    if group.kind is Kind.UNREDUCED:
        return f"unreduced over {group.size:,}{by} (partial values, still to be summed)"
    return f"each part on {group.size:,} of them{by}"


def _held(leaf: _Leaf, printed: Printed) -> _Held | None:
    if not isinstance(leaf.shape, Array) or leaf.sharding.kind is Kind.UNKNOWN:
        return None
    if printed is Printed.WHOLE:
        shard = shard_of(leaf.shape, leaf.sharding)
        return None if shard is None else _Held(leaf.shape, shard)
    whole = whole_of(leaf.shape, leaf.sharding)
    return None if whole is None else _Held(whole, leaf.shape)


def _amount(held: list[_Held], printed: Printed) -> str:
    shards = {_text(each.shard) for each in held}
    name = f"`{shards.pop()}`" if len(shards) == 1 else f"{len(held):,} arrays"
    if len(held) > 1 and not shards:
        name += f" {len(held):,} times"
    shard, whole = _bytes(each.shard for each in held), _bytes(each.whole for each in held)
    if shard is None or whole is None:
        return name
    if shard == whole:
        return f"{name}, {readable(shard)}"
    if printed is Printed.WHOLE:
        return f"{name}, {readable(shard)} of {readable(whole)}"
    # A part that was padded looks like any other.
    of = f"`{_text(held[0].whole)}`, " if len(held) == 1 else ""
    return f"{name}, {readable(shard)} of {of}{readable(whole)} or less, if parts were padded"


def _padding(held: _Held, sharding: Sharding) -> Iterator[str]:
    """What the last parts of a dimension hold that does not divide."""
    for number, (dim, part, cut) in enumerate(
        zip(held.whole.dims, held.shard.dims, sharding.cuts, strict=False)
    ):
        if not dim.size or not part.size or dim.size % cut.parts == 0:
            continue
        full, rest = divmod(dim.size, part.size)
        empty = cut.parts - full - (rest > 0)
        last = [f"one holds {rest:,} of {part.size:,}"] if rest else []
        last += [f"{empty:,} nothing"] if empty else []
        yield (
            f"dim {number}: {dim.size:,} does not divide by {cut.parts:,}, "
            f"the last parts are padded ({', '.join(last)})"
        )


def _bytes(arrays: Iterable[Array]) -> int | None:
    sizes = [logical_bytes(array) for array in arrays]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _text(array: Array) -> str:
    """The shape without its layout: XLA lays out each shard anew."""
    dims = (
        f"{'<=' if dim.dynamic and dim.size is not None else ''}"
        f"{'?' if dim.size is None else dim.size}"
        for dim in array.dims
    )
    return f"{array.element_type}[{','.join(dims)}]"


_WHOLE = frozenset({Role.BEFORE_OPTIMIZATIONS})
_SHARDS = frozenset({Role.AFTER_SPMD_PARTITIONER})


def printed_shapes(file: DumpFile) -> Printed | None:
    """What shapes beside ``sharding=`` mean in a module, or None where nothing says it.

    The SPMD partitioner replaces whole shapes by those of one device and leaves the shardings of
    parameters as they were. Measured on 661 parameters: scheduled modules have been partitioned,
    those before optimizations have not; in between one module alone does not tell.
    """
    header = file.module.header
    text = "" if header is None else header.text
    if "num_partitions=" not in text:
        return Printed.WHOLE
    if "is_scheduled=true" in text:
        return Printed.SHARD
    role = None if file.path is None else suffix_of(file.path.name).role
    if role in _SHARDS:
        return Printed.SHARD
    return Printed.WHOLE if role in _WHOLE or "xla.sdy.meshes" in text else None
