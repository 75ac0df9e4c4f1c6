"""Tests for windows and their valid positions."""

import itertools

import pytest

from hlo_lsp.cost.formulas import (
    WindowDimension,
    parse_labels,
    parse_window,
    valid_positions,
)


def test_window_without_fields_uses_defaults() -> None:
    assert parse_window("{size=3x1 stride=2x1 pad=1_-1x0_0}") == (
        WindowDimension(3, 2, 1, -1),
        WindowDimension(1),
    )
    assert parse_window("") == ()
    assert parse_window("{size=3x1 stride=2}") == ()


def test_long_window_without_fields_is_read_once() -> None:
    assert parse_window(f"{{{'0' * 1_000_000}}}") == ()


def test_labels_name_the_dimensions_of_each_array() -> None:
    labels = parse_labels("b01f_01io->b01f")
    assert labels is not None
    assert (labels.lhs, labels.rhs, labels.result) == ("b01f", "01io", "b01f")
    assert labels.spatial == ["0", "1"]
    assert parse_labels("") is None


@pytest.mark.parametrize("base", [1, 2, 3])
def test_valid_positions_match_a_walk_over_all_pairs(base: int) -> None:
    for inputs, kernels, outputs, stride, padding, dilation in itertools.product(
        (1, 4), (1, 3), (1, 5), (1, 2), (-1, 0, 2), (1, 2)
    ):
        window = WindowDimension(kernels, stride, padding, 0, base, dilation)
        positions = (
            output * stride + kernel * dilation - padding
            for output in range(outputs)
            for kernel in range(kernels)
        )
        expected = sum(
            position % base == 0 and 0 <= position // base < inputs for position in positions
        )
        assert valid_positions(window, inputs, kernels, outputs) == expected


def test_huge_dimensions_are_not_walked() -> None:
    size = 1 << 40
    assert valid_positions(WindowDimension(size), size, size, size) == size * size
