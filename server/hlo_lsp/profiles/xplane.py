"""Reading of ``*.xplane.pb`` files.

Each backend has planes of its own:

- CPU: the threads of ``/host:CPU``. The event of a thunk has the stats ``hlo_op``,
  ``hlo_module``, ``program_id``, ``run_id``, and ``device_ordinal``.
- GPU: a plane for each device, with a line for each stream. The event of a kernel has ``hlo_op``,
  ``hlo_module``, and ``program_id``; launches on the host, which have them as well, have a
  ``correlation_id``.
- TPU: a plane for each core, with the lines ``XLA Modules``, ``XLA Ops``, and ``Async XLA Ops``.
  The stats are those of the description of an event, and its name is the text of the instruction.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Profile, Program
from hlo_lsp.protos.damage import Damage
from hlo_lsp.protos.profile_messages import CLASSES
from hlo_lsp.protos.profile_modules import (
    decoded_part,
    planes_of,
    program_id,
    program_of,
)
from hlo_lsp.protos.shapes import decoded

_DEVICE_PLANE = re.compile(r"/device:(TPU|GPU):(\d+)(.*)", re.DOTALL)
_HOST_PLANE = "/host:CPU"
_MODULES_PLANE = "/host:metadata"
_MODULES_LINE, _OPS_LINES, _ASYNC_LINES = "XLA Modules", ("XLA Ops",), ("Async XLA Ops",)
_STREAM_LINE = "Stream"
_THUNK_END = "end: "  # an event that marks the end of a thunk on another thread
_INSTRUCTION_TEXT = re.compile(r"%?([^\s=]+) = ")
_EVENTS_PER_BATCH = 4096
_WANTED = frozenset(
    {
        *("hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "correlation_id"),
        *("device_offset_ps", "device_duration_ps"),
    }
)

Stats = dict[str, Any]


class _Description(NamedTuple):
    """What the events of one kind have in common."""

    name: str
    display_name: str
    stats: Stats


class _Event(NamedTuple):
    description: _Description
    stats: Stats
    start_ps: int
    duration_ps: int
    occurrences: int


def read_xplane(data: bytes, profile: Profile, label: str, host: str = "") -> None:
    """Add the events of a file to a profile.

    Args:
        data: The content of the file.
        profile: The profile.
        label: The name of the file in messages about damages.
        host: What precedes the names of devices, to distinguish the files of several hosts.
    """
    planes, damage = planes_of(data)
    del data  # the planes are copies
    _note_damage(profile, damage, label)
    numbers = count()
    while planes:
        checkpoint()
        encoded = planes.pop(0)
        plane, damage = decoded_part(encoded, "XPlane")
        _note_damage(profile, damage, label)
        if plane.name == _MODULES_PLANE:
            profile.planes.append(encoded)
            continue
        found = _reader_of(plane, host)
        del encoded
        if found is None:
            continue
        read, device = found
        reader = _PlaneReader(plane, label)
        for line in reader.lines(profile):
            read(line, profile, reader, next(numbers), device)


def _note_damage(profile: Profile, damage: Damage | None, label: str) -> None:
    if damage is not None:
        profile.damages.append(f"{label}: damaged: {damage}; the rest was read")


# Its arguments are the line, the profile, the reader of the plane, the number of the line, and the
# name of the device; for a host, what precedes the name.
_LineReader = Callable[[Any, Profile, "_PlaneReader", int, str], None]


def _reader_of(plane: Any, host: str) -> tuple[_LineReader, str] | None:
    """Return the function that reads the lines of a plane, with the name of its device.

    It is None for planes without instructions.
    """
    if plane.name == _HOST_PLANE:
        return _read_cpu, host
    device = _DEVICE_PLANE.fullmatch(decoded(plane.name))
    if device is None:
        return None
    name = f"{host}{device[1]} {device[2]}{device[3]}"
    return (_read_gpu if device[1] == "GPU" else _read_tpu), name


class _PlaneReader:
    """Decodes the lines and the events of a plane."""

    def __init__(self, plane: Any, label: str) -> None:
        self._label = label
        self._lines: Iterable[bytes] = plane.lines
        self._names = {one.key: decoded(one.value.name) for one in plane.stat_metadata}
        self._wanted = {key: name for key, name in self._names.items() if name in _WANTED}
        self.descriptions = {
            one.key: _Description(
                decoded(one.value.name),
                decoded(one.value.display_name),
                self._stats(one.value.stats),
            )
            for one in plane.event_metadata
        }
        self._unknown = _Description("", "", {})
        self._skipped = {
            key
            for key, description in self.descriptions.items()
            if description.name.startswith(_THUNK_END)
        }
        self.programs = {
            found[1]: found[0]
            for description in self.descriptions.values()
            if (found := program_of(description.name)) is not None
        }

    def lines(self, profile: Profile) -> Iterator[Any]:
        """Yield the lines, their events undecoded."""
        for encoded in self._lines:
            line, damage = decoded_part(encoded, "XLine")
            _note_damage(profile, damage, self._label)
            yield line

    def events(self, line: Any, profile: Profile) -> Iterator[_Event]:
        """Yield the events of a line with the stats that readers use."""
        start = line.timestamp_ns * 1000
        encoded = line.events
        for first in range(0, len(encoded), _EVENTS_PER_BATCH):
            checkpoint()
            batch = CLASSES["XLine"](events=encoded[first : first + _EVENTS_PER_BATCH])
            events, damage = decoded_part(batch.SerializeToString(), "Events")
            _note_damage(profile, damage, self._label)
            for event in events.events:
                key = event.metadata_id
                if key not in self._skipped:
                    yield _Event(
                        self.descriptions.get(key, self._unknown),
                        self._stats(event.stats),
                        start + event.offset_ps,
                        event.duration_ps,
                        event.num_occurrences or 1,
                    )

    def _stats(self, stats: Iterable[Any]) -> Stats:
        found = {}
        for stat in stats:
            name = self._wanted.get(stat.metadata_id)
            if name is not None:
                found[name] = self._value(stat)
        return found

    def _value(self, stat: Any) -> Any:
        number = stat.ref_value
        if number:
            return self._names.get(number, "")
        number = stat.uint64_value or stat.int64_value
        if number:
            return number
        if stat.HasField("compressed_str_value"):
            with suppress(OSError, EOFError, zlib.error):
                return gzip.decompress(stat.compressed_str_value).decode("utf-8", "replace")
        return decoded(stat.str_value) if stat.HasField("str_value") else 0


def _program(stats: Stats, reader: _PlaneReader) -> Program:
    number = _number(stats, "program_id")
    known = None if number is None else program_id(number)
    name = stats.get("hlo_module") or (None if known is None else reader.programs.get(known))
    return Program(str(name or ""), known)


def _read_cpu(line: Any, profile: Profile, reader: _PlaneReader, number: int, host: str) -> None:
    for event in reader.events(line, profile):
        stats = event.stats
        name = stats.get("hlo_op")
        if not name or "correlation_id" in stats:  # the launch of a kernel
            continue
        device = f"{host}CPU {stats.get('device_ordinal', 0)}"
        profile.of(_program(stats, reader), device).events.append(
            InstructionEvent(
                str(name), number, event.start_ps, event.duration_ps, _number(stats, "run_id"),
                event.description.name, event.occurrences,
            )
        )  # fmt: skip


def _read_gpu(line: Any, profile: Profile, reader: _PlaneReader, number: int, device: str) -> None:
    if not decoded(line.name).startswith(_STREAM_LINE):  # derived from the streams by a viewer
        return
    for event in reader.events(line, profile):
        name = str(event.stats.get("hlo_op", "")).rpartition("::")[2]
        if not name:
            profile.add_unnamed(event.description.name, event.duration_ps)
            continue
        profile.of(_program(event.stats, reader), device).events.append(
            InstructionEvent(
                name, number, event.start_ps, event.duration_ps,
                _number(event.stats, "run_id"),
                event.description.name, event.occurrences,
            )
        )  # fmt: skip


def _read_tpu(line: Any, profile: Profile, reader: _PlaneReader, number: int, device: str) -> None:
    if line.name == _MODULES_LINE:
        for event in reader.events(line, profile):
            module = program_of(event.description.name)
            if module is not None:
                start, duration = _device_time(line, event)
                span = ModuleSpan(_number(event.stats, "run_id"), start, duration)
                profile.of(Program(*module), device).spans.append(span)
        return
    is_async = line.name in _ASYNC_LINES
    if not is_async and line.name not in _OPS_LINES:
        return
    for event in reader.events(line, profile):
        description = event.description
        name = _instruction_name(description)
        start, duration = _device_time(line, event)
        stats = {**description.stats, **event.stats}
        program = _program(stats, reader)
        if not name or program.id is None:
            profile.add_unnamed(description.display_name or description.name, duration)
            continue
        profile.of(program, device).events.append(
            InstructionEvent(
                name,
                number,
                start,
                duration,
                _number(stats, "run_id"),
                name,
                event.occurrences,
                is_async,
            )
        )


def _number(stats: Stats, name: str) -> int | None:
    number = stats.get(name)
    return number if isinstance(number, int) else None


def _device_time(line: Any, event: _Event) -> tuple[int, int]:
    """Return start and duration by the clock of the device, if the event has them."""
    offset = _number(event.stats, "device_offset_ps")
    duration = _number(event.stats, "device_duration_ps")
    return (
        event.start_ps if offset is None else line.timestamp_ns * 1000 + offset,
        event.duration_ps if duration is None else duration,
    )


def _instruction_name(description: _Description) -> str:
    """Return the name of the instruction whose text is the name of an event."""
    text = _INSTRUCTION_TEXT.match(description.name)
    name = text[1] if text is not None else description.display_name or description.name
    return name.removeprefix("%")
