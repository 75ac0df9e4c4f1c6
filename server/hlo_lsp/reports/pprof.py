"""A pprof profile of the bytes at the peak by Python call stack."""

import gzip
from collections.abc import Mapping, Sequence
from typing import Any

from hlo_lsp.protos.messages import Fields, message_class
from hlo_lsp.reports.profiles import BufferStack, Frame

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


def pprof_profile(stacks: Sequence[BufferStack]) -> bytes:
    """Return a compressed profile; each memory space is a sample type.

    The default is the memory space with most bytes. Labels are the module, the role, and the value.
    """
    return gzip.compress(_Profile(stacks).message.SerializeToString(), mtime=0)


class _Profile:
    def __init__(self, stacks: Sequence[BufferStack]) -> None:
        self.message: Any = message_class(PPROF, "Profile")()
        self._strings: dict[str, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[Frame, int] = {}
        self._string("")
        totals: dict[str, int] = {}
        for stack in stacks:
            totals[stack.space] = totals.get(stack.space, 0) + stack.bytes
        spaces = sorted(totals, key=lambda space: -totals[space])
        types = {space: space.replace(" ", "_") for space in spaces}
        for space in spaces:
            self.message.sample_type.add(
                type=self._string(types[space]), unit=self._string("bytes")
            )
        if spaces:
            self.message.default_sample_type = self._string(types[spaces[0]])
        comments = {
            f"{stack.module}: {stack.space} at step {stack.step:,}": None for stack in stacks
        }
        self.message.comment.extend(self._string(comment) for comment in comments)
        for stack in stacks:
            self._add(stack, [stack.bytes * (space == stack.space) for space in spaces])
        self.message.string_table.extend(self._strings)

    def _add(self, stack: BufferStack, values: list[int]) -> None:
        sample = self.message.sample.add(value=values)
        sample.location_id.extend(self._location(frame) for frame in reversed(stack.frames))
        labels = {"module": stack.module, "role": stack.role}
        value = stack.owned.buffer.value
        if value is not None:
            labels |= {"value": value.record.key, "shape": value.record.shape}
        if stack.owned.origin is not None and stack.owned.origin.op_name is not None:
            labels["op_name"] = stack.owned.origin.op_name
        for key, text in labels.items():
            sample.label.add(key=self._string(key), str=self._string(text))

    def _location(self, frame: Frame) -> int:
        if frame not in self._locations:
            self._locations[frame] = len(self._locations) + 1
            location = self.message.location.add(id=self._locations[frame])
            location.line.add(function_id=self._function(frame), line=frame.line)
        return self._locations[frame]

    def _function(self, frame: Frame) -> int:
        key = frame.name, frame.file
        if key not in self._functions:
            self._functions[key] = len(self._functions) + 1
            name, file = map(self._string, key)
            self.message.function.add(id=self._functions[key], name=name, filename=file)
        return self._functions[key]

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))
