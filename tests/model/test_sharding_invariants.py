"""Invariants of generated, damaged and real shardings."""

import re
from contextlib import suppress
from math import prod
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dumps import files_of, lines_of
from hlo_lsp.model.device_groups import ShardingError, parse_device_groups
from hlo_lsp.model.shape import ArrayShape, Dimension
from hlo_lsp.model.sharding import (
    Sharding,
    ShardingKind,
    TupleSharding,
    parse_sharding,
    shard_shape,
    tuple_sharding_texts,
    unsharded_shape,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar

_SIZES = st.integers(1, 4)
_SUFFIXES = ("", " shard_as 1", ' metadata={op_name="a}b"}', ' metadata={{}, {op_type="{"}}')
_SHARDING_VALUE = re.compile(
    r"[ ,]sharding=(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})(?=[, \n]|$)", re.MULTILINE
)
_GROUPS_VALUE = re.compile(
    r"[ ,]replica_groups=(\{[^=]*?\}\}|\{\}|\[[^ ]*(?=, )|mesh[^{]*\{[^}]*\})(?=[, \n]|$)",
    re.MULTILINE,
)


def _joined(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


@st.composite
def _tiled(draw: st.DrawFn) -> str:
    """Return a sharding with listed or iota devices."""
    tiles = draw(st.lists(_SIZES, min_size=1, max_size=4))
    kinds = draw(st.permutations(["replicated", "manual", "unreduced"]))
    kinds = kinds[: draw(st.integers(0, len(tiles)))]
    count = prod(tiles)
    if draw(st.booleans()):
        devices = _joined(draw(st.permutations(range(count))))
    else:
        transposed = draw(st.permutations(range(len(tiles))))
        devices = f"<=[{_joined(tiles)}]T({_joined(transposed)})"
    last = f" last_tile_dims={{{', '.join(kinds)}}}" if kinds else ""
    return f"{{devices=[{_joined(tiles)}]{devices}{last}{draw(st.sampled_from(_SUFFIXES))}}}"


@st.composite
def _named(draw: st.DrawFn) -> str:
    """Return a sharding over some axes of a mesh; an axis of four may have two parts."""
    sizes = draw(st.lists(_SIZES, min_size=1, max_size=4))
    mesh = ",".join(f"'{name}'={size}" for name, size in zip("wxyz", sizes, strict=False))
    axes: list[str] = []
    for name, size in zip("wxyz", sizes, strict=False):
        in_parts = size == 4 and draw(st.booleans())
        axes += [f"'{name}':(1)2", f"'{name}':(2)2"] if in_parts else [f"'{name}'"]
    places: dict[str, list[str]] = {}
    for axis in draw(st.permutations(axes)):
        place = draw(st.sampled_from(["0", "1", "none", "replicated", "manual", "unreduced"]))
        places.setdefault(place, []).append(axis)
    dims = ", ".join("{" + ", ".join(places.get(dim, [])) + "}" for dim in "01")
    named = "".join(
        f", {kind}={{{', '.join(places[kind])}}}"
        for kind in ("replicated", "unreduced", "manual")
        if kind in places
    )
    return f"{{mesh[{mesh}], [{dims}]{named}}}"


_SINGLE = st.one_of(
    _tiled(), _named(), st.sampled_from(["{replicated}", "{maximal device=0}", "{mesh[], manual}"])
)


@given(st.one_of(_tiled(), _named()))
def test_every_device_has_one_place(text: str) -> None:
    sharding = parse_sharding(text)
    assert isinstance(sharding, Sharding)
    order, copies = sharding.order, prod(group.size for group in sharding.subgroups)
    assert order is not None
    assert sharding.parts * copies == order.count == sharding.devices
    assert sorted(order.at(place) for place in range(order.count)) == list(range(order.count))


@given(st.one_of(_tiled(), _named()), st.data())
def test_shards_cover_the_array_with_minimal_size(text: str, data: st.DataObject) -> None:
    sharding = parse_sharding(text)
    assert isinstance(sharding, Sharding)
    rank = len(sharding.partitions)
    sizes = data.draw(st.lists(st.integers(0, 40), min_size=rank, max_size=rank))
    array = ArrayShape("f32", tuple(map(Dimension, sizes)), None)
    shard = shard_shape(array, sharding)
    assert shard is not None
    for size, part, cut in zip(sizes, shard.dims, sharding.partitions, strict=True):
        assert part.size is not None
        assert part.size * cut.parts >= size
        assert size == 0 or (part.size - 1) * cut.parts < size
    whole = unsharded_shape(shard, sharding)
    assert whole is not None
    assert shard_shape(whole, sharding) == shard
    if all(size % cut.parts == 0 for size, cut in zip(sizes, sharding.partitions, strict=True)):
        assert whole == array


@given(st.lists(_SINGLE, max_size=8))
def test_tuple_split_agrees_with_lark(singles: list[str]) -> None:
    text = "{" + ", ".join(
        (f"/*index={place}*/" if place and place % 5 == 0 else "") + single
        for place, single in enumerate(singles)
    ) + "}"  # fmt: skip
    assert tuple_sharding_texts(text) == singles
    tree = load_grammar("sharding").parse("sharding", text)
    assert tree.data == "tuple"
    assert list(tree.children) == [load_grammar("sharding").parse("single", one) for one in singles]


@given(_SINGLE, st.data())
@example("{replicated}", None)
def test_damaged_text_parses_or_raises_sharding_error(
    text: str, data: st.DataObject | None
) -> None:
    if data is not None:
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        put = data.draw(st.text("{}[]()<=,'\"/*T0129 xy?:", max_size=3))
        text = text[:at] + put + text[at + cut :]
    for parse in (parse_sharding, parse_device_groups):
        with suppress(ShardingError):
            parse(text)


@pytest.mark.corpus
def test_all_shardings_and_groups_of_corpus_parse(corpus_small: Path) -> None:
    shardings: set[str] = set()
    groups: set[str] = set()
    for line in lines_of(files_of(corpus_small, FileKind.MODULE)):
        if " sharding={" in line:
            found = _SHARDING_VALUE.findall(line)
            assert found, line[:300]
            shardings.update(found)
        if "replica_groups=" in line:
            found = _GROUPS_VALUE.findall(line)
            assert found, line[:300]
            groups.update(found)
    parsed = [parse_sharding(text) for text in shardings]
    assert {
        ShardingKind.TILED,
        ShardingKind.MANUAL,
        ShardingKind.MAXIMAL,
        ShardingKind.REPLICATED,
    } <= {sharding.kind for sharding in parsed if isinstance(sharding, Sharding)}
    assert any(isinstance(sharding, TupleSharding) for sharding in parsed)
    assert {parse_device_groups(text).count for text in groups} == {1, 2}
    assert {text[0] for text in groups} == {"{", "[", "m"}
