"""Shapes, layouts, windows, and escaped text are printed as XLA prints them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.protos.shapes import (
    ShapeTexts,
    annotated,
    dimension_labels,
    escaped,
    metadata_text,
    padding_text,
    quoted_unless_json,
    window_text,
)
from protos.messages import message

_UNBOUNDED = -(1 << 63)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("element_type: 11 layout {}", "f32[]"),
        ("element_type: 11 dimensions: [2, 3]", "f32[2,3]"),
        ("element_type: 1 dimensions: 8 layout { minor_to_major: 0 }", "pred[8]{0}"),
        ("element_type: 17", "token[]"),
        ("element_type: 13", "()"),
        (
            "element_type: 13 tuple_shapes { element_type: 4 } tuple_shapes { element_type: 14 }",
            "(s32[], opaque[])",
        ),
        (
            "element_type: 16 dimensions: [8, 128] layout { minor_to_major: [1, 0] memory_space: 1"
            " tiles { dimensions: [8, 128] } tiles { dimensions: [2, 1] } }",
            "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}",
        ),
        (
            "element_type: 21 dimensions: 8 layout { minor_to_major: 0 element_size_in_bits: 4"
            " tail_padding_alignment_in_elements: 128 }",
            "s4[8]{0:L(128)E(4)}",
        ),
        (
            "element_type: 4 layout { tiles { dimensions: 128 } }",
            "s32[]{:T(128)}",
        ),
        (
            "element_type: 11 dimensions: [5, 6] is_dynamic_dimension: [true, false]",
            "f32[<=5,6]",
        ),
        (f"element_type: 11 dimensions: {_UNBOUNDED} is_dynamic_dimension: true", "f32[?]"),
        ("element_type: 99 dimensions: 2", "type99[2]"),
    ],
)
def test_shapes(text: str, expected: str) -> None:
    assert ShapeTexts().text(message("ShapeProto", text)) == expected


def test_shapes_without_layouts() -> None:
    text = "element_type: 11 dimensions: 8 layout { minor_to_major: 0 }"
    assert ShapeTexts().text(message("ShapeProto", text), layout=False) == "f32[8]"


def test_every_fifth_element_is_numbered() -> None:
    assert annotated(list("abcdefg")) == "a, b, c, d, e, /*index=5*/f, g"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ('it\'s "x"\\\n\t\r', r"it\'s \"x\"\\\n\t\r"),
        ("\x01\x7f", r"\001\177"),
        ("é", r"\303\251"),
        (b"\xff", r"\377"),
    ],
)
def test_escapes(text: str | bytes, expected: str) -> None:
    assert escaped(text) == expected


@given(st.binary())
def test_escaped_text_is_printable(data: bytes) -> None:
    assert escaped(data).isascii()
    assert escaped(data).isprintable()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":{"b":"}"}}', '{"a":{"b":"}"}}'),
        ("{empty_mesh = <[]>}", "{empty_mesh = <[]>}"),
        ("{", r'"{"'),
        ("{}x", r'"{}x"'),
        ('{"}', r'"{\"}"'),
        ("text", '"text"'),
    ],
)
def test_dictionaries_are_not_quoted(text: str, expected: str) -> None:
    assert quoted_unless_json(text) == expected


def test_windows_omit_usual_fields() -> None:
    plain = "dimensions { size: 3 stride: 1 base_dilation: 1 window_dilation: 1 }"
    assert window_text(message("Window", plain * 2)) == "window={size=3x3}"
    full = (
        "dimensions { size: 3 stride: 2 padding_low: 1 padding_high: -1 base_dilation: 2"
        " window_dilation: 3 window_reversal: true }"
    )
    expected = "window={size=3 stride=2 pad=1_-1 lhs_dilate=2 rhs_dilate=3 rhs_reversal=1}"
    assert window_text(message("Window", full)) == expected


def test_padding_shows_interior_if_any() -> None:
    edge = "dimensions { edge_padding_low: 1 } dimensions { edge_padding_high: -2 }"
    assert padding_text(message("PaddingConfig", edge)) == "padding=1_0x0_-2"
    inner = edge + "dimensions { interior_padding: 3 }"
    assert padding_text(message("PaddingConfig", inner)) == "padding=1_0_0x0_-2_0x0_0_3"


def test_dimension_labels() -> None:
    numbers = message(
        "ConvolutionDimensionNumbers",
        "input_feature_dimension: 3 input_spatial_dimensions: [1, 2]"
        " kernel_input_feature_dimension: 2 kernel_output_feature_dimension: 3"
        " kernel_spatial_dimensions: [0, 1]"
        " output_feature_dimension: 3 output_spatial_dimensions: [1, 2]",
    )
    assert dimension_labels(numbers) == "dim_labels=b01f_01io->b01f"


def test_metadata_in_the_order_of_xla() -> None:
    metadata = message(
        "OpMetadata",
        'op_name: "a" op_type: "t" source_file: "f.py" source_line: 1 source_end_line: 2'
        ' source_column: 3 source_end_column: 4 deduplicated_name: "d" scheduling_name: "s"'
        " stack_frame_id: 5",
    )
    assert metadata_text(metadata) == (
        'op_type="t" op_name="a" source_file="f.py" source_line=1 source_end_line=2'
        ' source_column=3 source_end_column=4 deduplicated_name="d" scheduling_name="s"'
        " stack_frame_id=5"
    )
