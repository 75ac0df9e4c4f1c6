"""Formatting of literals."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.ide.formatting.statement_format import format_literal
from ide.formatting.whitespace import vary_whitespace

# As jaxlib 0.10.2 prints them.
PRINTED = [
    ("s32[]", "-1"),
    ("f32[]", "nan(0x7f)"),
    ("c64[]", "(1, 2)"),
    ("s32[2]{0}", "{1, 2}"),
    ("f32[3]{0:T(128)}", "{-inf, 1.5, -2e+10}"),
    ("c64[2]{0}", "{(1, 2), (3, -4.5)}"),
    ("s32[2,2]{1,0}", "{ { 1, 2 }, { 3, 4 } }"),
    ("bf16[2,1]{1,0}", "{ {1.5}, {-2e+10} }"),
    ("c64[2,1]{1,0}", "{ {(1, 2)}, {(3, 4)} }"),
    ("c64[1,2]{1,0}", "{ { (1, 2), (3, 4) } }"),
    ("s32[1,1,2]{2,1,0}", "{ { { 1, 2 } } }"),
    ("s32[0]{0}", "{}"),
    ("s32[0,2]{1,0}", "{  }"),
    ("s32[2,0]{1,0}", "{ {}, {} }"),
    ("s32[2,0,3]{2,1,0}", "{ {  }, {  } }"),
    ("s32[2,2,0]{2,1,0}", "{ { {}, {} }, { {}, {} } }"),
    ("s32[2,20]{1,0}", "{...}"),
    ("(s32[], f32[2]{0})", "{...}"),
]


@pytest.mark.parametrize(("shape", "literal"), PRINTED)
def test_printed_literals_are_unchanged(shape: str, literal: str) -> None:
    assert format_literal(literal, shape) == literal
    assert format_literal(f" {literal}\n ", shape) == literal


@given(st.sampled_from([each for each in PRINTED if "..." not in each[1]]), st.randoms())
def test_blanks_are_normalized(printed: tuple[str, str], chance: Random) -> None:
    shape, literal = printed
    assert format_literal(vary_whitespace(literal, chance, share=0.5), shape) == literal


@pytest.mark.parametrize(
    ("shape", "literal"),
    [
        ("s32[2]{0}", "{1 2}"),
        ("s32[2,2]{1,0}", "{1,  2}"),
        ("s32[1,1,1,2]{3,2,1,0}", "{{{{1,2}}}}"),
        ("(s32[], f32[2]{0})", "(1,{2,3})"),
        ("", "{1,2}"),
    ],
)
def test_unknown_literals_are_unchanged(shape: str, literal: str) -> None:
    assert format_literal(literal, shape) == literal
