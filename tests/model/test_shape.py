"""Shapes and layouts, as XLA prints them (layout.cc, shape_util.cc)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hlo_lsp.model.shape import (
    ArrayShape,
    BufferShape,
    Dimension,
    Layout,
    Shape,
    ShapeError,
    Split,
    Tile,
    TupleShape,
    _parse_tree,
    _plain_array,
    element_texts,
    parse_shape,
    subshape_text,
    try_shape,
)
from hlo_lsp.model.unknown_texts import is_unknown_shape
from hlo_lsp.syntax.grammar import ParseFailure, load_grammar

_F32 = ArrayShape("f32", (), None)


def _array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def _layout(text: str) -> Layout:
    layout = _array(text).layout
    assert layout is not None
    return layout


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("f32[]", _F32),
        ("f32[2,3]", ArrayShape("f32", (Dimension(2), Dimension(3)), None)),
        ("s8[0]{0}", ArrayShape("s8", (Dimension(0),), Layout((0,)))),
        ("f32[2,3]{0,1}", ArrayShape("f32", (Dimension(2), Dimension(3)), Layout((0, 1)))),
        ("u32[]{:T(128)}", ArrayShape("u32", (), Layout(tiles=(Tile((128,)),)))),
        ("f32[]{}", ArrayShape("f32", (), Layout())),
        ("token[]", ArrayShape("token", (), None)),
        ("f32[<=37,130]", ArrayShape("f32", (Dimension(37, dynamic=True), Dimension(130)), None)),
        ("f32[?,4]", ArrayShape("f32", (Dimension(None, dynamic=True), Dimension(4)), None)),
        ("()", TupleShape(())),
        ("(f32[])", TupleShape((_F32,))),
        ("(f32[], (f32[], ()))", TupleShape((_F32, TupleShape((_F32, TupleShape(())))))),
        ("((f32[]), f32[])", TupleShape((TupleShape((_F32,)), _F32))),
        ("(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])", TupleShape((_F32,) * 6)),
        ("(f32[], /*index=5*/(f32[], /*index=5*/f32[]))",
         TupleShape((_F32, TupleShape((_F32, _F32))))),
        ("b(f32[])", BufferShape(_F32)),
        ("b((f32[], f32[]))", BufferShape(TupleShape((_F32, _F32)))),
    ],
)  # fmt: skip
def test_shape(text: str, shape: Shape) -> None:
    assert parse_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("f32[8,9]{1,0:T(8,128)(2,1)}", Layout((1, 0), (Tile((8, 128)), Tile((2, 1))))),
        ("f32[8]{0:T(256)(128)(2,1)}", Layout((0,), (Tile((256,)), Tile((128,)), Tile((2, 1))))),
        ("f32[8,9]{1,0:T(*,128)}", Layout((1, 0), (Tile((None, 128)),))),
        ("f32[8]{0:T()}", Layout((0,), (Tile(()),))),
        ("s32[128]{0:T(1)L(128)S(4)}",
         Layout((0,), (Tile((1,)),), tail_padding=128, memory_space=4)),
        ("s4[8,9]{0,1:T(8,128)(8,1)E(4)}",
         Layout((0, 1), (Tile((8, 128)), Tile((8, 1))), element_bits=4)),
        ("bf16[8,9]{0,1:S(1)SC(0:104)}",
         Layout((0, 1), memory_space=1, splits=(Split(0, (104,)),))),
        ("bf16[8,9]{0,1:SC(0:2,4)(1:3)}",
         Layout((0, 1), splits=(Split(0, (2, 4)), Split(1, (3,))))),
        ("f32[<=8]{0:T(128)M(1024)}", Layout((0,), (Tile((128,)),), metadata_bytes=1024)),
        ("f32[8]{0:D(D)S(5)}", Layout((0,), memory_space=5)),
        ("f32[8,9]{1,0:D(D,C+~)}", Layout((1, 0))),
        ("f32[8,9]{1,0:D(S,H)#(u32)*(u64)}", Layout((1, 0))),
        ("f32[8]{0:P(s8[16])}", Layout((0,), others=("P(...)",))),
        ("f32[8]{0:T(128)Q(7)S(1)}",
         Layout((0,), (Tile((128,)),), memory_space=1, others=("Q(7)",))),
        ("f32[8]{0:New(a,b)}", Layout((0,), others=("New(a,b)",))),
        ("f32[8]{0:S(1)T(128)}", Layout((0,), (Tile((128,)),), memory_space=1)),
    ],
)  # fmt: skip
def test_layout(text: str, layout: Layout) -> None:
    assert _layout(text) == layout


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("f32", 4),
        ("f32[", 5),
        ("f32[2,", 7),
        ("f32[2,x]", 7),
        ("f32[<=?]", 7),
        ("f32[2]{0", 9),
        ("f32[2]{x}", 8),
        ("f32[2]{0:}", 10),
        ("f32[2]{0:T}", 11),
        ("f32[2]{0:S()}", 12),
        ("f32[2] 0", 8),
        ("f32[1 0]", 7),
        ("f32[2]{0} x", 11),
        ("F32[2]", 1),
        ("(f32[2]", 8),
        ("(f32[2])x", 9),
        ("b(f32[2]", 9),
    ],
)
def test_invalid_shape_raises(text: str, column: int) -> None:
    with pytest.raises(ShapeError, match=rf"^expected .* at column {column} of the shape `"):
        parse_shape(text)
    assert try_shape(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "(f32[2,4]{1,0},(s8[],/*index=1*/pred[2]))",
        "( f32[2, 4] {1, 0} , ( s8 [], /*index=1*/ pred[2] ) )",
        "(f32[2,4]{1,0},\n   (s8[],\tpred[2]))",
    ],
)
def test_blanks_between_the_parts_mean_nothing(text: str) -> None:
    assert parse_shape(text) == parse_shape("(f32[2,4]{1,0}, (s8[], pred[2]))")


_SIZES = st.lists(st.integers(0, 1 << 70).map(str), max_size=11).map(",".join)
_PARTS = st.sampled_from(["T", "(8,128)", "(*,2)", "()", "E(4)", "S(1)", "L(8)", "S", "SC(0:1)"])
_LAYOUT = st.tuples(_SIZES, st.sampled_from(["", ":"]), st.lists(_PARTS, max_size=6).map("".join))
_ARRAYS = st.tuples(_SIZES, st.none() | _LAYOUT.map("".join)).map(
    lambda parts: f"f32[{parts[0]}]" + ("" if parts[1] is None else f"{{{parts[1]}}}")
)


@given(_ARRAYS)
@example("bf16[8,128]{1,0:T(8,128)(2,1)E(16)S(1)}")
@example("s32[]{:T(128)}")
def test_plain_array_agrees_with_lark(text: str) -> None:
    plain = _plain_array(text)
    tree = load_grammar("shape").parse("shape", text)
    assert plain is None or plain == (None if isinstance(tree, ParseFailure) else _parse_tree(tree))


def test_error_in_a_tuple_names_the_element() -> None:
    with pytest.raises(ShapeError, match=r"at column 4 of the shape `s8\[x\]`"):
        parse_shape("(f32[2]{0}, (f32[], s8[x]))")


@pytest.mark.parametrize(
    "text", ["(" * 101 + "f32[]" + ")" * 101, "b(" * 101 + "f32[]" + ")" * 101]
)
def test_no_grammar_reads_deep_nesting(text: str) -> None:
    with pytest.raises(ShapeError, match="nested too deeply"):
        parse_shape(text)
    assert not is_unknown_shape(text)


@pytest.mark.parametrize("depth", [40, 5000])
def test_too_deeply_nested_tuple_is_an_error(depth: int) -> None:
    assert try_shape("(" * depth) is None
    assert try_shape("(" * depth + ")" * (depth - 1)) is None
    with_error = "(" * depth + "f32[x]" + ")" * depth
    assert try_shape(with_error) is None


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("pred[2]", 8), ("bf16[2]", 16), ("f32[2]", 32), ("c128[2]", 128), ("token[]", 0),
        ("s4[2]", 8), ("u1[2]", 8), ("f4e2m1fn[2]", 8), ("f6e3m2fn[2]", 8), ("f8e4m3b11fnuz[2]", 8),
        ("s4[2]{0:E(4)}", 4), ("s4[2]{0:T(128)}", 8), ("new1[2]", None), ("new1[2]{0:E(3)}", 3),
    ],
)  # fmt: skip
def test_bits_of_an_element(text: str, bits: int | None) -> None:
    assert _array(text).bits == bits


@pytest.mark.parametrize(
    ("text", "elements", "dynamic"),
    [
        ("f32[]", 1, False),
        ("f32[2,3,4]", 24, False),
        ("f32[2,0]", 0, False),
        ("f32[<=37,130]", 4810, True),
        ("f32[?,4]", None, True),
    ],
)
def test_elements_of_an_array(text: str, elements: int | None, dynamic: bool) -> None:
    assert (_array(text).elements, _array(text).dynamic) == (elements, dynamic)


def test_tiles_are_printed_as_they_were() -> None:
    assert _layout("f32[8,9]{1,0:T(*,128)(2,1)}").tile_text == "T(*,128)(2,1)"
    assert _layout("f32[8,9]{1,0}").tile_text == ""


_ARRAYS = st.sampled_from(
    ["f32[]", "s8[2,3]{1,0}", "u32[]{:T(128)S(2)}", "f32[<=7,?]", "b(f32[2])",
     "bf16[8,9]{0,1:T(8,128)(2,1)SC(0:2,4)}"]
)  # fmt: skip
_TUPLES = st.recursive(_ARRAYS, lambda inner: st.lists(inner, max_size=7).map(tuple), max_leaves=20)


def _printed(shape: object) -> str:
    """Return a shape with XLA's comments before the elements 5, 10, 15 ..."""
    if isinstance(shape, str):
        return shape
    assert isinstance(shape, tuple)
    parts = [
        (f"/*index={place}*/" if place and place % 5 == 0 else "") + _printed(part)
        for place, part in enumerate(shape)
    ]
    return f"({', '.join(parts)})"


@given(_TUPLES)
def test_elements_of_a_tuple(shape: object) -> None:
    text = _printed(shape)
    if isinstance(shape, str):
        assert element_texts(text) is None
    else:
        assert isinstance(shape, tuple)
        assert element_texts(text) == tuple(map(_printed, shape))


@pytest.mark.parametrize(
    ("index", "leaf"),
    [
        (None, "(f32[2]{0}, (s8[], pred[3]))"),
        ("{}", "(f32[2]{0}, (s8[], pred[3]))"),
        ("{0}", "f32[2]{0}"),
        ("{1}", "(s8[], pred[3])"),
        ("{1,1}", "pred[3]"),
        ("{2}", None),
        ("{0,0}", None),
        ("{1,1,0}", None),
    ],
)
def test_leaf_at_an_index(index: str | None, leaf: str | None) -> None:
    assert subshape_text("(f32[2]{0}, (s8[], pred[3]))", index) == leaf


@pytest.mark.parametrize(
    "text", ["(f32[]", "(f32[]))", "(f32[])(s8[])", "f32[]", "", ")", "(f32[}"]
)
def test_unbalanced_text_is_not_a_tuple(text: str) -> None:
    assert element_texts(text) is None
