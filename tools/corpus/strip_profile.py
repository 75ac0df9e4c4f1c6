"""Remove from a profile what names the machine: ``python strip_profile.py IN OUT``.

Host names, ids of processes, times of the recording, and events of Python are removed. Paths become
``/home/user/models/FILE`` and ``/usr/lib/python3/dist-packages/...``.
"""

import re
import sys
from pathlib import Path

from hlo_lsp.protos import hlo_messages
from hlo_lsp.protos.profile_modules import CLASSES

_LIBRARY = re.compile(r".*/(?:site-packages|lib/python3[.\d]*)/")
_PLANES = ("/host:metadata", "/host:CPU")


def stripped_path(path: str) -> str:
    if _LIBRARY.match(path):
        return _LIBRARY.sub("/usr/lib/python3/dist-packages/", path)
    return f"/home/user/models/{path.rpartition('/')[2]}" if "/" in path else path


def strip_module(data: bytes) -> bytes:
    proto = hlo_messages.CLASSES["HloProto"].FromString(data)
    proto.DiscardUnknownFields()
    names = proto.hlo_module.stack_frame_index.file_names
    names[:] = [stripped_path(name) for name in names]
    for computation in proto.hlo_module.computations:
        for one in computation.instructions:
            if one.metadata.source_file:
                one.metadata.source_file = stripped_path(one.metadata.source_file)
    stripped: bytes = proto.SerializeToString()
    return stripped


def strip_line(encoded: bytes) -> bytes | None:
    line = CLASSES["XLine"].FromString(encoded)
    events = CLASSES["Events"].FromString(encoded).events
    kept = [one.SerializeToString() for one in events if len(one.stats) >= 4]
    line.DiscardUnknownFields()
    line.events[:] = kept
    stripped: bytes = line.SerializeToString()
    return stripped if kept else None


def strip(data: bytes) -> bytes:
    space = CLASSES["XSpace"]()
    for encoded in CLASSES["XSpace"].FromString(data).planes:
        plane = CLASSES["XPlane"].FromString(encoded)
        if plane.name not in _PLANES:
            continue
        plane.DiscardUnknownFields()
        del plane.stats[:]
        plane.lines[:] = [one for one in map(strip_line, plane.lines) if one is not None]
        used = {
            event.metadata_id
            for one in plane.lines
            for event in CLASSES["Events"].FromString(one).events
        }
        kept = [one for one in plane.event_metadata if one.key in used or one.value.stats]
        for entry in kept:
            for stat in entry.value.stats:
                if stat.bytes_value:
                    stat.bytes_value = strip_module(stat.bytes_value)
        copies = [type(one).FromString(one.SerializeToString()) for one in kept]
        del plane.event_metadata[:]
        plane.event_metadata.extend(copies)
        space.planes.append(plane.SerializeToString())
    stripped: bytes = space.SerializeToString()
    return stripped


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(strip(Path(sys.argv[1]).read_bytes()))
