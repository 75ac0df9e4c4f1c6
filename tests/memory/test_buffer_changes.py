"""Which buffers of two compiles correspond."""

from hlo_lsp.memory.buffer_changes import BufferMatching
from reports.example import ASSIGNMENT, RANGES, example


def test_numbers_after_underscores_distinguish_buffers_without_module_text() -> None:
    allocation = "allocation N: size 64, output shape is |f32[16]|, maybe-live-out:\n"
    value = " value: <N w_N @0> (size=64,offset=0): f32[16]{0}\n"
    first, second = ((allocation + value).replace("N", number) for number in "78")
    sides = (ASSIGNMENT + first + second, ASSIGNMENT + second)
    matching = BufferMatching(*(example(side, RANGES) for side in sides))
    pairs = [(one.name, other.name) for one, other in matching.pairs()]
    assert ("w_8", "w_8") in pairs
