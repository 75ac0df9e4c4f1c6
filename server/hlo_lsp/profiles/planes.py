"""Decoding of the lines and events of a plane of an ``*.xplane.pb`` file."""

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.profiles.events import Profile, Program
from hlo_lsp.protos.damage import Damage
from hlo_lsp.protos.profile_messages import CLASSES
from hlo_lsp.protos.profile_modules import decoded_part, program_id, program_of
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
