"""Occupied bytes of memory spaces and allocations, compared with a computation step by step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits import put_back
from hlo_lsp.memory.occupancy_and_peaks import (
    AllocationOccupancy,
    SpaceOccupancy,
    allocation_occupancy,
    largest_off_chip_space,
    memory_space_occupancies,
)
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.buffer_assignment import blocks_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord
from jobs import count_checkpoints

# The loop passes 64 bytes on from `init` to `arg` to `next` to `while`; `copy` has its own.
LOOP = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |u8[32]| at ShapeIndex {}:
 value: <0 x @0> (size=32,offset=0): u8[32]{0}
allocation 1: size 8, thread-local:
 value: <1 add @0> (size=8,offset=0): u8[8]{0}
allocation 2: size 16, constant:
 value: <2 constant @0> (size=16,offset=0): u8[16]{0}
allocation 3: size 128, preallocated-temp:
 value: <3 init @0> (size=64,offset=0): u8[64]{0}
 value: <4 arg (phi) @0> (size=64,offset=0): u8[64]{0}
 value: <5 next @0> (size=64,offset=0): u8[64]{0}
 value: <6 while (phi) @0> (size=64,offset=0): u8[64]{0}
 value: <7 copy @0> (size=64,offset=64): u8[64]{0}
 value: <8 none @0> (size=0,offset=0): u8[0]{0}
allocation 4: size 64, preallocated-temp:
 value: <9 sum @0> (size=40,offset=0): u8[40]{0}
allocation 5: size 24, color 1, preallocated-temp:
 value: <10 far @1> (size=24,offset=0): u8[24]{0}
"""
RANGES = """\
HloLiveRange (max 9):
  BufferLiveRange:
    x{}:0-9
    constant{}:0-9
    init{}:1-2
    arg{}:2-4
    next{}:4-4
    while{}:4-9
    copy{}:3-3
    sum{}:5-8
    far{}:6-7
"""


def _spaces(assignment: str = LOOP, ranges: str = RANGES) -> dict[int, SpaceOccupancy]:
    return {found.space: found for found in _find(_dump(assignment, ranges))}


def _dump(*texts: str) -> Compile:
    return Compile([DumpFile.of_text(text) for text in texts])


def _find(dump: Compile) -> tuple[SpaceOccupancy, ...]:
    return memory_space_occupancies(dump)


def test_values_that_share_a_buffer_count_once() -> None:
    space = _spaces()[0]
    fixed = 32 + 16
    assert (space.fixed_bytes, space.allocated_bytes) == (fixed, fixed + 128 + 64)
    temp = [0, 64, 64, 128, 64, 104, 104, 104, 104, 64, 0]
    assert [space.bytes_at(step) for step in range(11)] == [fixed + size for size in temp]
    assert (space.peak_step, space.peak_bytes) == (3, fixed + 128)


def test_each_memory_space_has_its_peak() -> None:
    space = _spaces()[1]
    assert (space.allocated_bytes, space.fixed_bytes) == (24, 0)
    assert (space.peak_step, space.peak_bytes) == (6, 24)


def test_first_of_equal_steps_is_the_peak() -> None:
    space = _spaces(ranges=RANGES.replace("sum{}:5-8", "sum{}:1-8").replace("3-3", "7-7"))[0]
    assert (space.peak_step, space.peak_bytes) == (7, 48 + 168)
    space = _spaces(ranges=RANGES.replace("copy{}:3-3", "copy{}:0-0"))[0]
    assert (space.peak_step, space.peak_bytes) == (5, 48 + 104)


def test_fixed_allocations_peak_at_the_start() -> None:
    head, _, _ = LOOP.partition("allocation 3:")
    ranges, _, _ = RANGES.partition("    init{}")
    space = _spaces(head, ranges)[0]
    assert (space.peak_step, space.peak_bytes, space.bytes_at(7)) == (0, 48, 48)


@pytest.mark.parametrize("damaged", ["", "    sum{}:8-5\n"])
def test_unknown_live_range_leaves_the_space_out(damaged: str) -> None:
    ranges = RANGES.replace("    sum{}:5-8\n", damaged)
    assert list(_spaces(ranges=ranges)) == [1]


def test_live_range_of_unassigned_value_leaves_peaks_unknown() -> None:
    cut, _, _ = LOOP.partition("allocation 5:")
    assert _spaces(cut) == {}


def test_fixed_allocation_needs_no_live_range() -> None:
    assert _spaces(ranges=RANGES.replace("    constant{}:0-9\n", "")) == _spaces()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" value: <9 sum @0>", " value <9 sum @0>"),  # a line that cannot be read
        ("allocation 2: size 16, constant:\n", ""),
    ],
)
def test_incomplete_buffer_assignment_has_no_occupancy(old: str, new: str) -> None:
    assert old in LOOP
    assert _spaces(LOOP.replace(old, new)) == {}


def test_missing_files_have_no_occupancy() -> None:
    assert _find(_dump(LOOP)) == ()
    assert _find(_dump(RANGES)) == ()


