"""Shapes, sizes, and memory spaces as text."""

import pytest

from hlo_lsp.ide.hover.hover import space_card
from hlo_lsp.ide.hover.shapes import describe_shape, shape_card
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.padded_sizes import Target
from hlo_lsp.model.shape import parse_shape
from ide.hover.facts import card_at, facts


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("pred[]", "boolean, scalar"),
        ("f32[7]{0}", "f32 (float), 7 elements"),
        ("bf16[2,3]{1,0}", "bf16 (bfloat), 2 x 3 (6 elements), row-major (dim 1 fastest)"),
        ("s8[2,3]{0,1}", "s8 (signed integer), 2 x 3 (6 elements), column-major (dim 0 fastest)"),
        (
            "u4[2,3,4]{1,2,0:T(8,128)(4,1)E(4)}",
            "u4 (unsigned integer), 2 x 3 x 4 (24 elements), dims from minor to major 1, 2, 0, "
            "tiles (8,128)(4,1), 4 bits per element in memory",
        ),
        ("c64[]{:T(128)}", "c64 (complex), scalar, tiles (128)"),
        (
            "f8e4m3fn[<=37,130]{1,0:T(8,128)M(1024)}",
            "f8e4m3fn (float), at most 37 x 130 (4,810 elements), row-major (dim 1 fastest), "
            "tiles (8,128), 1024 B of dynamic sizes before the elements",
        ),
        ("f32[?]", "f32 (float), unbounded"),
        (
            "s32[128]{0:T(1)L(128)S(4)}",
            "s32 (signed integer), 128 elements, tiles (1), padded at the end to 128 elements",
        ),
        (
            "f32[8,9]{1,0:T(8,128)SC(0:4)}",
            "f32 (float), 8 x 9 (72 elements), row-major (dim 1 fastest), tiles (8,128), "
            "split over cores at 4 of physical dim 0",
        ),
        ("token[]", "token, no elements"),
        ("()", "tuple of 0 (stored as a table of pointers to its elements)"),
        ("(f32[2], (s8[], s8[]))", "tuple of 2 (stored as a table of pointers to its elements)"),
        ("b(s8[4]{0})", "reference to a buffer of s8 (signed integer), 4 elements"),
    ],
)
def test_shape_as_text(shape: str, words: str) -> None:
    assert describe_shape(parse_shape(shape)) == words


def test_shape_card_shows_sizes() -> None:
    card = shape_card("f32[16,64]{1,0:T(8,128)S(1)}", Target(Backend.TPU))
    assert card.title == "`f32[16,64]{1,0:T(8,128)S(1)}`"
    assert facts(card) == {
        "shape": "f32 (float), 16 x 64 (1,024 elements), row-major (dim 1 fastest), tiles (8,128)",
        "logical size": "4,096 B (4.0 KiB)",
        "padded size": "8,192 B (8.0 KiB): padded to T(8,128)",
        "padding": "4,096 B (4.0 KiB), 50.0%: dim 1: 64 -> 128 by T(8,128)",
        "memory space": "1, VMEM on TPU",
    }


def test_shape_that_fills_tiles_has_no_padding() -> None:
    shown = facts(shape_card("f32[8,128]{1,0:T(8,128)}", Target(Backend.TPU)))
    assert not shown.keys() & {"padding", "logical size"}
    assert shown["padded size"] == "4,096 B (4.0 KiB): fits T(8,128)"


def test_shape_without_layout_shows_no_padding() -> None:
    line = "allocation 1: size 8192, parameter 0, shape |f32[16,64]| at ShapeIndex {}:"
    shown = facts(card_at(line, 0, line.index("f32")))
    assert shown == {
        "shape": "f32 (float), 16 x 64 (1,024 elements)",
        "logical size": "4,096 B (4.0 KiB)",
    }


def test_invalid_shape_is_reported() -> None:
    card = shape_card("f32[", Target(Backend.TPU))
    assert card.facts == ()
    assert card.text == "Not a valid shape."


def test_long_shape_is_truncated_in_title() -> None:
    card = shape_card(f"({', '.join(['f32[]'] * 500)})", Target(Backend.CPU))
    assert len(card.title) < 210
    assert facts(card)["padded size"].startswith("4,000 B (3.9 KiB)")


@pytest.mark.parametrize(
    ("number", "backend", "words"),
    [
        (0, Backend.TPU, "0, HBM on TPU (`default` in XLA's reports)"),
        (1, Backend.TPU, "1, VMEM on TPU"),
        (2, Backend.TPU, "2, semaphores on TPU (`smem` in XLA's reports)"),
        (3, Backend.TPU, "3, CMEM on TPU (`hbm` in XLA's reports)"),
        (4, Backend.TPU, "4, SMEM on TPU (`host` in XLA's reports)"),
        (5, Backend.TPU, "5, host memory on TPU (`cmem` in XLA's reports)"),
        (6, Backend.TPU, "6, scalar memory on TPU (`color_6` in XLA's reports)"),
        (11, Backend.TPU, "11 (`color_11` in XLA's reports)"),
        (0, Backend.GPU, "0, device memory on GPU (`default` in XLA's reports)"),
        (1, Backend.GPU, "1, collective memory on GPU (`vmem` in XLA's reports)"),
        (2, Backend.GPU, "2, separate temp buffer on GPU (`smem` in XLA's reports)"),
        (5, Backend.GPU, "5, pinned host memory on GPU (`cmem` in XLA's reports)"),
        (0, Backend.CPU, "0, main memory on CPU (`default` in XLA's reports)"),
        (5, Backend.CPU, "5, host memory on CPU (`cmem` in XLA's reports)"),
        (1, Backend.UNKNOWN, "1 (`vmem` in XLA's reports)"),
    ],
)
def test_memory_space_as_text(number: int, backend: Backend, words: str) -> None:
    card = space_card(number, backend)
    assert facts(card) == {"memory space": words}
    assert card.title.startswith(f"memory space {number}")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("module_0000.f.cl_7.after_optimizations-buffer-assignment.txt", "VMEM on TPU"),
        ("module_0000.f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt", "on GPU"),
        ("module_0000.f.gfx942_gpu_after_optimizations-buffer-assignment.txt", "on GPU"),
        ("renamed.txt", "1 (`vmem` in XLA's reports"),
    ],
)
def test_file_name_determines_backend(path: str, words: str) -> None:
    line = "allocation 1: size 512, color 1, preallocated-temp:"
    assert words in facts(card_at(line, 0, line.index("1,"), path))["memory space"]


def test_tile_identifies_renamed_tpu_dump() -> None:
    text = (
        "allocation 1: size 512, color 1:\n value: <1 a @1> (size=512,offset=0): f32[1]{0:T(128)}"
    )
    assert "VMEM on TPU" in facts(card_at(text, 0, 31))["memory space"]
