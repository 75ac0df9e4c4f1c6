"""Shardings of all three generations.

Devices and parts are those that XLA's own ``HloSharding`` tells of the same text; shard shapes are
those that its partitioner (``spmd-partitioning`` on eight CPU devices) printed.
"""

import re
from contextlib import suppress
from math import prod
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lark import Tree

from dumps import files_of, lines_of
from hlo_lsp.model.device_groups import ShardingError, parse_device_groups
from hlo_lsp.model.shape import ArrayShape, Dimension, parse_shape
from hlo_lsp.model.sharding import (
    ShardGroup,
    Sharding,
    ShardingKind,
    TupleSharding,
    parse_sharding,
    shard_shape,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.statements import tuple_sharding_texts


def _one(text: str) -> Sharding:
    sharding = parse_sharding(text)
    assert isinstance(sharding, Sharding)
    return sharding


def _array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def _devices(sharding: Sharding) -> list[int]:
    assert sharding.order is not None
    return [sharding.order.at(place) for place in range(sharding.order.count)]


@pytest.mark.parametrize(
    ("text", "kind", "devices"),
    [
        ("{replicated}", ShardingKind.REPLICATED, None),
        ("{manual}", ShardingKind.MANUAL, None),
        ("{unreduced}", ShardingKind.UNREDUCED, None),
        ("{unknown}", ShardingKind.UNKNOWN, None),
        ("{ replicated }", ShardingKind.REPLICATED, None),
        ("{maximal device=3}", ShardingKind.MAXIMAL, 1),
        ("{maximal_mesh[device_id=1]}", ShardingKind.MAXIMAL, 1),
        ("{mesh[], replicated}", ShardingKind.REPLICATED, None),
        ("{mesh[], []}", ShardingKind.REPLICATED, None),
        ("{mesh['x'=2,'y'=2], replicated}", ShardingKind.REPLICATED, 4),
        ("{mesh['x'=2,'y'=2], manual}", ShardingKind.MANUAL, 4),
        ("{mesh['x'=2,'y'=2], unreduced}", ShardingKind.UNREDUCED, 4),
        ("{mesh['x'=2], []}", ShardingKind.REPLICATED, 2),
        ("{mesh['x'=2], [], unreduced={'x'}}", ShardingKind.UNREDUCED, 2),
        ("{devices=[1,1]<=[1]}", ShardingKind.TILED, 1),
    ],
)
def test_parse_sharding(text: str, kind: ShardingKind, devices: int | None) -> None:
    assert (_one(text).kind, _one(text).devices) == (kind, devices)


@pytest.mark.parametrize(
    ("text", "parts", "devices"),
    [
        ("{devices=[2,2]0,2,1,3}", [2, 2], [0, 2, 1, 3]),
        ("{devices=[2,2]<=[4]}", [2, 2], [0, 1, 2, 3]),
        ("{devices=[2,2] <=[4]}", [2, 2], [0, 1, 2, 3]),
        ("{devices=[2,2]<=[2,2]T(1,0)}", [2, 2], [0, 2, 1, 3]),
        ("{devices=[2,3]<=[3,2]T(1,0)}", [2, 3], [0, 2, 4, 1, 3, 5]),
        ("{devices=[2,2,2]<=[2,2,2]T(0,2,1)}", [2, 2, 2], [0, 2, 1, 3, 4, 6, 5, 7]),
        ("{devices=[2,2]4,5,6,7}", [2, 2], [4, 5, 6, 7]),
        ("{mesh['x'=2,'y'=2], [{'x'}, {'y', ?}]}", [2, 2], [0, 1, 2, 3]),
        ('{mesh["x"=2,"y"=2], [{"x"}, {"y"}]}', [2, 2], [0, 1, 2, 3]),
        ("{mesh[x=2,y=2], [{x}, {y}]}", [2, 2], [0, 1, 2, 3]),
        ("{mesh['a b'=2], [{'a b'}]}", [2], [0, 1]),
        ("{mesh['x'=2,'y'=2], [{'y','x'}, {}]}", [4, 1], [0, 2, 1, 3]),
        ("{mesh['x'=2,'y'=3], device_ids=([3,2]T(1,0)), [{'x'}, {'y'}]}",
         [2, 3], [0, 2, 4, 1, 3, 5]),
        ("{mesh['x'=2,'y'=2], device_ids=([4]), [{'x'}, {'y'}]}", [2, 2], [0, 1, 2, 3]),
        ("{mesh['x'=2,'y'=2], device_ids=(3,2,1,0), [{'y'}, {'x'}]}", [2, 2], [3, 1, 2, 0]),
        ("{mesh['x'=4,'y'=2], [{'x':(2)2}, {'x':(1)2, 'y'}]}",
         [2, 4], [0, 1, 4, 5, 2, 3, 6, 7]),
        ("{mesh['x'=1,'y'=2], [{'x'}, {'y'}]}", [1, 2], [0, 1]),
    ],
)  # fmt: skip
def test_parts_and_the_devices_of_each(text: str, parts: list[int], devices: list[int]) -> None:
    sharding = _one(text)
    assert [cut.parts for cut in sharding.partitions] == parts
    assert sharding.subgroups == ()
    assert _devices(sharding) == devices


@pytest.mark.parametrize(
    ("text", "subgroups", "first"),
    [
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", [("replicated", 2)], {0, 1}),
        ("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", [("replicated", 2)], {0, 2}),
        ("{devices=[2,1,2]<=[4] last_tile_dims={manual}}", [("manual", 2)], {0, 1}),
        ("{devices=[2,2,4]<=[16] last_tile_dims={manual,replicated}}",
         [("manual", 2), ("replicated", 4)], set(range(8))),
        ("{devices=[2,2,3]<=[12] last_tile_dims={unreduced, replicated}}",
         [("unreduced", 2), ("replicated", 3)], set(range(6))),
        ("{mesh['x'=2,'y'=2], [{'x'}, {}]}", [("replicated", 2)], {0, 1}),
        ("{mesh['x'=2,'y'=2], [{'y'}], replicated={'x'}}", [("replicated", 2)], {0, 2}),
        ("{mesh['x'=2,'y'=2], [{'x'}], manual={'y'}}", [("manual", 2)], {0, 1}),
        ("{mesh['x'=2,'y'=2], device_ids=(3,2,1,0), [{'x'}, {}]}", [("replicated", 2)], {2, 3}),
        ("{mesh['x'=12], [{'x':(2)2}]}", [("replicated", 6)], {0, 1, 2, 6, 7, 8}),
        ("{mesh['x'=12], [{'x':(4)3}, {'x':(1)2}]}", [("replicated", 2)], {0, 3}),
        ("{mesh['x'=2,'y'=3,'z'=5,'w'=7], [{'x'}, {}], replicated={'z'}, unreduced={'w'}, "
         "manual={'y'}}",
         [("replicated", 5), ("unreduced", 7), ("manual", 3)], set(range(105))),
    ],
)  # fmt: skip
def test_subgroups_of_a_part(text: str, subgroups: list[tuple[str, int]], first: set[int]) -> None:
    sharding = _one(text)
    assert [(group.kind.value, group.size) for group in sharding.subgroups] == subgroups
    assert set(_devices(sharding)[: len(first)]) == first


def test_axes_and_open_dimensions_are_kept() -> None:
    sharding = _one("{mesh['x'=4,'y'=2], [{'x':(1)2, 'y'}, {?}, {}], manual={'x':(2)2}}")
    cuts = [(list(map(str, cut.axes)), cut.is_open) for cut in sharding.partitions]
    assert cuts == [(["x:(1)2", "y"], False), ([], True), ([], False)]
    assert [list(map(str, group.axes)) for group in sharding.subgroups] == [["x:(2)2"]]


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("{replicated}", None),
        ("{replicated shard_as 1}", ShardGroup(1, is_exact=True)),
        ("{devices=[2]<=[2] shard_like 5}", ShardGroup(5, is_exact=False)),
    ],
)
def test_shard_group(text: str, group: ShardGroup | None) -> None:
    assert _one(text).group == group


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ('{replicated metadata={op_name="a"}}', "{replicated}"),
        ("{replicated metadata={}}", "{replicated}"),
        ('{devices=[2]<=[2] metadata={{op_name="a" source_line=3}, {op_name="b}\\""}}}',
         "{devices=[2]<=[2]}"),
        ('{devices=[2]<=[2] metadata={op_name="a"} shard_as 1}', "{devices=[2]<=[2] shard_as 1}"),
        ("{mesh['x'=2], [{'x'}], metadata={op_name=\"a\"}}", "{mesh['x'=2], [{'x'}]}"),
        ("{mesh['x'=2], manual, metadata={{op_name=\"a\"}, {}}}", "{mesh['x'=2], manual}"),
        ("{maximal_mesh[device_id=1], metadata={}}", "{maximal_mesh[device_id=1]}"),
    ],
)  # fmt: skip
def test_metadata_changes_nothing(text: str, without: str) -> None:
    assert parse_sharding(text) == parse_sharding(without)


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("{}", []),
        ("{{replicated}}", ["{replicated}"]),
        ("{{replicated}, {devices=[2]<=[2]}}", ["{replicated}", "{devices=[2]<=[2]}"]),
        ("{{manual},/*index=5*/{manual}}", ["{manual}", "{manual}"]),
        ("{ /*none*/ }", []),
        ("{{mesh['x'=2], [{'x'}, {}]}, {replicated}}",
         ["{mesh['x'=2], [{'x'}, {}]}", "{replicated}"]),
        ("{{mesh['},{'=2], [{'},{'}]}}", ["{mesh['},{'=2], [{'},{'}]}"]),
    ],
)  # fmt: skip
def test_tuple_has_a_sharding_for_each_leaf(text: str, elements: list[str]) -> None:
    assert parse_sharding(text) == TupleSharding(tuple(map(_one, elements)))


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "{", "{replicated", "replicated", "{replicated}}", "{new}", "{{}}",
        "{{{replicated}}}", "{{replicated},}", "{{replicated} shard_as 1}", "{device=3}",
        "{devices=[2,3]<=[4]}", "{devices=[2,2]0,1,2}", "{devices=[2]0,0}", "{devices=[0]<=[0]}",
        "{devices=[2,2]<=[2,2]}", "{devices=[2,2]<=[2,2]T(1,1)}", "{devices=[2,2]<=[2,2]T(0)}",
        "{devices=[]<=[1]}", "{devices=[2]<=[2] last_tile_dims={manual, replicated}}",
        "{devices=[2]<=[2] last_tile_dims={maximal}}", "{devices=[99999999999999999999]<=[1]}",
        "{mesh['x'=2]}", "{mesh['x'=2], [{'y'}]}", "{mesh['x'=2], [{'x'}, {'x'}]}",
        "{mesh['x'=0], [{'x'}]}", "{mesh['x'=2,'x'=2], [{'x'}]}", "{mesh['x'=12], [{'x':(5)2}]}",
        "{mesh['x'=12], [{'x':(1)12}]}", "{mesh['x'=2], [{'x'}], shard_as 1}",
        "{mesh['x'=4], device_ids=(0,1), [{'x'}]}", "#sdy.sharding<@mesh, [{}]>",
        "{" * 5000, "{" * 5000 + "}" * 5000,
        "{devices=[" + ",".join(["9" * 19] * 300) + "]<=[" + ",".join(["9" * 19] * 300) + "]}",
        "{mesh[" + ",".join(f"x{n}=999999999999999999" for n in range(300)) + "], [{x1}]}",
    ],
)  # fmt: skip
def test_invalid_sharding_raises(text: str) -> None:
    with pytest.raises(ShardingError):
        parse_sharding(text)


