"""Tests for sums and peaks, compared with those of XLA."""

from itertools import accumulate
from pathlib import Path

import pytest

from hlo_lsp.memory.logical_sizes import logical_peak_of
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from oracles.compiles import CorpusCompile, compiles_of
from oracles.peak_lists import bytes_of, recomputed_peak_list

pytestmark = pytest.mark.corpus
_MAX_STEPS = 100


def test_allocation_sizes_sum_to_total(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        dump = compile_.dump
        total = sum(allocation.record.size for allocation in dump.allocations())
        assert total == sum(size for size, _ in compile_.printed.allocations.values())
        assert total == dump.total_bytes or dump.total_bytes is None
        assert dump.total_bytes == compile_.printed.total


def test_printed_peak_list_is_recomputed(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = [
            (row.name + row.index, row.bytes, row.cumulative)
            for row in compile_.printed.peak
            if row.index is not None
        ]
        if printed and printed[0][2] is None:  # jax 0.6.0: in the order of the live ranges
            unsummed = {(key, size, None) for key, size, _ in recomputed_peak_list(compile_)}
            ranges = list(compile_.printed.ranges)
            assert printed == sorted(unsummed, key=lambda row: ranges.index(row[0]))
        elif printed:
            assert recomputed_peak_list(compile_) == printed


def test_printed_peak_is_last_cumulative_sum(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        peaks = logical_peak_of(compile_.dump)
        assert (peaks is None) == (not compile_.printed.ranges)
        if peaks is not None and compile_.printed.peak:
            assert peaks.declared_step == compile_.printed.peak_step
            assert peaks.declared_bytes == _at(compile_, compile_.printed.peak_step or 0)
            last = compile_.printed.peak[-1].cumulative
            assert last in {peaks.declared_bytes, None}  # None: the form of jax 0.4


def test_logical_peak_is_maximum_over_steps(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        peaks = logical_peak_of(compile_.dump)
        if peaks is not None:
            sums = _sums(compile_)
            assert peaks.bytes == max(sums)
            assert peaks.step == sums.index(max(sums))
            assert peaks.bytes >= peaks.declared_bytes


def test_occupied_bytes_are_union_of_ranges(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        spaces = memory_space_occupancies(compile_.dump)
        assert bool(spaces) == bool(compile_.printed.ranges and compile_.printed.allocations)
        for space in spaces:
            assert space.fixed_bytes <= space.peak_bytes <= space.allocated_bytes
            assert space.peak_bytes == space.bytes_at(space.peak_step)
            every = 1 + len(space.change_steps) // _MAX_STEPS
            for step in {space.peak_step, *space.change_steps[::every]}:
                assert space.bytes_at(step) == _occupied(compile_, space.space, step)
                assert space.bytes_at(step) <= space.peak_bytes


def _at(compile_: CorpusCompile, step: int) -> int:
    return sum(
        bytes_of(compile_.dump, key)
        for key, (start, end, _) in compile_.printed.ranges.items()
        if start <= step <= end
    )


def _sums(compile_: CorpusCompile) -> list[int]:
    """Return the live bytes at each step, including the last one."""
    changes = [0] * ((compile_.printed.last_step or 0) + 2)
    for key, (start, end, _) in compile_.printed.ranges.items():
        size = bytes_of(compile_.dump, key)
        changes[start] += size
        changes[end + 1] -= size
    return list(accumulate(changes))[:-1]


def _occupied(compile_: CorpusCompile, space: int, step: int) -> int:
    """Return the fixed allocations of a memory space, and the temp bytes live at a step."""
    temps = {}
    occupied = 0
    for allocation in compile_.dump.allocations():
        record = allocation.record
        if record.color != space or record.thread_local:
            continue
        if record.preallocated_temp:
            temps[record.number] = 0  # the end of the counted bytes
        else:
            occupied += record.size
    for value in sorted(compile_.printed.assigned.values(), key=lambda value: value.offset):
        if value.allocation in temps and value.size:
            start, end, _ = compile_.printed.ranges[value.key]
            if start <= step <= end:
                counted, last = temps[value.allocation], value.offset + value.size
                occupied += max(0, last - max(counted, value.offset))
                temps[value.allocation] = max(counted, last)
    return occupied
