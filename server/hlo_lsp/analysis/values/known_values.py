"""All values of a dump by name and index, with what the live ranges must agree with."""

from dataclasses import dataclass, field
from typing import NamedTuple

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.shape import leaf_text, try_shape
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.used_value import UsedValue


class KnownValue(NamedTuple):
    """A value as its allocation names it, or else its entry under ``Used values``.

    ``id`` is None where several lines have this key, or its allocation and its entry differ;
    ``shape`` where it is not known. ``lives_long`` says that it is a parameter of the program which
    nothing overwrites: it has its allocation for itself, and that is no output.
    """

    id: int | None
    name: str
    shape: str | None
    is_thread_local: bool = False
    lives_long: bool = False


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values by key, as live ranges print it: ``fusion.40{0}``, ``add.3{}``.

    ``are_all`` is whether no value can be missing because a line of it cannot be read.
    """

    by_key: dict[str, KnownValue]
    are_all: bool
    _sizes: dict[str, int | None] = field(default_factory=dict)

    def bytes(self, key: str) -> int | None:
        """Unpadded bytes of a value, or None where its shape is not known."""
        value = self.by_key.get(key)
        text = None if value is None else value.shape
        if text is None:
            return None
        try:
            return self._sizes[text]
        except KeyError:
            shape = try_shape(text)
            size = self._sizes[text] = None if shape is None else logical_bytes(shape)
            return size

    def weight(self, key: str) -> int | None:
        """Unpadded bytes of all that the instruction of a value makes, as the peak is chosen by.

        The shape of an instruction is that of its value with index ``{}``; a tuple is a table of
        pointers, whichever element of it is asked for.
        """
        return self.bytes(key if key.endswith("{}") else key.partition("{")[0] + "{}")


def known_values(dump: DumpSet) -> KnownValues:
    """The values of a compile; remembered until the files change that list them."""
    files = [f for f in dump.files if len(f.memory.assigned) or len(f.memory.entries)]
    return dump.derived(_known_values, files, but_places=True)


def line_of(
    dump: DumpSet, key: str
) -> "LocatedRecord[AssignedValue] | LocatedRecord[UsedValue] | None":
    """The line of a value in its allocation, or else that of its entry under ``Used values``."""
    assigned = dump.find(lambda index: index.assigned_keys, key)
    return assigned or dump.find(lambda index: index.entry_keys, key)


def _known_values(dump: DumpSet) -> KnownValues:
    found: dict[str, KnownValue] = {}
    are_all = False
    holder = next((file for file in dump.files if len(file.memory.assigned)), None)
    if holder is not None:
        _add_assigned(found, holder)
        are_all = not any(
            isinstance(record, BrokenRecord) and not record.text.startswith("  ")
            for record in holder.memory.damaged
        )
    holder = next((file for file in dump.files if len(file.memory.entries)), None)
    if holder is not None:
        for entry in holder.memory.entries.firsts():
            key = entry.key
            if key is None or entry.name is None:
                continue
            value = found.get(key)
            if value is None:
                found[key] = KnownValue(entry.id, entry.name, _shape_of(entry))
            elif value.id != entry.id:
                found[key] = value._replace(id=None)
        heads = (each for each in holder.memory.damaged if isinstance(each, UsedValue))
        are_all |= all(entry.id is not None for entry in heads)
    return KnownValues(found, are_all)


def _shape_of(entry: UsedValue) -> str | None:
    text = defining_text(entry)
    return None if text is None else leaf_text(text.shape.text, entry.index)


def _add_assigned(found: dict[str, KnownValue], file: DumpFile) -> None:
    allocation: AllocationLine | None = None
    values: list[AssignedValue] = []
    for record in file.records:
        if isinstance(record, AssignedValue):
            values.append(record)
        elif record.is_head:
            _add_held(found, allocation, values)
            allocation = record if isinstance(record, AllocationLine) else None
            values = []
    _add_held(found, allocation, values)


def _add_held(
    found: dict[str, KnownValue], allocation: AllocationLine | None, values: list[AssignedValue]
) -> None:
    """Enter the values of an allocation; None where its line cannot be read."""
    is_local = lives_long = False
    if allocation is not None:
        is_local = allocation.thread_local
        is_plain_parameter = allocation.parameter is not None and not allocation.maybe_live_out
        lives_long = is_plain_parameter and len(values) == 1
    for record in values:
        key, name = record.key, record.name
        twin = found.get(key)
        if twin is None:
            found[key] = KnownValue(record.id, name, record.shape, is_local, lives_long)
        else:
            found[key] = KnownValue(None, name, twin.shape, is_local)
