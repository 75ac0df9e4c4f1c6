"""Profiles and traces of buffers, read with the messages that their projects publish."""

import gzip
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.protos.messages import message_class
from hlo_lsp.reports.perfetto import perfetto_trace
from hlo_lsp.reports.pprof import PPROF, pprof_profile
from hlo_lsp.reports.profiles import buffer_samples, folded_stacks
from reports.example import ASSIGNMENT, BYTES, FIXED_BYTES, PEAK_STEP, example

_STEP_NANOSECONDS = 1000
_SLICE_BEGIN, _SLICE_END, _COUNTER = 1, 2, 4
# The package `perfetto` downloads this program when it is used, so that it is not in the package.
_TRACE_PROCESSOR = shutil.which("trace_processor_shell")


def _profile(data: bytes) -> Any:
    return message_class(PPROF, "Profile").FromString(gzip.decompress(data))


def _trace(dump: Compile) -> Any:
    messages = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    return messages.Trace.FromString(perfetto_trace([dump]))


def _tracks(trace: Any) -> dict[int, Any]:
    packets = (packet for packet in trace.packet if packet.HasField("track_descriptor"))
    return {packet.track_descriptor.uuid: packet.track_descriptor for packet in packets}


def _events(trace: Any) -> list[Any]:
    return [packet for packet in trace.packet if packet.HasField("track_event")]


def test_folded_stacks_have_the_innermost_frame_last() -> None:
    lines = list(folded_stacks(buffer_samples(example())))
    prefix = "jit_f;memory space 0;"
    assert lines == [
        f"{prefix}arguments;p['w'] 1024",
        f"{prefix}main (model.py:7) 2048",
        f"{prefix}main (model.py:7);layer (model.py:3) 2048",
    ]


def test_folded_stacks_sum_to_the_step() -> None:
    for step, expected in enumerate(BYTES):
        lines = folded_stacks(buffer_samples(example(), step=step))
        assert sum(int(line.rpartition(" ")[2]) for line in lines) == expected


def test_profile_sums_to_the_peak() -> None:
    profile = _profile(pprof_profile(list(buffer_samples(example()))))
    (kind,) = profile.sample_type
    strings = profile.string_table
    assert (strings[kind.type], strings[kind.unit]) == ("memory_space_0", "bytes")
    assert strings[profile.default_sample_type] == "memory_space_0"
    assert sum(sample.value[0] for sample in profile.sample) == max(BYTES)


def test_profile_has_the_innermost_frame_first() -> None:
    profile = _profile(pprof_profile(list(buffer_samples(example()))))
    strings = profile.string_table
    functions = {one.id: one for one in profile.function}
    frames = {
        one.id: (strings[functions[line.function_id].name], line.line)
        for one in profile.location
        for line in one.line
    }
    stacks = {tuple(frames[one] for one in sample.location_id) for sample in profile.sample}
    assert (("layer", 3), ("main", 7)) in stacks
    assert (("p['w']", 0), ("arguments", 0)) in stacks


def test_profile_labels_name_the_value() -> None:
    profile = _profile(pprof_profile(list(buffer_samples(example()))))
    strings = profile.string_table
    labels = [
        {strings[label.key]: strings[label.str] for label in sample.label}
        for sample in profile.sample
    ]
    assert {
        "module": "jit_f",
        "role": "activation",
        "value": "a{}",
        "shape": "f32[512]{0}",
        "op_name": "jit(f)/jvp()/sin",
    } in labels


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_pprof_reads_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile.pb.gz"
    path.write_bytes(pprof_profile(list(buffer_samples(example()))))
    found = subprocess.run(
        ["go", "tool", "pprof", "-top", "-unit=B", str(path)],
        capture_output=True, encoding="utf-8", check=True, timeout=300,
    )  # fmt: skip
    assert f"of {max(BYTES)}B total" in found.stdout