def test_largest_off_chip_space_has_the_largest_peak() -> None:
    spaces = [SpaceOccupancy(number, 9, 9, (), (), 0, 9 - number % 2) for number in (1, 2, 5)]
    assert largest_off_chip_space(spaces, Backend.GPU) == spaces[1]
    assert largest_off_chip_space(spaces, Backend.TPU) == spaces[2]
    assert largest_off_chip_space(spaces[:2], Backend.TPU) is None


def test_host_memory_is_the_largest_space_only_if_alone() -> None:
    device, host = (SpaceOccupancy(number, 9, 9, (), (), 0, 9 + number) for number in (0, 5))
    assert largest_off_chip_space([device, host], Backend.TPU) == device
    assert largest_off_chip_space([host], Backend.TPU) == host


def test_long_work_passes_checkpoints() -> None:
    values = [f" value: <{n} v.{n} @0> (size=8,offset={8 * n}): u8[8]{{0}}" for n in range(3000)]
    head = "BufferAssignment:\nallocation 0: size 24000, preallocated-temp:\n"
    ranges = "".join(f"    v.{n}{{}}:{n}-{n}\n" for n in range(3000))
    dump = _dump(
        head + "\n".join(values) + "\n", f"HloLiveRange (max 3000):\n  BufferLiveRange:\n{ranges}"
    )
    assert count_checkpoints(lambda: memory_space_occupancies(dump)) > 10


Span = tuple[int, int, int, int]  # offset, size, first step, last step
_SPANS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9), st.integers(0, 5)).map(
    lambda span: (span[0], span[1], span[2], span[2] + span[3])
)


def _dump_of_spans(spans: list[Span], without: int | None = None) -> Compile:
    """Return a dump of values in one allocation, ``without`` the live range of one of them."""
    lines = ["BufferAssignment:", "allocation 0: size 99, preallocated-temp:"]
    for number, (offset, size, _, _) in enumerate(spans):
        value = f"<{number} v.{number} @0> (size={size},offset={offset})"
        lines.append(f" value: {value}: u8[{size}]{{0}}")
    lines += ["", "HloLiveRange (max 20):", "  BufferLiveRange:"]
    for number, (_, _, start, end) in enumerate(spans):
        if number != without:
            lines.append(f"    v.{number}{{}}:{start}-{end}")
    return Compile([DumpFile.of_text("\n".join(lines) + "\n")])


def _occupancy(dump: Compile) -> AllocationOccupancy | None:
    (file,) = dump.files
    (allocation,) = file.memory.allocations.records()
    return allocation_occupancy(dump, LocatedRecord(file, allocation))


def _in_use(spans: list[Span], step: int) -> int:
    live = [(offset, size) for offset, size, start, end in spans if start <= step <= end]
    return len({byte for offset, size in live for byte in range(offset, offset + size)})


@settings(deadline=None)  # the first example loads the grammars
@given(st.lists(_SPANS, max_size=8))
def test_first_of_equal_peaks_is_returned(spans: list[Span]) -> None:
    live = [_in_use(spans, step) for step in range(20)]
    used = {byte for offset, size, _, _ in spans for byte in range(offset, offset + size)}
    assert _occupancy(_dump_of_spans(spans)) == AllocationOccupancy(
        end=max(used, default=-1) + 1,
        used=len(used),
        live=max(live),
        step=live.index(max(live)),
    )


@settings(deadline=None)
@given(
    st.lists(_SPANS, min_size=2, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), _SPANS), min_size=1, max_size=6),
)
def test_occupancy_after_edits_equals_fresh_one(
    spans: list[Span], edits: list[tuple[int, Span]]
) -> None:
    dump = _dump_of_spans(spans)
    (file,) = dump.files
    _occupancy(dump)
    for number, span in edits:
        spans[number % len(spans)] = span
        fresh = _dump_of_spans(spans)
        file.changed(put_back(file.document, fresh.files[0].lines))
        file.refresh()
        assert memory_space_occupancies(dump) == memory_space_occupancies(fresh)
        assert _occupancy(dump) == _occupancy(fresh)


def test_idle_bytes_are_unused_at_peak() -> None:
    assert AllocationOccupancy(end=16, used=13, live=6, step=0).idle == 7


def test_allocation_without_live_range_has_no_occupancy() -> None:
    spans = [(0, 8, 0, 1), (8, 4, 2, 3)]
    assert _occupancy(_dump_of_spans(spans, without=1)) is None
    assert _occupancy(
        _dump_of_spans([(0, 8, 0, 1), (0, 0, 0, 1)], without=1)
    ) == AllocationOccupancy(end=8, used=8, live=8, step=0)


def test_long_work_on_allocations_passes_checkpoints() -> None:
    dump = _dump_of_spans([(0, 1, 0, 1)] * 5000)
    (file,) = dump.files
    (allocation,) = file.memory.allocations.records()
    blocks_of(file)
    located = LocatedRecord(file, allocation)
    assert count_checkpoints(lambda: allocation_occupancy(dump, located)) >= 5000
