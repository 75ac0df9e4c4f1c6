"""Constants are printed as XLA prints them."""

import struct

import pytest

from hlo_lsp.protos.literals import literal_text
from hlo_lsp.protos.shapes import ShapeTexts
from protos.messages import message


def _text(kind: str, dimensions: list[int], values: str) -> str:
    order = list(reversed(range(len(dimensions))))
    shape = (
        f"shape {{ element_type: {kind} dimensions: {dimensions}"
        f" layout {{ minor_to_major: {order} }} }}"
    )
    return literal_text(message("LiteralProto", shape + values), ShapeTexts())


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("4", "s32s: -3", "-3"),
        ("1", "preds: true", "true"),
        ("11", "f32s: 0.1", "0.1"),
        ("11", "f32s: 0.33333334", "0.333333343"),
        ("11", "f32s: inf", "inf"),
        ("11", "f32s: nan", "nan"),
        ("11", "f32s: 1e10", "1e+10"),
        ("12", "f64s: 0.1", "0.1"),
        ("15", "c64s: [1, -2]", "(1, -2)"),
        ("2", r'u8s: "" s8s: "\377"', "-1"),
        ("10", r'f16s: "\000\074"', "1"),
        ("16", r'bf16s: "\200\077"', "1"),
        ("16", r'bf16s: "\200\177"', "inf"),
        ("20", r'f8e4m3fns: "\070"', "1"),
        ("19", r'f8e5m2s: "\174"', "inf"),
        ("33", r'f8e8m0fnus: "\177"', "1"),
    ],
)
def test_scalars(kind: str, values: str, expected: str) -> None:
    assert _text(kind, [], values) == expected


def test_nan_with_payload() -> None:
    bits = struct.unpack("<f", struct.pack("<I", 0x7FC00001))[0]
    literal = message("LiteralProto", "shape { element_type: 11 layout {} }")
    literal.f32s.append(bits)
    assert literal_text(literal, ShapeTexts()) == "nan(0x400001)"


def test_predicates_of_arrays_are_digits() -> None:
    assert _text("1", [2], "preds: [true, false]") == "{1, 0}"


def test_matrices() -> None:
    assert _text("4", [2, 2], "s32s: [1, 2, 3, 4]") == "{ { 1, 2 }, { 3, 4 } }"


def test_values_are_in_the_order_of_the_layout() -> None:
    literal = message(
        "LiteralProto",
        "shape { element_type: 4 dimensions: [2, 2] layout { minor_to_major: [0, 1] } }"
        " s32s: [1, 2, 3, 4]",
    )
    assert literal_text(literal, ShapeTexts()) == "{ { 1, 3 }, { 2, 4 } }"


def test_inner_arrays_of_four_dimensions_are_numbered() -> None:
    text = _text("4", [1, 1, 1, 2], "s32s: [1, 2]")
    assert text == "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 } } } }"


def test_large_arrays_are_left_out() -> None:
    assert _text("4", [11], f"s32s: {list(range(11))}") == "{...}"


@pytest.mark.parametrize("values", ["s32s: [1]", "f32s: [1, 2]", ""])
def test_wrong_number_of_values_is_left_out(values: str) -> None:
    assert _text("4", [2], values) == "{...}"


def test_unknown_element_type_is_left_out() -> None:
    assert _text("99", [2], "") == "{...}"


def test_huge_arrays_without_elements_are_not_printed() -> None:
    assert _text("4", [1 << 40, 0], "") == "{...}"
    assert _text("4", [1] * 2_000, "s32s: 1") == "{...}"


def test_sizes_beyond_the_array_are_not_used() -> None:
    shape = "element_type: 4 dimensions: 2 is_dynamic_dimension: true"
    shape += " layout { minor_to_major: 0 }"
    text = f"shape {{ {shape} }} s32s: [1, 2] dynamic_sizes: 2000000000"
    assert literal_text(message("LiteralProto", text), ShapeTexts()) == "{1, 2}"
