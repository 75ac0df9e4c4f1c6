"""Occupied bytes of memory spaces, and the peak of each."""

import pytest

from hlo_lsp.memory.space_occupancy import (
    SpaceOccupancy,
    largest_off_chip_space,
    memory_space_occupancies,
)
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
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


def _dump(*texts: str) -> DumpSet:
    return DumpSet([DumpFile.of_text(text) for text in texts])


def _find(dump: DumpSet) -> tuple[SpaceOccupancy, ...]:
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


def test_long_work_passes_checkpoints() -> None:
    values = [f" value: <{n} v.{n} @0> (size=8,offset={8 * n}): u8[8]{{0}}" for n in range(3000)]
    head = "BufferAssignment:\nallocation 0: size 24000, preallocated-temp:\n"
    ranges = "".join(f"    v.{n}{{}}:{n}-{n}\n" for n in range(3000))
    dump = _dump(
        head + "\n".join(values) + "\n", f"HloLiveRange (max 3000):\n  BufferLiveRange:\n{ranges}"
    )
    assert count_checkpoints(lambda: memory_space_occupancies(dump)) > 10
