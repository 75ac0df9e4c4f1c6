"""Tests for traces with numbers that do not fit."""

import pytest

from hlo_lsp.reports.trace_writer import TraceWriter


@pytest.mark.parametrize("number", [-1, 0, 2**64, -(2**70), 2**70])
def test_trace_of_any_numbers_is_written(number: int) -> None:
    trace = TraceWriter()
    track = trace.add_track("t", trace.add_process("p"))
    trace.begin_slice(number, track, "s", (("bytes", number),))
    trace.end_slice(number, track)
    trace.add_count(number, trace.add_byte_counter("c", track, rank=0), number)
    assert trace.serialized()
