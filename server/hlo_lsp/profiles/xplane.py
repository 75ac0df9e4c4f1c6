"""Reading of ``*.xplane.pb`` files.

Each backend has planes of its own:

- CPU: the threads of ``/host:CPU``. The event of a thunk has the stats ``hlo_op``,
  ``hlo_module``, ``program_id``, ``run_id``, and ``device_ordinal``.
- GPU: a plane for each device, with a line for each stream. The event of a kernel has ``hlo_op``,
  ``hlo_module``, and ``program_id``; launches on the host have them as well.
- TPU: a plane for each core, with the lines ``XLA Modules``, ``XLA Ops``, and ``Async XLA Ops``.
  The stats are those of the description of an event, and its name is the text of the instruction.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Profile, Program
from hlo_lsp.protos.damage import Damage
from hlo_lsp.protos.profile_modules import CLASSES, decoded_part, program_id, program_of
from hlo_lsp.protos.shapes import decoded
from hlo_lsp.text.compression import DAMAGES, ExpansionError, expanded

_THUNK_END = "end: "  # an event that marks the end of a thunk on another thread
_EVENTS_PER_BATCH = 4096
_MAX_KNOWN_STATS = 1 << 16
_MAX_EXPANDED_BYTES = 1 << 25  # of the compressed texts of a plane, of which no name is one

Stats = dict[str, Any]
EventKey = tuple[Any, ...]
"""The number of a description, and the encoded stats that distinguish events."""
Event = tuple[EventKey, Stats, int, int, int]
"""The key, own stats, start and duration in picoseconds, and occurrences.

This is a plain tuple, because a profile has millions.
"""


class Description(NamedTuple):
    """The properties that the events of one kind have in common."""

    name: str
    display_name: str
    stats: Stats


class StatNames(NamedTuple):
    """The names of stats that a reader uses: in many events with equal values, or in one each."""

    shared: frozenset[str]
    own: frozenset[str] = frozenset()


class PlaneReader:
    """Decodes the lines and the events of a plane."""

    def __init__(self, plane: Any, wanted: StatNames, profile: Profile, label: str) -> None:
        self.profile = profile
        self._label = label
        self._lines = list(plane.lines)
        self._expanded_bytes = 0
        self._names = {one.key: decoded(one.value.name) for one in plane.stat_metadata}
        self._wanted = wanted
        self._known: dict[bytes, bool] = {}  # encoded stats: whether they are part of a key
        self._descriptions = {
            one.key: Description(
                decoded(one.value.name),
                decoded(one.value.display_name),
                dict(map(self._named_value, one.value.stats)),
            )
            for one in plane.event_metadata
        }
        self._described: dict[EventKey, tuple[Description, Stats]] = {}
        self._skipped = {
            key
            for key, description in self._descriptions.items()
            if description.name.startswith(_THUNK_END)
        }
        self._module_names = {
            found[1]: found[0]
            for description in self._descriptions.values()
            if (found := program_of(description.name)) is not None
        }

    def lines(self) -> Iterator[Any]:
        """Yield the lines, their events undecoded."""
        self._lines.reverse()
        while self._lines:
            line, damage = decoded_part(self._lines.pop(), "XLine")
            note_damage(self.profile, damage, self._label)
            yield line

    def events(self, line: Any) -> Iterator[Event]:
        """Yield the events of a line."""
        start = line.timestamp_ns * 1000
        encoded, skipped, known, wanted = line.events, self._skipped, self._known, self._wanted
        all_found = 0 if wanted.own else 1 + len(wanted.shared)
        no_stats: Stats = {}
        for first in range(0, len(encoded), _EVENTS_PER_BATCH):
            checkpoint()
            batch = CLASSES["XLine"](events=encoded[first : first + _EVENTS_PER_BATCH])
            events, damage = decoded_part(batch.SerializeToString(), "Events")
            note_damage(self.profile, damage, self._label)
            for event in events.events:
                number = event.metadata_id
                if number in skipped:
                    continue
                key, own = [number], no_stats
                for stat in event.stats:
                    is_shared = known.get(stat)
                    if is_shared is None:
                        name, value, is_shared = self._look_up(stat)
                        if name in wanted.own:
                            own = {**own, name: value}
                    if is_shared:
                        key.append(stat)
                        if len(key) == all_found:
                            break
                yield (
                    tuple(key), own, start + event.offset_ps, event.duration_ps,
                    event.num_occurrences or 1,
                )  # fmt: skip

    def described(self, key: EventKey) -> tuple[Description, Stats]:
        """Return the description of events, and their shared stats."""
        found = self._described.get(key)
        if found is None:
            description = self._descriptions.get(key[0], Description("", "", {}))
            stats = (self._named_value(CLASSES["XStat"].FromString(stat)) for stat in key[1:])
            found = self._described[key] = description, {**description.stats, **dict(stats)}
        return found

    def program(self, stats: Stats) -> Program:
        """Return the program that the stats name."""
        number = number_stat(stats, "program_id")
        known = None if number is None else program_id(number)
        name = stats.get("hlo_module") or self._module_names.get(-1 if known is None else known)
        return Program(str(name or ""), known)

    def _look_up(self, stat: bytes) -> tuple[str, Any, bool]:
        """Return the name and the value of a stat, and whether it is part of a key."""
        decoded_stat, damage = decoded_part(stat, "XStat")
        name, value = self._named_value(decoded_stat)
        is_shared = damage is None and name in self._wanted.shared
        if is_shared or (name not in self._wanted.own and len(self._known) < _MAX_KNOWN_STATS):
            self._known[stat] = is_shared
        return name, value, is_shared

    def _named_value(self, stat: Any) -> tuple[str, Any]:
        return self._names.get(stat.metadata_id, ""), self._value(stat)

    def _value(self, stat: Any) -> Any:
        if stat.ref_value:
            return self._names.get(stat.ref_value, "")
        if stat.HasField("compressed_str_value"):
            data = b""
            with suppress(*DAMAGES, ExpansionError):
                left = _MAX_EXPANDED_BYTES - self._expanded_bytes
                data = expanded(io.BytesIO(stat.compressed_str_value), ".gz").read(left)
            self._expanded_bytes += len(data)
            return data.decode("utf-8", "replace")
        if stat.HasField("str_value"):
            return decoded(stat.str_value)
        return stat.uint64_value or stat.int64_value


def number_stat(stats: Stats, name: str) -> int | None:
    """Return the value of a stat, None if there is none or if it is not a number."""
    number = stats.get(name)
    return number if isinstance(number, int) else None


def note_damage(profile: Profile, damage: Damage | None, label: str) -> None:
    """Add a message about a damage to a profile, if there is one."""
    if damage is not None:
        profile.damages.append(f"{label}: damaged: {damage}; the rest was read")


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
