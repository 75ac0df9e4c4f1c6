"""Reading of ``*.xplane.pb`` files.

Each backend has planes of its own:

- CPU: the threads of ``/host:CPU``. The event of a thunk has the stats ``hlo_op``,
  ``hlo_module``, ``program_id``, ``run_id``, and ``device_ordinal``.
- GPU: a plane for each device, with a line for each stream. The event of a kernel has ``hlo_op``,
  ``hlo_module``, and ``program_id``; launches on the host have them as well.
- TPU: a plane for each core, with the lines ``XLA Modules``, ``XLA Ops``, and ``Async XLA Ops``.
  The stats are those of the description of an event, and its name is the text of the instruction.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Profile, Program
from hlo_lsp.profiles.planes import (
    Description,
    Event,
    EventKey,
    PlaneReader,
    StatNames,
    Stats,
    note_damage,
    number_stat,
)
from hlo_lsp.protos.profile_modules import decoded_part, program_of
from hlo_lsp.protos.shapes import decoded

_DEVICE_PLANE = re.compile(r"/device:(TPU|GPU):(\d+)(.*)", re.DOTALL)
_HOST_PLANE = "/host:CPU"
_MODULES_PLANE = "/host:metadata"
_MODULES_LINE, _OPS_LINES, _ASYNC_LINES = "XLA Modules", ("XLA Ops",), ("Async XLA Ops",)
_STREAM_LINE = "Stream"
_INSTRUCTION_TEXT = re.compile(r"%?([^\s=]+) = ")

_CPU_STATS = StatNames(
    frozenset({"hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal"})
)
_GPU_STATS = StatNames(frozenset({"hlo_op", "hlo_module", "program_id", "run_id"}))
_TPU_STATS = StatNames(
    frozenset({"hlo_module", "program_id", "run_id"}),
    frozenset({"device_offset_ps", "device_duration_ps"}),
)


def read_planes(planes: list[bytes], profile: Profile, label: str, host: str = "") -> None:
    """Add the events in the planes of a file to a profile.

    Args:
        planes: The undecoded planes; they are removed from the list, to free their memory.
        profile: The profile.
        label: The name of the file in messages about damages.
        host: What precedes the names of devices, to distinguish the files of several hosts.
    """
    numbers = count()
    planes.reverse()
    while planes:
        checkpoint()
        encoded = planes.pop()
        plane, damage = decoded_part(encoded, "XPlane")
        note_damage(profile, damage, label)
        if plane.name == _MODULES_PLANE:
            profile.planes.append(encoded)
        read = _reader_of(plane, host)
        del encoded
        if read is not None:
            reader = PlaneReader(plane, read.stats, profile, label)
            del plane
            for line in reader.lines():
                read.line(reader, line, next(numbers), read.device)


class _LineReader(NamedTuple):
    """A function that reads a line with a number; ``device`` precedes its name on the host."""

    line: Callable[[PlaneReader, Any, int, str], None]
    stats: StatNames
    device: str


def _reader_of(plane: Any, host: str) -> _LineReader | None:
    """Return what reads the lines of a plane, None for planes without instructions."""
    name = decoded(plane.name)
    if name == _HOST_PLANE:
        return _LineReader(_read_cpu, _CPU_STATS, host)
    device = _DEVICE_PLANE.fullmatch(name)
    if device is None:
        return None
    title = f"{host}{device[1]} {device[2]}{device[3]}"
    if device[1] == "GPU":
        return _LineReader(_read_gpu, _GPU_STATS, title)
    return _LineReader(_read_tpu, _TPU_STATS, title)


def _read_cpu(reader: PlaneReader, line: Any, number: int, host: str) -> None:
    targets: dict[EventKey, _Target | None] = {}
    for key, _, start, duration, occurrences in reader.events(line):
        target = targets.get(key, _UNKNOWN)
        if target is _UNKNOWN:
            description, stats = reader.described(key)
            device = f"{host}CPU {number_stat(stats, 'device_ordinal') or 0}"
            # The launch of a kernel has the stats of its instruction, and the name of a function.
            is_thunk = description.name == stats.get("hlo_op")
            target = _target(reader, stats, device, description.name) if is_thunk else None
            targets[key] = target
        if target is not None:
            events, name, run_id, kernel = target
            events.append(
                InstructionEvent(name, number, start, duration, run_id, kernel, occurrences)
            )


def _read_gpu(reader: PlaneReader, line: Any, number: int, device: str) -> None:
    if not decoded(line.name).startswith(_STREAM_LINE):  # derived from the streams by a viewer
        return
    targets: dict[EventKey, _Target | None] = {}
    for key, _, start, duration, occurrences in reader.events(line):
        target = targets.get(key, _UNKNOWN)
        if target is _UNKNOWN:
            description, stats = reader.described(key)
            target = targets[key] = _target(reader, stats, device, description.name)
        if target is None:
            reader.profile.add_unnamed(reader.described(key)[0].name, duration)
            continue
        events, name, run_id, kernel = target
        events.append(InstructionEvent(name, number, start, duration, run_id, kernel, occurrences))


class _Target(NamedTuple):
    """The execution that the events with equal stats belong to."""

    events: list[InstructionEvent]
    instruction: str
    run_id: int | None
    kernel: str


_UNKNOWN = _Target([], "", None, "")  # of events that were not looked up


def _target(reader: PlaneReader, stats: Stats, device: str, kernel: str) -> _Target | None:
    """Return where the events with these stats belong to, None without an instruction."""
    name = str(stats.get("hlo_op", "")).rpartition("::")[2]
    if not name:
        return None
    events = reader.profile.of(reader.program(stats), device).events
    return _Target(events, name, number_stat(stats, "run_id"), kernel)


def _read_tpu(reader: PlaneReader, line: Any, number: int, device: str) -> None:
    is_async = line.name in _ASYNC_LINES
    if line.name == _MODULES_LINE:
        _read_spans(reader, line, device)
    if not is_async and line.name not in _OPS_LINES:
        return
    for event in reader.events(line):
        description, stats = reader.described(event[0])
        name, program = _instruction_name(description), reader.program(stats)
        start, duration = _device_time(line, event)
        if not name:
            reader.profile.add_unnamed(description.display_name or description.name, duration)
            continue
        run_id = number_stat(stats, "run_id")
        reader.profile.of(program, device).events.append(
            InstructionEvent(name, number, start, duration, run_id, name, event[4], is_async)
        )


def _read_spans(reader: PlaneReader, line: Any, device: str) -> None:
    for event in reader.events(line):
        description, stats = reader.described(event[0])
        module = program_of(description.name)
        if module is not None:
            span = ModuleSpan(number_stat(stats, "run_id"), *_device_time(line, event))
            reader.profile.of(Program(*module), device).spans.append(span)


def _device_time(line: Any, event: Event) -> tuple[int, int]:
    """Return start and duration by the clock of the device, if the event has them."""
    _, stats, start, duration, _ = event
    own_offset, own_duration = (
        number_stat(stats, f"device_{what}_ps") for what in ("offset", "duration")
    )
    return (
        start if own_offset is None else line.timestamp_ns * 1000 + own_offset,
        duration if own_duration is None else own_duration,
    )


def _instruction_name(description: Description) -> str:
    """Return the name of the instruction whose text is the name of an event."""
    text = _INSTRUCTION_TEXT.match(description.name)
    name = text[1] if text is not None else description.display_name or description.name
    return name.removeprefix("%")
