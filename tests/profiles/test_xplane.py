"""Tests for hlo_lsp.profiles.xplane: the planes of each backend, and damages."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from hlo_lsp.profiles.events import InstructionEvent, Profile, Program
from hlo_lsp.profiles.files import profile_run, read_profile
from hlo_lsp.profiles.xplane import note_damage, read_planes
from hlo_lsp.protos.profile_modules import CLASSES, planes_of
from hlo_lsp.text.disk import UnreadableError
from profiles.written import Event, Stats, profile

_GPU: Stats = {"hlo_op": "fusion.1", "hlo_module": "&jit_f", "program_id": 7}


def read(data: bytes) -> Profile:
    found = Profile()
    planes, damage = planes_of(data)
    note_damage(found, damage, "p.xplane.pb")
    read_planes(planes, found, "p.xplane.pb")
    return found


def events(found: Profile, program: Program, device: str) -> list[InstructionEvent]:
    return found.programs[program][device].events


def test_cpu_thunks_have_runs_and_devices() -> None:
    stats: Stats = {**_GPU, "run_id": -5, "device_ordinal": 3}
    data = profile(
        {
            "/host:CPU": {
                "tf_XLAExecute/1": [
                    Event("fusion.1", 100, 20, stats),
                    Event("end: fusion.1", 120, 1, {"_c": 9}),
                    Event("Rendezvous", 100, 10),
                ]
            }
        }
    )
    found = events(read(data), Program("jit_f", 7), "CPU 3")
    assert found == [InstructionEvent("fusion.1", 0, 1100, 20, -5, "fusion.1")]


def test_gpu_launches_on_the_host_are_not_counted() -> None:
    data = profile(
        {
            "/device:GPU:1": {
                "Stream #2(Kernel)": [
                    Event("fusion_1", 100, 20, {**_GPU, "correlation_id": 4}),
                    Event("Memset", 200, 5, {"correlation_id": 5}),
                ],
                "XLA Ops": [Event("fusion.1", 100, 20, _GPU)],
            },
            "/host:CPU": {
                "Host Threads/1": [Event("cuLaunchKernel", 90, 5, {**_GPU, "correlation_id": 4})]
            },
        }
    )
    found = read(data)
    assert list(found.programs) == [Program("jit_f", 7)]
    assert [one.kernel for one in events(found, Program("jit_f", 7), "GPU 1")] == ["fusion_1"]
    assert {name: one.total_ps for name, one in found.unnamed.items()} == {"Memset": 5}


def test_gpu_name_of_nested_instructions_is_the_innermost() -> None:
    stats: Stats = {**_GPU, "hlo_op": "while.1::body.2::fusion.9"}
    data = profile({"/device:GPU:0": {"Stream #1": [Event("k", 0, 5, stats)]}})
    assert events(read(data), Program("jit_f", 7), "GPU 0")[0].instruction == "fusion.9"


def test_tpu_uses_descriptions_and_device_times() -> None:
    shared: Stats = {"program_id": 12345678901234567}
    text = "%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)"
    own_clock: Stats = {"device_offset_ps": 300, "device_duration_ps": 40, "run_id": 2}
    data = profile(
        {
            "/device:TPU:0": {
                "XLA Modules": [Event("jit_g(12345678901234567)", 100, 900, {"run_id": 2})],
                "XLA Ops": [Event(text, 290, 55, own_clock, shared, 2)],
                "Async XLA Ops": [Event("%copy-start.1 = (s32[]) copy-start()", 5, 7, {}, shared)],
                "Steps": [Event("1", 0, 1000)],
            }
        }
    )
    found = read(data).programs[Program("jit_g", 12345678901234567)]["TPU 0"]
    assert [(one.run_id, one.start_ps, one.duration_ps) for one in found.spans] == [(2, 1100, 900)]
    assert found.events == [
        InstructionEvent("fusion.3", 1, 1300, 40, 2, "fusion.3", 2),
        InstructionEvent("copy-start.1", 2, 1005, 7, None, "copy-start.1", 1, True),
    ]


def test_program_ids_have_no_sign() -> None:
    stats: Stats = {**_GPU, "program_id": -1}
    data = profile({"/device:GPU:0": {"Stream #1": [Event("k", 0, 5, stats)]}})
    assert list(read(data).programs) == [Program("jit_f", (1 << 64) - 1)]


def test_truncated_file_keeps_what_precedes() -> None:
    kernels = [Event("k", 10 * number, 5, _GPU) for number in range(50)]
    data = profile({"/device:GPU:0": {"Stream #1": kernels}, "/host:CPU": {}})
    whole = events(read(data), Program("jit_f", 7), "GPU 0")
    # The descriptions follow the lines, and are lost with the end of the plane.
    plane_names = profile({"/device:GPU:1": {"Stream #1": kernels}})
    found = read(plane_names + data[: len(data) // 2])
    assert len(events(found, Program("jit_f", 7), "GPU 1")) == len(whole) == 50
    assert len(found.damages) == 1
    assert found.damages[0].startswith("p.xplane.pb: damaged: byte ")


def test_any_bytes_are_read_without_an_exception() -> None:
    data = profile({"/device:GPU:0": {"Stream #1": [Event("k", 0, 5, _GPU)]}})
    for place in range(len(data)):
        for byte in (0, 0x7F, 0xFF):
            read(data[:place] + bytes([byte]) + data[place + 1 :])


def peak_bytes_of(data: bytes) -> int:
    """Return the most memory that reading a profile needs."""
    tracemalloc.start()
    try:
        read(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_compressed_texts_share_a_limit() -> None:
    plane = CLASSES["XPlane"](name="/device:TPU:0", lines=[b""])
    text = gzip.compress(bytes(32 << 20))
    for number in range(8):
        entry = plane.event_metadata.add(key=number)
        entry.value.stats.add(metadata_id=1, compressed_str_value=text)
    data = CLASSES["XSpace"](planes=[plane.SerializeToString()]).SerializeToString()
    assert peak_bytes_of(data) < 140 << 20


@pytest.mark.parametrize("name", ["p.xplane.pb.gz", "p.trace.json.gz"])
def test_profile_that_expands_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b'{"traceEvents":[' + b" " * (36 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableError) as error:
            read_profile(profile_run(path))
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    reason = "the content is more than 200 times larger than the compressed data"
    assert str(error.value) == f"{path}: {reason}"
