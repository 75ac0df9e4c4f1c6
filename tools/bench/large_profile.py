"""A profile of 100 MB: the events of a small real one, repeated."""

from pathlib import Path

from dumps import CORPUS, unpacked
from hlo_lsp.protos.profile_modules import CLASSES

_BYTES = 100_000_000
_PERIOD_PS = 5_000_000_000  # longer than the small profile


def large_profile(cache: Path) -> Path:
    """Write the profile into a folder, and return its path."""
    folder = unpacked(CORPUS / "profiles.tar.xz", cache)
    data = (folder / "jax_0_12" / "train" / "profile.xplane.pb").read_bytes()
    space = CLASSES["XSpace"]()
    for encoded in CLASSES["XSpace"].FromString(data).planes:
        plane = CLASSES["XPlane"].FromString(encoded)
        count = _BYTES // max(1, sum(map(len, plane.lines)))
        plane.lines[:] = [_repeated(line, count) for line in plane.lines]
        space.planes.append(plane.SerializeToString())
    path = cache / "large.xplane.pb"
    path.write_bytes(space.SerializeToString())
    return path


def _repeated(encoded: bytes, count: int) -> bytes:
    line = CLASSES["XLine"].FromString(encoded)
    events = CLASSES["Events"].FromString(encoded).events
    offsets = [event.offset_ps for event in events]
    found = []
    for number in range(count):
        for event, offset in zip(events, offsets, strict=True):
            event.offset_ps = offset + number * _PERIOD_PS
            found.append(event.SerializeToString())
    line.events[:] = found
    repeated: bytes = line.SerializeToString()
    return repeated