@pytest.mark.parametrize(
    ("whole", "text", "shard"),
    [
        ("f32[10]", "{devices=[4]<=[4]}", "f32[3]"),
        ("f32[5]", "{devices=[4]<=[4]}", "f32[2]"),
        ("f32[2]", "{devices=[4]<=[4]}", "f32[1]"),
        ("f32[10,7]", "{devices=[2,4]<=[8]}", "f32[5,2]"),
        ("f32[10,7]", "{devices=[3,1,2]0,3,1,4,2,5 last_tile_dim_replicate}", "f32[4,7]"),
        ("f32[9,5]", "{devices=[4,2]<=[2,4]T(1,0)}", "f32[3,3]"),
        ("f32[1,3]", "{devices=[4,2]<=[8]}", "f32[1,2]"),
        ("f32[100,7,3]", "{devices=[7,1,1]0,1,2,3,4,5,6}", "f32[15,7,3]"),
        ("bf16[512,2048]{1,0}", "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
         "bf16[512,1024]{1,0}"),
        ("f32[1024,512]", "{mesh['x'=2,'y'=2], [{'x'}, {}]}", "f32[512,512]"),
        ("f32[4,0]", "{devices=[2,2]<=[4]}", "f32[2,0]"),
        ("f32[<=7,?]", "{devices=[2,2]<=[4]}", "f32[<=4,?]"),
        ("f32[8]", "{replicated}", "f32[8]"),
        ("f32[8]", "{manual}", "f32[8]"),
        ("f32[]", "{mesh['x'=2], [], unreduced={'x'}}", "f32[]"),
    ],
)  # fmt: skip
def test_shard_of_one_device(whole: str, text: str, shard: str) -> None:
    assert shard_shape(_array(whole), _one(text)) == _array(shard)


def test_sharding_of_another_rank_has_no_shard() -> None:
    sharding = _one("{devices=[2,2]<=[4]}")
    array = ArrayShape("f32", (Dimension(8),), None)
    assert shard_shape(array, sharding) is None


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


@given(st.lists(_SINGLE, max_size=8))
def test_tuple_split_agrees_with_lark(singles: list[str]) -> None:
    text = "{" + ", ".join(
        (f"/*index={place}*/" if place and place % 5 == 0 else "") + single
        for place, single in enumerate(singles)
    ) + "}"  # fmt: skip
    assert tuple_sharding_texts(text) == singles
    tree = load_grammar("sharding").parse("sharding", text)
    assert isinstance(tree, Tree)
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
