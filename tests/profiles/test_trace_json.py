"""Tests for hlo_lsp.profiles.trace_json."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Profile, Program
from hlo_lsp.profiles.files import profile_run, read_profile
from hlo_lsp.profiles.trace_json import NotATraceError, read_trace

_NAMES = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:TPU:0"}},
    {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "XLA Modules"}},
    {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "XLA Ops"}},
    {"ph": "M", "pid": 1, "tid": 3, "name": "thread_name", "args": {"name": "Steps"}},
]


def read(events: list[Any]) -> Profile:
    found = Profile()
    read_trace([json.dumps({"traceEvents": events}).encode()], found, "t.trace.json")
    return found


def event(thread: int, name: str, start: float, **arguments: str) -> dict[str, Any]:
    return {
        "ph": "X", "pid": 1, "tid": thread, "ts": start, "dur": 0.5, "name": name,
        "args": arguments,
    }  # fmt: skip


def test_equals_the_xplane_file(corpus_profiles: Path) -> None:
    folder = corpus_profiles / "jax_0_12" / "train"
    trace = read_profile(profile_run(folder / "profile.trace.json.gz"))
    xplane = read_profile(profile_run(folder / "profile.xplane.pb"))
    parts = []
    for found in (trace, xplane):
        ((program, devices),) = found.programs.items()
        (events,) = devices.values()
        key = (program.name, list(devices))
        parts.append((key, sorted(one._replace(line=0) for one in events.events)))
    assert parts[0] == parts[1]
    assert trace.notes


def test_tpu_threads() -> None:
    found = read(
        [
            *_NAMES,
            event(1, "jit_f(7)", 1, run_id="3"),
            event(2, "fusion.1", 1.25, hlo_module="jit_f"),
            event(3, "0", 1),
            {"ph": "X", "pid": 1, "tid": 2, "ts": "?", "dur": None, "name": "damaged"},
            "damaged",
        ]
    )
    events = found.programs[Program("jit_f", None)]["TPU 0"]
    assert events.spans == [ModuleSpan(3, 1_000_000, 500_000)]
    assert events.events == [InstructionEvent("fusion.1", 1, 1_250_000, 500_000, None, "fusion.1")]


@pytest.mark.parametrize(
    "data",
    [b"", b"[1]", b'{"traceEvents": 3}', b"[" * 100_000, gzip.compress(b"{}" * 99)[:20]],
    ids=["empty", "list", "number", "deep", "truncated"],  # gzip stores the time
)
def test_other_content_is_refused(data: bytes) -> None:
    with pytest.raises(NotATraceError):
        read_trace([data], Profile(), "t.trace.json")
