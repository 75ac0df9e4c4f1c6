"""What is inside of computations: ranges of bytes, however many values are in them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.module.buffers_inside import _bytes, all_inside
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.library import Library
from hlo_lsp.text.steps import finish

MODULE = """\
HloModule m, is_scheduled=true

%body (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %a = f32[4] negate(%p)
  %b = f32[4] negate(%a)
  ROOT %c = f32[4] negate(%b)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %loop = f32[4] while(%x), condition=%body, body=%body
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 512, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <1 x @0> (size=512,offset=0): f32[4]{0}
 value: <2 p @0> (size=512,offset=0): f32[4]{0}
 value: <3 b @0> (size=512,offset=0): f32[4]{0}
allocation 1: size 1024, preallocated-temp:
 value: <4 a @0> (size=512,offset=0): f32[4]{0}
 value: <5 c @0> (size=768,offset=256): f32[6]{0}
"""


def test_ranges_count_once_and_their_bytes_too() -> None:
    files = [DumpFile.of_text(MODULE, "m.txt"), DumpFile.of_text(ASSIGNMENT, "m-b.txt")]
    inside = {home.name: found for home, found in finish(all_inside(DumpSet(files))).items()}
    assert set(inside) == {"body", "main"}
    assert (inside["body"].buffers, inside["body"].bytes) == (3, 512 + 1024)
    assert (inside["main"].buffers, inside["main"].bytes) == (1, 512)


_ENDS = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda ends: (min(ends), max(ends)))


@given(st.lists(_ENDS))
def test_bytes_are_those_in_any_range(ranges: list[tuple[int, int]]) -> None:
    assert _bytes(ranges) == len({byte for first, end in ranges for byte in range(first, end)})


@pytest.mark.corpus
def test_nothing_holds_more_than_the_program_takes(corpus_small: Path) -> None:
    """By the total that XLA printed, which counts thread-local memory, too."""
    compared = 0
    for path in sorted(corpus_small.glob("*/*after_optimizations-buffer-assignment.txt")):
        library = Library()
        dump = finish(library.set_of(library.file(path)))
        total = sum(each.record.size for each in dump.allocations() if not each.record.thread_local)
        for found in finish(all_inside(dump)).values():
            assert 0 <= found.bytes <= total, path
            compared += 1
    assert compared > 500
