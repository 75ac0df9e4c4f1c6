"""The HLO modules that a profile (``*.xplane.pb``) contains.

The plane ``/host:metadata`` describes each module that ran: the name of the description is
``jit_step(12)``, with the id of the program, and the stat ``Hlo Proto`` is its HloProto.

A profile can have millions of events. Therefore, planes, lines, events, and their stats are bytes
in the messages that contain them, and are decoded one after the other; equal stats only once. This
also limits a damage to its line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.protos.damage import Damage, parse
from hlo_lsp.protos.messages import message_classes, read_messages
from hlo_lsp.protos.shapes import decoded

TABLE = read_messages("profile_messages")
# The message that contains others, and the field with them.
_CONTAINERS = {"XSpace": "planes", "XPlane": "lines", "XLine": "events", "XEvent": "stats"}
_UNDECODED = {
    name: {**TABLE[name], field: (TABLE[name][field][0], "bytes*")}
    for name, field in _CONTAINERS.items()
}
CLASSES = message_classes({**TABLE, **_UNDECODED}, TABLE)

_METADATA_PLANE = "/host:metadata"
_HLO_STAT = "Hlo Proto"
_DEVICE_PLANE = re.compile(r"/device:(TPU|GPU):")
_PROGRAM_NAME = re.compile(r"(?P<module>.*)\((?P<id>-?[0-9]{1,20})\)", re.DOTALL)
_ID_BITS = (1 << 64) - 1
# The suffix of the files that XLA writes for a backend. Only libtpu has a change number; this one
# marks the backend.
_SUFFIXES = {"TPU": "cl_0.after_optimizations", "GPU": "gpu_after_optimizations"}
_MARKS = {b"fingerprint_before_lhs": "GPU", b'"flag_configs"': "TPU"}
_CPU_SUFFIX = "cpu_after_optimizations"
_UNSAFE = re.compile(r"[/\\\[\] \x00-\x1f\x7f]")
_MAX_NAME_BYTES = 150  # a file system allows 255 bytes with the id and the suffix


@dataclass(frozen=True, slots=True)
class ProfiledModule:
    """A module in a profile; ``proto`` is its HloProto as bytes.

    ``file_stem`` is the name that XLA gives the files of the module, with the id of the program as
    number of the module.
    """

    name: str
    program_id: int
    proto: bytes
    file_stem: str


def planes_of(data: bytes) -> tuple[list[bytes], Damage | None]:
    """Return the undecoded planes of a profile, and the first damage."""
    space, damage = parse(data, "XSpace", CLASSES, TABLE)
    return list(space.planes), damage


def decoded_part(data: bytes, name: str) -> tuple[Any, Damage | None]:
    """Return a part of a profile, or what can be read of it and the first damage."""
    return parse(data, name, CLASSES, TABLE)


def program_of(text: str) -> tuple[str, int] | None:
    """Return the name of a module and the id of its program from ``jit_step(12)``."""
    found = _PROGRAM_NAME.fullmatch(text)
    return None if found is None else (found["module"], program_id(int(found["id"])))


def program_id(number: int) -> int:
    """Return an id of 64 bits without a sign; profiles have it in both forms."""
    return number & _ID_BITS


def modules_in(planes: Iterable[bytes]) -> list[ProfiledModule]:
    """Return the modules in the planes of a profile by id of the program."""
    backend = ""
    found: dict[tuple[str, int], bytes] = {}
    for data in planes:
        plane, _ = decoded_part(data, "XPlane")
        device = _DEVICE_PLANE.match(decoded(plane.name))
        if device is not None and plane.lines:
            backend = device[1]
        if plane.name == _METADATA_PLANE:
            found.update(_protos(plane))
    return [
        ProfiledModule(
            name,
            number,
            proto,
            f"module_{number:04}.{_file_name(name)}.{_suffix(proto, backend)}",
        )
        for (name, number), proto in sorted(found.items(), key=lambda one: one[0][1])
    ]


def _suffix(proto: bytes, device: str) -> str:
    """Return the suffix for a module, by what its compiler writes, else by the device that ran.

    Without access to the counters of a GPU, a profile contains no event of it.
    """
    backend = next((one for mark, one in _MARKS.items() if mark in proto), device)
    return _SUFFIXES.get(backend, _CPU_SUFFIX)


def _file_name(name: str) -> str:
    return _UNSAFE.sub("_", name).encode()[:_MAX_NAME_BYTES].decode("utf-8", "ignore")


def _protos(plane: Any) -> Iterator[tuple[tuple[str, int], bytes]]:
    numbers = {one.key for one in plane.stat_metadata if one.value.name == _HLO_STAT}
    for entry in plane.event_metadata:
        checkpoint()
        program = program_of(decoded(entry.value.name))
        proto = next(
            (one.bytes_value for one in entry.value.stats if one.metadata_id in numbers), b""
        )
        if program is not None and proto:
            yield program, proto
