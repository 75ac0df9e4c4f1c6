"""Parts of shapes from their text without a full parse."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumps import lines_of, memory_files
from hlo_lsp.model.shape import TupleShape, element_texts, parse_shape, subshape_text
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.line_fields import fields_of_line

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
def test_the_elements_of_a_tuple(shape: object) -> None:
    text = _printed(shape)
    if isinstance(shape, str):
        assert element_texts(text) is None
    else:
        assert isinstance(shape, tuple)
        assert element_texts(text) == tuple(map(_printed, shape))


@given(_TUPLES)
def test_every_leaf_is_found_by_its_index(shape: object) -> None:
    text = _printed(shape)

    def look(part: object, index: tuple[int, ...]) -> None:
        assert subshape_text(text, f"{{{','.join(map(str, index))}}}") == _printed(part)
        if isinstance(part, tuple):
            for place, inner in enumerate(part):
                look(inner, (*index, place))

    look(shape, ())


@given(_TUPLES)
def test_shape_parser_agrees_with_lark(shape: object) -> None:
    text = _printed(shape)
    parsed = parse_shape(text)
    tree = load_grammar("shape").parse("shape", text)
    assert isinstance(parsed, TupleShape) == (tree.data == "tuple")
    if isinstance(parsed, TupleShape):
        assert len(parsed.elements) == len([c for c in tree.children if hasattr(c, "data")])


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
def test_the_leaf_at_an_index(index: str | None, leaf: str | None) -> None:
    assert subshape_text("(f32[2]{0}, (s8[], pred[3]))", index) == leaf


@pytest.mark.parametrize(
    "text", ["(f32[]", "(f32[]))", "(f32[])(s8[])", "f32[]", "", ")", "(f32[}"]
)
def test_unbalanced_text_is_not_a_tuple(text: str) -> None:
    assert element_texts(text) is None


@pytest.mark.corpus
def test_every_shape_of_the_memory_files_is_parsed(corpus_small: Path) -> None:
    shapes = {
        field.text
        for line in set(lines_of(memory_files(corpus_small)))
        if line.startswith((" value:", "allocation"))
        for rule in ("assigned_value_line", "allocation_line")
        for field in fields_of_line(rule, line)
        if field.role in {"SHAPE", "PARAMETER_SHAPE", "OUTPUT_SHAPE"}
    }
    assert len(shapes) > 1000
    for shape in shapes:
        parse_shape(shape)
