"""A pprof profile of the bytes at the peak, or of other samples, by Python call stack."""

import gzip
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hlo_lsp.protos.messages import Fields, message_class
from hlo_lsp.reports.profiles import Frame, SampleType, StackSample

# The part of https://github.com/google/pprof/blob/main/proto/profile.proto that is written.
PPROF: Mapping[str, Fields] = {
    "Profile": {
        "sample_type": (1, "ValueType*"),
        "sample": (2, "Sample*"),
        "location": (4, "Location*"),
        "function": (5, "Function*"),
        "string_table": (6, "string*"),
        "comment": (13, "int64*"),
        "default_sample_type": (14, "int64"),
    },
    "ValueType": {"type": (1, "int64"), "unit": (2, "int64")},
    "Sample": {"location_id": (1, "uint64*"), "value": (2, "int64*"), "label": (3, "Label*")},
    "Label": {"key": (1, "int64"), "str": (2, "int64")},
    "Location": {"id": (1, "uint64"), "line": (4, "Line*")},
    "Line": {"function_id": (1, "uint64"), "line": (2, "int64")},
    "Function": {"id": (1, "uint64"), "name": (2, "int64"), "filename": (4, "int64")},
}


def pprof_profile(samples: Sequence[StackSample]) -> bytes:
    """Return a compressed profile of buffers; each memory space is a sample type.

    The default is the memory space with most bytes. Labels are the module, the role, and the value.
    """
    totals: Counter[SampleType] = Counter()
    for sample in samples:
        totals.update(sample.values)
    comments = (sample.comment for sample in samples)
    types = [kind for kind, _ in totals.most_common()]
    return pprof_of_samples(samples, types, dict.fromkeys(comments))


def pprof_of_samples(
    samples: Iterable[StackSample], types: Sequence[SampleType], comments: Iterable[str] = ()
) -> bytes:
    """Return a compressed profile of samples, whose default is the first sample type."""
    profile = _Profile(types, comments)
    for sample in samples:
        profile.add(sample)
    return gzip.compress(profile.serialized(), mtime=0)


class _Profile:
    def __init__(self, types: Sequence[SampleType], comments: Iterable[str]) -> None:
        self._message: Any = message_class(PPROF, "Profile")()
        self._types = types
        self._strings: dict[str, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[Frame, int] = {}
        self._string("")
        numbers = [self._string(kind.name.replace(" ", "_")) for kind in types]
        for number, kind in zip(numbers, types, strict=True):
            self._message.sample_type.add(type=number, unit=self._string(kind.unit))
        self._message.default_sample_type = next(iter(numbers), 0)
        self._message.comment.extend(map(self._string, comments))

    def serialized(self) -> bytes:
        """Return the bytes of the profile."""
        self._message.string_table.extend(self._strings)
        found: bytes = self._message.SerializeToString()
        return found

    def add(self, sample: StackSample) -> None:
        """Add a sample."""
        added = self._message.sample.add(value=[sample.values.get(one, 0) for one in self._types])
        added.location_id.extend(self._location(frame) for frame in reversed(sample.frames))
        for key, text in sample.labels.items():
            added.label.add(key=self._string(key), str=self._string(text))

    def _location(self, frame: Frame) -> int:
        if frame not in self._locations:
            self._locations[frame] = len(self._locations) + 1
            location = self._message.location.add(id=self._locations[frame])
            location.line.add(function_id=self._function(frame), line=frame.line)
        return self._locations[frame]

    def _function(self, frame: Frame) -> int:
        key = frame.name, frame.file
        if key not in self._functions:
            self._functions[key] = len(self._functions) + 1
            name, file = map(self._string, key)
            self._message.function.add(id=self._functions[key], name=name, filename=file)
        return self._functions[key]

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))
