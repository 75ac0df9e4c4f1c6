"""Tests for matrix products and the FLOPs that a matrix unit wastes on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost.costs import cost_of_text, module
from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.matrix_products import MatrixProduct

_SIZES = st.integers(1, 700)


def _products(a: str, b: str, result: str, operation: str) -> tuple[MatrixProduct, ...]:
    text = module(
        f"%a = f32[{a}] parameter(0)",
        f"%b = f32[{b}] parameter(1)",
        f"%r = f32[{result}] {operation}",
    )
    return cost_of_text(text).executed.instructions[-1].products


@pytest.mark.parametrize(
    ("a", "b", "result", "operation", "expected"),
    [
        (
            *("3,20,30", "3,30,40", "3,20,40"),
            "dot(%a, %b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},"
            " rhs_contracting_dims={1}",
            (3, 20, 40, 30),
        ),
        # The forms in which XLA writes a dot for a TPU.
        (
            *("4,8,16", "1,16,32", "4,8,32"),
            "convolution(%a, %b), window={size=1}, dim_labels=0bf_0io->0bf",
            (1, 32, 32, 16),
        ),
        (
            *("4,16,8", "4,16,32", "8,32,1"),
            "convolution(%a, %b), window={size=4}, dim_labels=0fb_0io->bf0",
            (1, 8, 32, 64),
        ),
        (
            *("4,8,16,2", "4,8,2,32", "4,8,16,32"),
            "convolution(%a, %b), window={size=4x8 stride=3x7 lhs_dilate=4x8},"
            " dim_labels=01bf_01io->01bf",
            (32, 16, 32, 2),
        ),
        (
            *("4,8,16,2", "4,8,2,32", "4,8,16,32"),
            "convolution(%a, %b), window={size=4x8 stride=4x8 pad=3_3x7_7 lhs_dilate=3x7"
            " rhs_reversal=1x1}, dim_labels=01bf_01io->01bf",
            (32, 16, 32, 2),
        ),
    ],
)
def test_dots_and_their_convolutions_are_products(
    a: str, b: str, result: str, operation: str, expected: tuple[int, int, int, int]
) -> None:
    assert _products(a, b, result, operation) == (MatrixProduct(*expected),)


def test_sliding_window_is_no_product() -> None:
    convolution = "convolution(%a, %b), window={size=3x3}, dim_labels=b01f_01io->b01f"
    assert _products("2,6,6,4", "3,3,4,5", "2,4,4,5", convolution) == ()


@pytest.mark.parametrize(
    ("product", "unit", "wasted", "dimensions"),
    [
        (MatrixProduct(1, 512, 256, 128), 128, 0, []),
        (MatrixProduct(1, 512, 10, 128), 128, 0, []),  # the unit can hold the first matrix
        (MatrixProduct(1, 500, 10, 128), 128, 2 * 12 * 10 * 128, ["rows 500 of 512"]),
        (MatrixProduct(2, 10, 500, 128), 128, 4 * 12 * 10 * 128, ["columns 500 of 512"]),
        (MatrixProduct(1, 512, 256, 64), 128, 2 * 512 * 256 * 64, ["depth 64 of 128"]),
        (MatrixProduct(1, 512, 256, 64), 256, 2 * 512 * 256 * 192, ["depth 64 of 256"]),
        # Two copies of the second matrix, or the first matrix, fill half of the unit.
        (MatrixProduct(1, 512, 64, 64), 128, 2 * 512 * 64 * 64, ["depth 64 of 128"]),
    ],
)
def test_partial_dimensions_waste_flops(
    product: MatrixProduct, unit: int, wasted: int, dimensions: list[str]
) -> None:
    assert product.padding_flops(unit) == wasted
    assert product.padded_dimensions(unit) == dimensions


@given(st.builds(MatrixProduct, st.integers(1, 4), _SIZES, _SIZES, _SIZES))
def test_only_partial_dimensions_waste_flops(product: MatrixProduct) -> None:
    wasted = product.padding_flops(128)
    assert wasted >= 0
    assert (wasted == 0) == (not product.padded_dimensions(128))


def test_waste_of_a_fusion_counts_each_execution() -> None:
    dot = (
        "HloModule m, is_scheduled=true\n\n"
        "%f {\n  %p = f32[256,64] parameter(0)\n  %q = f32[64,256] parameter(1)\n"
        "  ROOT %d = f32[256,256] dot(%p, %q), lhs_contracting_dims={1},"
        " rhs_contracting_dims={0}\n}\n\n"
        + module(
            "%a = f32[256,64] parameter(0)",
            "%b = f32[64,256] parameter(1)",
            "ROOT %r = f32[256,256] fusion(%a, %b), kind=kOutput, calls=%f, backend_config="
            '{"window_config":{"estimated_cycles":"1234"}}',
        ).partition("\n\n")[2]
    )
    flops = 2 * 256 * 256 * 64
    total = cost_of_text(dot, chips()["v5e"]).total
    assert (total.padding_flops, total.estimated_cycles) == (flops, 1234)
    assert cost_of_text(dot, chips()["v6e"]).total.padding_flops == 3 * flops
    assert cost_of_text(dot, chips()["h100"]).total.padding_flops is None
    assert cost_of_text(dot).total.padding_flops is None


def test_largest_number_is_no_estimate_of_cycles() -> None:
    config = 'backend_config={"window_config":{"estimated_cycles":"9223372036854775807"}}'
    text = module("%p = f32[8] parameter(0)", f"ROOT %n = f32[8] negate(%p), {config}")
    assert cost_of_text(text).total.estimated_cycles is None
