"""Occupancy of an allocation, compared with a computation step by step."""

from hypothesis import given, settings
from hypothesis import strategies as st

from edits import put_back
from hlo_lsp.memory.allocation_occupancy import AllocationOccupancy, allocation_occupancy
from hlo_lsp.memory.space_occupancy import memory_space_occupancies
from hlo_lsp.model.buffer_assignment import blocks_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from jobs import count_checkpoints

Span = tuple[int, int, int, int]  # offset, size, first step, last step
_SPANS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9), st.integers(0, 5)).map(
    lambda span: (span[0], span[1], span[2], span[2] + span[3])
)


def _dump(spans: list[Span], without: int | None = None) -> DumpSet:
    """Values in one allocation, one of them perhaps without a live range."""
    lines = ["BufferAssignment:", "allocation 0: size 99, preallocated-temp:"]
    for number, (offset, size, _, _) in enumerate(spans):
        value = f"<{number} v.{number} @0> (size={size},offset={offset})"
        lines.append(f" value: {value}: u8[{size}]{{0}}")
    lines += ["", "HloLiveRange (max 20):", "  BufferLiveRange:"]
    for number, (_, _, start, end) in enumerate(spans):
        if number != without:
            lines.append(f"    v.{number}{{}}:{start}-{end}")
    return DumpSet([DumpFile.of_text("\n".join(lines) + "\n")])


def _occupancy(dump: DumpSet) -> AllocationOccupancy | None:
    (file,) = dump.files
    (allocation,) = file.memory.allocations.records()
    return allocation_occupancy(dump, LocatedRecord(file, allocation))


def _in_use(spans: list[Span], step: int) -> int:
    live = [(offset, size) for offset, size, start, end in spans if start <= step <= end]
    return len({byte for offset, size in live for byte in range(offset, offset + size)})


@settings(deadline=None)  # the first one makes the grammars
@given(st.lists(_SPANS, max_size=8))
def test_first_of_equal_peaks_is_returned(spans: list[Span]) -> None:
    live = [_in_use(spans, step) for step in range(20)]
    used = {byte for offset, size, _, _ in spans for byte in range(offset, offset + size)}
    assert _occupancy(_dump(spans)) == AllocationOccupancy(
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
    dump = _dump(spans)
    (file,) = dump.files
    _occupancy(dump)
    for number, span in edits:
        spans[number % len(spans)] = span
        fresh = _dump(spans)
        file.changed(put_back(file.document, fresh.files[0].lines))
        file.refresh()
        assert memory_space_occupancies(dump) == memory_space_occupancies(fresh)
        assert _occupancy(dump) == _occupancy(fresh)


def test_idle_bytes_are_unused_at_peak() -> None:
    assert AllocationOccupancy(end=16, used=13, live=6, step=0).idle == 7


def test_missing_live_range_has_no_occupancy() -> None:
    spans = [(0, 8, 0, 1), (8, 4, 2, 3)]
    assert _occupancy(_dump(spans, without=1)) is None
    assert _occupancy(_dump([(0, 8, 0, 1), (0, 0, 0, 1)], without=1)) == AllocationOccupancy(
        end=8, used=8, live=8, step=0
    )


def test_long_work_passes_checkpoints() -> None:
    dump = _dump([(0, 1, 0, 1)] * 5000)
    (file,) = dump.files
    (allocation,) = file.memory.allocations.records()
    blocks_of(file)
    located = LocatedRecord(file, allocation)
    assert count_checkpoints(lambda: allocation_occupancy(dump, located)) >= 5000