def test_counter_has_the_occupied_bytes_of_each_step() -> None:
    trace = _trace(example())
    (counter,) = (uuid for uuid, track in _tracks(trace).items() if track.HasField("counter"))
    changes = {
        packet.timestamp // _STEP_NANOSECONDS: packet.track_event.counter_value
        for packet in _events(trace)
        if packet.track_event.track_uuid == counter
    }
    current = 0
    for step, expected in enumerate(BYTES):
        current = changes.get(step, current)
        assert current == expected


def test_slices_do_not_overlap_on_a_track() -> None:
    depth: Counter[int] = Counter()
    for packet in _events(_trace(example())):
        event = packet.track_event
        depth[event.track_uuid] += {_SLICE_BEGIN: 1, _SLICE_END: -1, _COUNTER: 0}[event.type]
        assert depth[event.track_uuid] in {0, 1}
    assert not +depth


def test_slices_begin_and_end_with_live_ranges() -> None:
    trace = _trace(example())
    begins: dict[int, tuple[str, int]] = {}
    found = {}
    for packet in _events(trace):
        event, step = packet.track_event, packet.timestamp // _STEP_NANOSECONDS
        if event.type == _SLICE_BEGIN:
            begins[event.track_uuid] = event.name, step
        elif event.type == _SLICE_END:
            name, start = begins.pop(event.track_uuid)
            found[name] = start, step - 1
    assert found["a{} 2.0 KiB"] == (1, 2)
    assert found["c{} 2.0 KiB"] == (3, 4)
    assert found["parameters 1.0 KiB"] == (0, 5)


def test_tracks_are_named_after_python_lines() -> None:
    names = {track.name for track in _tracks(_trace(example())).values()}
    assert names >= {"jit_f", "memory space 0 occupied", "model.py:3", "model.py:7", "parameters"}


def test_trace_keeps_the_rules_of_trace_processor() -> None:
    """Check what the comments of Perfetto's protos require for an event to be imported."""
    trace = _trace(example())
    tracks = _tracks(trace)
    assert 0 not in tracks  # the default track
    for track in tracks.values():
        assert not track.HasField("parent_uuid") or track.parent_uuid in tracks
    seen: set[int] = set()
    times = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id  # track events without a sequence are dropped
        if packet.HasField("track_descriptor"):
            seen.add(packet.track_descriptor.uuid)
            continue
        event = packet.track_event
        assert event.track_uuid in seen  # descriptors precede events
        assert tracks[event.track_uuid].HasField("counter") == (event.type == _COUNTER)
        times.append(packet.timestamp)
    assert times == sorted(times)


@pytest.mark.skipif(_TRACE_PROCESSOR is None, reason="trace_processor_shell is not installed")
def test_trace_processor_reads_all_buffers(tmp_path: Path) -> None:
    perfetto = pytest.importorskip("perfetto.trace_processor")
    path = tmp_path / "buffers.pftrace"
    path.write_bytes(perfetto_trace([example()]))
    config = perfetto.TraceProcessorConfig(bin_path=_TRACE_PROCESSOR)
    with perfetto.TraceProcessor(trace=str(path), config=config) as processor:
        slices = {row.name: row.dur for row in processor.query("select name, dur from slice")}
        counter = processor.query("select max(value) as bytes from counter")
        assert next(iter(counter)).bytes == max(BYTES)
    assert slices["a{} 2.0 KiB"] == 2 * _STEP_NANOSECONDS
    assert slices["parameters 1.0 KiB"] == 6 * _STEP_NANOSECONDS


def test_dump_without_live_ranges_is_an_empty_trace() -> None:
    assert perfetto_trace([example(ASSIGNMENT)]) == b""
    assert list(buffer_samples(example(ASSIGNMENT))) == []


def test_space_without_temp_allocations_is_exported() -> None:
    dump = example(ASSIGNMENT.partition("allocation 2")[0], "HloLiveRange (max 5):\n"
                   "  BufferLiveRange:\n    x{}:0-5\n")  # fmt: skip
    assert sum(sum(sample.values.values()) for sample in buffer_samples(dump)) == FIXED_BYTES
    (space,) = memory_space_occupancies(dump)
    assert space.peak_step == 0 != PEAK_STEP
