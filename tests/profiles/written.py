"""Profiles written by tests, in the words of the file format."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hlo_lsp.protos.profile_modules import CLASSES

Stats = Mapping[str, int | str]
_NONE: Stats = MappingProxyType({})


class Event(NamedTuple):
    """An event; times in picoseconds. ``shared`` are the stats of its description."""

    name: str
    start: int
    duration: int
    stats: Stats = _NONE
    shared: Stats = _NONE
    occurrences: int = 0


def profile(planes: Mapping[str, Mapping[str, Sequence[Event]]]) -> bytes:
    """Return an xplane.pb file with the events of lines of planes."""
    encoded = [_plane(name, lines) for name, lines in planes.items()]
    data: bytes = CLASSES["XSpace"](planes=encoded).SerializeToString()
    return data


def _plane(name: str, lines: Mapping[str, Sequence[Event]]) -> bytes:
    plane = CLASSES["XPlane"](name=name)
    numbers: dict[str, int] = {}
    described: dict[str, int] = {}

    def stat(added: Any, key: str, value: int | str) -> None:
        added.metadata_id = numbers.setdefault(key, len(numbers) + 1)
        if isinstance(value, int):
            added.int64_value = value
        elif value.startswith("&"):  # a reference, as repeated texts are written
            added.ref_value = numbers.setdefault(value[1:], len(numbers) + 1)
        else:
            added.str_value = value

    for line_name, events in lines.items():
        line = CLASSES["XLine"](name=line_name, timestamp_ns=1)
        for event in events:
            message = CLASSES["XEvent"](
                offset_ps=event.start, duration_ps=event.duration, num_occurrences=event.occurrences
            )
            if event.name not in described:
                described[event.name] = len(described) + 1
                entry = plane.event_metadata.add(key=described[event.name])
                entry.value.name = event.name
                for key, value in event.shared.items():
                    stat(entry.value.stats.add(), key, value)
            message.metadata_id = described[event.name]
            for key, value in event.stats.items():
                added = CLASSES["XStat"]()
                stat(added, key, value)
                message.stats.append(added.SerializeToString())
            line.events.append(message.SerializeToString())
        plane.lines.append(line.SerializeToString())
    for key, number in numbers.items():
        plane.stat_metadata.add(key=number).value.name = key
    data: bytes = plane.SerializeToString()
    return data
