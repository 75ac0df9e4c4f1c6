"""The cost and the measured time of instructions for profilers."""

from typing import Any

from hlo_lsp.cost.chips import chips
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.profiles.events import InstructionEvent, Profile, Program
from hlo_lsp.protos.messages import message_class
from hlo_lsp.reports.instruction_samples import (
    FLOPS,
    LEAST_TIME,
    MEMORY_BYTES,
    TIME,
    cost_samples,
    cost_trace,
    time_samples,
    time_trace,
)
from hlo_lsp.reports.trace_writer import PERFETTO
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.stats.measured_programs import join
from reports.example import example

_BEGIN = 1
_Slice = tuple[int, str, int, int]  # the track, the name, the beginning, and the end


def _slices(data: bytes) -> list[_Slice]:
    trace: Any = message_class(PERFETTO, "Trace").FromString(data)
    open_slices: dict[int, list[tuple[str, int]]] = {}
    found = []
    for packet in trace.packet:
        event = packet.track_event
        if event.type == _BEGIN:
            open_slices.setdefault(event.track_uuid, []).append((event.name, packet.timestamp))
        elif event.type:
            name, begin = open_slices[event.track_uuid].pop()
            found.append((event.track_uuid, name, begin, packet.timestamp))
    return found


def test_samples_of_cost_add_up_to_the_total() -> None:
    table = cost_table(example(), chips()["v5e"])
    assert table is not None
    samples = list(cost_samples(table))
    total = table.cost.total
    assert sum(one.values[FLOPS] for one in samples) == total.cost.flops
    assert sum(one.values[MEMORY_BYTES] for one in samples) == total.memory_bytes
    assert [str(frame) for frame in samples[0].frames] == [
        "main (model.py:7)",
        "layer (model.py:3)",
    ]
    assert samples[0].labels["instruction"] == "a"


def test_cost_has_times_only_on_a_chip() -> None:
    table = cost_table(example(), None)
    assert table is not None
    assert all(LEAST_TIME not in one.values for one in cost_samples(table))
    assert _slices(cost_trace([table])) == []


def test_trace_of_cost_has_the_least_time() -> None:
    table = cost_table(example(), chips()["v5e"])
    assert table is not None
    assert table.cost.total.least_ps is not None
    slices = _slices(cost_trace([table]))
    assert slices[0][1:3] == ("a", 0)
    assert slices[-1][3] == round(table.cost.total.least_ps / 1000)


def _profile(*events: tuple[str, int, int]) -> Profile:
    profile = Profile()
    found = profile.of(Program("jit_f", 1), "GPU 0")
    for name, start, end in events:
        nanoseconds = start * 1000, (end - start) * 1000
        found.events.append(InstructionEvent(name, 3, *nanoseconds, 1, name))
    return profile


def test_measured_slices_nest_or_are_on_other_tracks() -> None:
    events = (("while", 0, 10), ("a", 0, 4), ("b", 4, 10), ("c", 8, 12), ("d", 12, 12))
    profile = _profile(*events)
    slices = _slices(time_trace(profile, join(profile, {})))
    assert sorted(one[1:] for one in slices) == sorted(events)
    tracks = {name: track for track, name, _, _ in slices}
    assert tracks["while"] == tracks["a"] == tracks["b"] != tracks["c"]


def test_samples_of_time_have_own_time() -> None:
    samples = time_samples(join(_profile(("while", 0, 10), ("a", 0, 4)), {1: example()}))
    assert {one.labels["instruction"]: one.values[TIME] for one in samples} == {"while": 6, "a": 4}


def test_samples_of_a_fusion_have_the_stacks_of_its_instructions() -> None:
    metadata = 'metadata={op_name="op" source_file="/f.py" source_line='
    text = f"""\
HloModule m, is_scheduled=true

%fused {{
  %p = f32[8] parameter(0)
  %a = f32[8] multiply(%p, %p), {metadata}1}}
  %b = f32[8] multiply(%a, %p), {metadata}1}}
  ROOT %r = f32[8] add(%a, %b), {metadata}2}}
}}

ENTRY %e {{
  %p = f32[8] parameter(0)
  ROOT %f = f32[8] fusion(%p), kind=kLoop, calls=%fused, {metadata}2}}
}}
"""
    table = cost_table(Compile([DumpFile.of_text(text, "cpu_after_optimizations.txt")]), None)
    assert table is not None
    found = [
        (str(one.frames[-1]), one.values[FLOPS], one.values[MEMORY_BYTES], one.labels)
        for one in cost_samples(table)
    ]
    labels = {"module": "m", "instruction": "f", "opcode": "fusion", "phase": "other"}
    labels["op_name"] = "op"
    assert found == [("f.py (f.py:2)", 8, 64, labels), ("f.py (f.py:1)", 16, 0, labels)]
