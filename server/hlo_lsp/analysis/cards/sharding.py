"""Shardings in words: into how many parts a value is cut, and what one device holds of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.cards.card import Fact, counted, listed
from hlo_lsp.analysis.cards.device_groups import axes_words, copies_words
from hlo_lsp.analysis.shapes.sizes import logical_bytes
from hlo_lsp.model.bytesize import readable
from hlo_lsp.model.device_order import ShardingError
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
