"""The padded arrays at a peak, and the changes of their shapes that save most."""

from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.memory.padded_arrays import PaddedShape, padded_shapes
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_STEM = "module_0001.jit_f.cl_1.after_optimizations"


def _shapes(*values: tuple[str, int]) -> list[PaddedShape]:
    """Return the padded shapes of a compile with values of these shapes and sizes."""
    lines, ranges, total = "", "", 0
    for number, (shape, size) in enumerate(values):
        lines += f" value: <{number} a.{number} @0> (size={size},offset={total}): {shape}\n"
        ranges += f"    a.{number}{{}}:0-9\n"
        total += size
    texts = {
        "-buffer-assignment": "BufferAssignment:\n"
        f"allocation 0: size {total}, preallocated-temp:\n{lines}",
        "-live-range": "HloLiveRange (max 9):\n  InstructionSequence:\n    0:a.0\n  "
        f"BufferLiveRange:\n{ranges}",
    }
    dump = Compile([DumpFile.of_text(text, f"{_STEM}{name}.txt") for name, text in texts.items()])
    (occupancy,) = memory_space_occupancies(dump)
    return padded_shapes(dump, occupancy)


def test_shape_with_most_padding_comes_first() -> None:
    small = ("f32[64,64]{1,0:T(8,128)}", 32768)
    large = ("f32[8192,1]{1,0:T(8,128)}", 4194304)
    first, second = _shapes(small, small, large)
    assert (first.shape, first.wasted) == (large[0], 4194304 - 32768)
    assert (second.count, second.wasted, second.bytes) == (2, 32768, 65536)


def test_order_of_dimensions_that_saves_most_is_named() -> None:
    (one,) = _shapes(("f32[1000,64]{1,0:T(8,128)}", 512000))
    assert one.padded is not None
    assert [str(cause) for cause in one.padded.padding] == ["dim 1: 64 -> 128 by T(8,128)"]
    assert one.change is not None
    assert one.change.text == "make dimension 0 (1,000) the most minor one, then dimension 1"
    assert one.change.saves_bytes == 512000 - 64 * 1024 * 4


def test_merged_dimensions_that_save_most_are_named() -> None:
    (one,) = _shapes(("f32[8,32,32,16]{2,3,1,0:T(8,128)}", 2097152))
    assert one.change is not None
    assert one.change.text == "merge dimensions 2 and 3 (32 x 16)"
    assert one.change.saves_bytes == 2097152 - 524288


def test_padding_that_no_order_avoids_has_no_change() -> None:
    (one,) = _shapes(("f32[37]{0:T(128)}", 512))
    assert one.change is None
