"""Reading of ``*.trace.json.gz`` files, which hold the events of a profile for trace viewers.

They lack the ids of programs, the asynchronous transfers of TPUs, and, in large profiles, events.
"""

import gzip
import json
import re
import zlib
from typing import Any, NamedTuple

from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Profile, Program
from hlo_lsp.protos.profile_modules import program_of

NOTE = (
    "a trace.json file lacks asynchronous transfers, ids of programs, and some events of large"
    " profiles; the xplane.pb file beside it has them"
)
_DEVICE = re.compile(r"/device:(TPU|GPU):(\d+)(.*)", re.DOTALL)
_PS_PER_US = 1_000_000


class NotATraceError(Exception):
    """A file that is not a trace; the message is the reason."""


def read_trace(data: bytes, profile: Profile, label: str, host: str = "") -> None:
    """Add the events of a file to a profile.

    Args:
        data: The content of the file, compressed or not.
        profile: The profile.
        label: The name of the file in messages about damages.
        host: What precedes the names of devices.

    Raises:
        NotATraceError: The file is not a trace.
    """
    events = _trace_events(data)
    profile.notes.append(f"{label}: {NOTE}")
    processes: dict[Any, str] = {}
    names: dict[tuple[Any, Any], str] = {}
    for event in events:
        if isinstance(event, dict) and event.get("ph") == "M":
            name = str(_arguments(event).get("name", ""))
            if event.get("name") == "process_name":
                processes[event.get("pid")] = name
            elif event.get("name") == "thread_name":
                names[event.get("pid"), event.get("tid")] = name
    threads: dict[tuple[Any, Any], _Thread] = {}
    for event in events:
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        key = event.get("pid"), event.get("tid")
        if key not in threads:
            process = processes.get(key[0], "")
            threads[key] = _Thread(process, names.get(key, ""), len(threads), host)
        try:
            start, duration = _picoseconds(event.get("ts", 0)), _picoseconds(event.get("dur", 0))
        except (TypeError, ValueError, OverflowError):
            continue
        _add(event, profile, threads[key], start, duration)


class _Thread(NamedTuple):
    """A thread of a process of the trace: a line of a plane of the profile."""

    process: str
    name: str
    number: int
    host: str


def _add(
    event: dict[str, Any], profile: Profile, thread: _Thread, start: int, duration: int
) -> None:
    arguments, title = _arguments(event), str(event.get("name", ""))
    run = str(arguments.get("run_id", ""))
    run_id = int(run) if run.removeprefix("-").isdecimal() else None
    found = _DEVICE.fullmatch(thread.process)
    name = str(arguments.get("hlo_op", "")).rpartition("::")[2]
    module = str(arguments.get("hlo_module", ""))
    device = f"{thread.host}CPU {arguments.get('device_ordinal', 0)}"
    if found is not None:
        device = f"{thread.host}{found[1]} {found[2]}{found[3]}"
        if thread.name == "XLA Modules":
            program = program_of(title)
            if program is not None and found[1] == "TPU":
                events = profile.of(Program(program[0], None), device)
                events.spans.append(ModuleSpan(run_id, start, duration))
            return
        if found[1] == "TPU":
            if thread.name != "XLA Ops":
                return
            name = name or title
        elif not thread.name.startswith("Stream"):
            return
        elif not name:
            profile.add_unnamed(title, duration)
    elif "correlation_id" in arguments:
        return
    if name:
        profile.of(Program(module, None), device).events.append(
            InstructionEvent(name, thread.number, start, duration, run_id, title)
        )


def _trace_events(data: bytes) -> list[Any]:
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise NotATraceError(f"the compressed data is damaged ({error})") from None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotATraceError(f"not JSON ({error})") from None
    events = content.get("traceEvents") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise NotATraceError("no list traceEvents")
    return events


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    found = event.get("args")
    return found if isinstance(found, dict) else {}


def _picoseconds(microseconds: Any) -> int:
    return round(float(microseconds) * _PS_PER_US)
