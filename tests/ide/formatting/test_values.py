"""Formatting of attribute values and literals."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.formatting.statement_format import format_attribute_value, format_literal
from ide.formatting.whitespace import vary_whitespace

WORDS = vocabulary()
# As jaxlib 0.10.2 prints them.
LISTS = [
    ("dimensions", "{}"),
    ("dimensions", "{0,-1,2}"),
    ("operand_precision", "{highest,default}"),
    ("control-predecessors", "{%a, %b.1, c}"),
    ("branch_computations", "{%a, %b}"),
]
LITERALS = [
    ("s32[]", "-1"),
    ("f32[]", "nan(0x7f)"),
    ("c64[]", "(1, 2)"),
    ("f32[3]{0:T(128)}", "{-inf, 1.5, -2e+10}"),
    ("c64[2]{0}", "{(1, 2), (3, -4.5)}"),
    ("s32[0]{0}", "{}"),
]
EXAMPLES = [
    (each.name, each.example) for each in (*WORDS.attributes.values(), *WORDS.header.values())
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), LISTS + EXAMPLES)
def test_printed_values_are_unchanged(name: str, value: str) -> None:
    assert format_attribute_value(name, value) == value


@given(st.sampled_from(LISTS), st.randoms())
def test_lists_are_normalized(printed: tuple[str, str], chance: Random) -> None:
    name, value = printed
    assert format_attribute_value(name, vary_whitespace(value, chance, share=0.5)) == value


@given(st.sampled_from(LITERALS), st.randoms())
def test_literals_are_normalized(printed: tuple[str, str], chance: Random) -> None:
    shape, literal = printed
    assert format_literal(vary_whitespace(literal, chance, share=0.5), shape) == literal


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("backend_config", '{ "a" :  1,\n  "b": [1,2] }'),
        ("unknown_attribute", "{ 0, 1 }"),
        ("dimensions", "{0 1}"),
        ("dimensions", "{0,- 1}"),
        ("metadata", '{op_name="a" ,  what}'),
        # A second statement on the line, which XLA reads.
        ("dimensions", "{0, 1} %b = f32[] add( %a,%a)"),
        ("control-predecessors", "{%a,%b} ROOT %b = f32[] add( %a,%a)"),
    ],
)
def test_other_values_are_unchanged(name: str, value: str) -> None:
    assert format_attribute_value(name, value) == value


@pytest.mark.parametrize(
    ("shape", "literal"),
    [
        ("s32[2]{0}", "{1 2}"),
        ("s32[2,2]{1,0}", "{ { 1, 2 },\n  { 3,4 } }"),
        ("(s32[], f32[2]{0})", "(1,{2,3})"),
    ],
)
def test_other_literals_are_unchanged(shape: str, literal: str) -> None:
    assert format_literal(literal, shape) == literal
