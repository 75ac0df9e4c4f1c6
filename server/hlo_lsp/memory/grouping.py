"""Groups of live buffers: which Python line, argument, or shape occupies how many bytes."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.hlo.notation import tuple_path
from hlo_lsp.memory.live_set import LiveBuffer
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.shape import without_memory_space
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.argument_names import buffer_name
from hlo_lsp.program.data_origin import COPIES_OF_ARGUMENTS, NO_LINE, Origin, origins_of
from hlo_lsp.program.phases import is_backward_pass, is_rematerialized, split_scopes

_ARGUMENTS = "arguments"
_UNKNOWN = "unknown"


class GroupKey(Enum):
    """A property that the buffers of a group have in common."""

    LINE = "line"
    STACK = "stack"
    SCOPE = "scope"
    OPCODE = "opcode"
    SHAPE = "shape"
    ROLE = "role"
    SPACE = "space"
    ALLOCATION = "allocation"
    ARGUMENT = "argument"


@dataclass(frozen=True, slots=True)
class OwnedBuffer:
    """A live buffer with the origin of its data, None if it is unknown.

    ``by_value`` is True if an output in the buffer of a donated argument counts as an output;
    otherwise the buffer is that of the argument at all steps.
    """

    buffer: LiveBuffer
    origin: Origin | None
    by_value: bool = False

    @property
    def is_argument(self) -> bool:
        """True for a buffer of the caller: an argument of the program."""
        is_computed = self.origin is not None and self.origin.argument is None
        is_of_caller = self.buffer.allocation.record.parameter is not None
        return is_of_caller and not (self.by_value and is_computed)

    @property
    def source(self) -> SourceLine | None:
        """The Python line of the origin."""
        return None if self.origin is None else self.origin.source


@dataclass(frozen=True, slots=True)
class BufferGroup:
    """Buffers with one key, and the sum of their bytes; ``source`` if the name is a Python line."""

    name: str
    source: SourceLine | None
    bytes: int
    buffers: tuple[OwnedBuffer, ...]

    @property
    def label(self) -> str:
        """The name: of a Python line without folders, without one with the largest instruction."""
        value = max(self.buffers, key=lambda owned: owned.buffer.bytes).buffer.value
        if self.name == NO_LINE and value is not None:
            return f"{NO_LINE} ({value.record.name})"
        return self.name if self.source is None else self.source.short


def owned_buffers(dump: Compile, buffers: Iterable[LiveBuffer]) -> list[OwnedBuffer]:
    """Return live buffers with the origins of their data."""
    listed = list(buffers)
    keys = [
        None if buffer.value is None else (buffer.value.record.name, buffer.value.record.index)
        for buffer in listed
    ]
    origins = origins_of(dump, (key for key in keys if key is not None))
    return [
        OwnedBuffer(buffer, None if key is None else origins.get(key))
        for buffer, key in zip(listed, keys, strict=True)
    ]


def group_name(dump: Compile, owned: OwnedBuffer, key: GroupKey) -> str:
    """Return the name of the group that a buffer belongs to."""
    return _NAMES[key](dump, owned)


def group_buffers(
    dump: Compile, buffers: Iterable[OwnedBuffer], key: GroupKey
) -> list[BufferGroup]:
    """Group buffers, the group with most bytes first; the sums add up to that of all buffers."""
    groups: dict[str, list[OwnedBuffer]] = {}
    for owned in buffers:
        groups.setdefault(group_name(dump, owned, key), []).append(owned)
    found = [
        BufferGroup(
            name,
            members[0].source if name == str(members[0].source) else None,
            sum(owned.buffer.bytes for owned in members),
            tuple(members),
        )
        for name, members in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.bytes, group.name))


def _line(_: Compile, owned: OwnedBuffer) -> str:
    if owned.is_argument:
        return _ARGUMENTS
    if owned.source is not None:
        return str(owned.source)
    if owned.origin is not None and owned.origin.argument is not None:
        return COPIES_OF_ARGUMENTS
    kind = _kind(owned)
    return NO_LINE if kind == _UNKNOWN and owned.origin is not None else kind


def stack_path(dump: Compile, owned: OwnedBuffer) -> tuple[str, ...]:
    """Return the Python stack of a buffer, the outermost line first, else its group by line."""
    if owned.is_argument or owned.origin is None or not owned.origin.stack:
        return (_line(dump, owned),)
    return tuple(str(line) for line in reversed(owned.origin.stack))


def scope_path(dump: Compile, owned: OwnedBuffer) -> tuple[str, ...]:
    """Return the scopes of a buffer, the outermost first, else its group by line."""
    origin = owned.origin
    if owned.is_argument or origin is None or origin.op_name is None or origin.argument:
        return (_line(dump, owned),)
    scopes = split_scopes(origin.op_name)
    return scopes[:-1] or scopes


_PATH_PART = re.compile(r"\.?[^.\[]+|\[[^\]]*\]|\.")


def argument_path(dump: Compile, owned: OwnedBuffer) -> tuple[str, ...]:
    """Return the path of an argument in its pytree, else the group of a buffer by line.

    ``state.params['w']`` consists of ``state``, ``.params``, and ``['w']``.
    """
    if not owned.is_argument:
        return (_line(dump, owned),)
    name = None if owned.origin is None else owned.origin.argument
    if name is None:  # another value is in the memory of a donated argument
        record = owned.buffer.allocation.record
        if record.parameter is None:
            return (_line(dump, owned),)
        name = buffer_name(dump, record.parameter, tuple_path(record.parameter_index))
    return tuple(_PATH_PART.findall(name))


def _shape(_: Compile, owned: OwnedBuffer) -> str:
    value = owned.buffer.value
    return _UNKNOWN if value is None else without_memory_space(value.record.shape)


_ROLE_BY_PASS = {True: "gradient", False: "activation", None: "temporary"}


def _role(_: Compile, owned: OwnedBuffer) -> str:
    allocation = owned.buffer.allocation.record
    if owned.is_argument:
        return "argument"
    if allocation.constant:
        return "constant"
    if allocation.maybe_live_out:
        return "output"
    if owned.origin is None:
        return _kind(owned)
    op_name, name = owned.origin.op_name or "", owned.origin.instruction.record.name
    if is_rematerialized(name, op_name):
        return "rematerialized"
    if owned.origin.argument is not None:
        return "copy of an argument"
    return _ROLE_BY_PASS[is_backward_pass(op_name)]


def _kind(owned: OwnedBuffer) -> str:
    value = owned.buffer.value
    if value is None:
        return "unused bytes"
    if value.record.shape.startswith("("):
        return "tuple tables"
    return "constants" if owned.buffer.allocation.record.constant else _UNKNOWN


_NAMES: dict[GroupKey, Callable[[Compile, OwnedBuffer], str]] = {
    GroupKey.LINE: _line,
    GroupKey.STACK: lambda dump, owned: " > ".join(stack_path(dump, owned)),
    GroupKey.SCOPE: lambda dump, owned: "/".join(scope_path(dump, owned)),
    GroupKey.OPCODE: lambda _, owned: (
        _UNKNOWN if owned.origin is None else owned.origin.instruction.record.opcode
    ),
    GroupKey.SHAPE: _shape,
    GroupKey.ROLE: _role,
    GroupKey.SPACE: lambda dump, owned: space_title(
        owned.buffer.allocation.record.color, dump.backend
    ),
    GroupKey.ARGUMENT: lambda dump, owned: "".join(argument_path(dump, owned)),
    GroupKey.ALLOCATION: lambda _, owned: f"allocation {owned.buffer.allocation.record.number}",
}
