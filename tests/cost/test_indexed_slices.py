"""Tests for the bytes that gathers and scatters move on a TPU.

The transfers in the code that libtpu 0.0.51 generates for the large arrays have these sizes.
"""

import pytest

from cost.costs import cost_of_text, module

_TPU = "module_0001.f.cl_1.after_optimizations.txt"
_INDICES = 512  # bytes of s32[32]{0:T(128)}
_ROWS = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, slice_sizes={1,512}"
_ELEMENTS = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, slice_sizes={1}"
_PLANES = "offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, slice_sizes={1,16,128}"
_COLUMNS = "offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, slice_sizes={512,1}"


def _bytes(*lines: str) -> tuple[int, int]:
    """Return the bytes, and those outside of on-chip memory."""
    total = cost_of_text(module(*lines), path=_TPU).total
    return total.cost.bytes_accessed, total.memory_bytes


def _gather(array: str, result: str, attributes: str) -> int:
    return _bytes(
        f"%a = {array} parameter(0)",
        "%i = s32[32]{0:T(128)} parameter(1)",
        f"ROOT %g = {result} gather(%a, %i), index_vector_dim=1, {attributes}",
    )[0]


@pytest.mark.parametrize(
    ("array", "result", "attributes", "read", "written"),
    [
        ("f32[400000,512]{1,0:T(8,128)}", "f32[32,512]{1,0:T(8,128)}", _ROWS, 2048, 65536),
        (
            *("bf16[400000,512]{1,0:T(8,128)(2,1)}", "bf16[32,512]{1,0:T(8,128)(2,1)}"),
            *(_ROWS, 2048, 32768),
        ),
        (
            *("s8[400000,512]{1,0:T(32,128)(4,1)}", "s8[32,512]{1,0:T(32,128)(4,1)}"),
            *(_ROWS, 2048, 16384),
        ),
        ("f32[512,400000]{0,1:T(8,128)}", "f32[512,32]{0,1:T(8,128)}", _COLUMNS, 2048, 65536),
        ("f32[400000]{0:T(1024)}", "f32[32]{0:T(128)}", _ELEMENTS, 4096, 512),
        ("bf16[400000]{0:T(1024)(128)(2,1)}", "bf16[32]{0:T(256)(128)(2,1)}", _ELEMENTS, 2048, 512),
        (
            *("f32[400,16,128]{2,1,0:T(8,128)}", "f32[32,16,128]{2,1,0:T(8,128)}"),
            *(_PLANES, 8192, 32 * 8192),
        ),
    ],
    ids=["row", "row of 16 bits", "row of 8 bits", "column", "element", "16 bits", "whole tiles"],
)
def test_gather_reads_no_less_than_the_layout_allows(
    array: str, result: str, attributes: str, read: int, written: int
) -> None:
    assert _gather(array, result, attributes) == 32 * read + written + _INDICES


def test_gather_without_tiles_reads_its_result() -> None:
    assert _gather("f32[400,512]{1,0}", "f32[32,512]{1,0:T(8,128)}", _ROWS) == 131072 + _INDICES


def test_gather_in_fusion_writes_to_the_space_of_the_fusion() -> None:
    body = (
        "%f {\n  %p = f32[4096,512]{1,0:T(8,128)} parameter(0)\n"
        "  %q = s32[32]{0:T(128)S(1)} parameter(1)\n  ROOT %g = f32[32,512]{1,0:T(8,128)} "
        f"gather(%p, %q), index_vector_dim=1, {_ROWS}\n}}\n\n"
    )
    head, _, entry = module(
        "%a = f32[4096,512]{1,0:T(8,128)} parameter(0)",
        "%i = s32[32]{0:T(128)S(1)} parameter(1)",
        "ROOT %r = f32[32,512]{1,0:T(8,128)S(1)} fusion(%a, %i), kind=kCustom, calls=%f",
    ).partition("\n\n")
    total = cost_of_text(f"{head}\n\n{body}{entry}", path=_TPU).total
    assert total.memory_bytes == 32 * 2048
    assert total.cost.bytes_accessed == 32 * 2048 + 65536 + _INDICES


def _scatter(array: str, update: str, dims: str) -> tuple[int, int]:
    return _bytes(
        f"%a = {array} parameter(0)",
        "%i = s32[32]{0:T(128)S(1)} parameter(1)",
        f"%u = {update} parameter(2)",
        f"ROOT %s = {array} scatter(%a, %i, %u), update_window_dims={{{dims}}},"
        " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    )


@pytest.mark.parametrize(
    ("array", "update", "dims", "moved", "updates"),
    [
        ("f32[400000,512]{1,0:T(8,128)}", "f32[32,512]{1,0:T(8,128)S(1)}", "1", 16384, 65536),
        (
            *("bf16[400000,512]{1,0:T(8,128)(2,1)}", "bf16[32,512]{1,0:T(8,128)(2,1)S(1)}"),
            *("1", 8192, 32768),
        ),
        ("f32[400000]{0:T(1024)}", "f32[32]{0:T(128)S(1)}", "", 4096, 512),
    ],
    ids=["row", "row of 16 bits", "element"],
)
def test_scatter_reads_and_writes_tiles(
    array: str, update: str, dims: str, moved: int, updates: int
) -> None:
    off_chip = 2 * 32 * moved
    assert _scatter(array, update, dims) == (off_chip + updates + _INDICES, off_chip)


def test_scatter_moves_a_small_array_once() -> None:
    found = _scatter("f32[1000]{0:T(1024)}", "f32[32]{0:T(128)S(1)}", "")
    assert found == (2 * 4096 + 512 + _INDICES, 2 * 4096)


def test_scatter_in_on_chip_memory_moves_tiles() -> None:
    found = _scatter("f32[1000]{0:T(1024)S(1)}", "f32[32]{0:T(128)S(1)}", "")
    assert found == (2 * 32 * 4096 + 512 + _INDICES, 0)
