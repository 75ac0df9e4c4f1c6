"""The values of a compile, by the names that live ranges print."""

from hlo_lsp.checks.context import Context
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.used_value import UsedValue


def value_line(
    dump: DumpSet, key: str
) -> "LocatedRecord[AssignedValue] | LocatedRecord[UsedValue] | None":
    """Return the line of a value in its allocation, else its entry under ``Used values``."""
    assigned = dump.find(lambda index: index.assigned_keys, key)
    return assigned or dump.find(lambda index: index.entry_keys, key)


def has_all_values(context: Context) -> bool:
    """Return whether every line that may name a value is readable in one of the files."""
    assigned = context.knows_assignment and not context.misses_assigned
    return assigned or (context.knows_entries and not context.misses_entries)


def value_ids(dump: DumpSet) -> dict[int, str]:
    """Return the keys of all values by their ids."""
    ids: dict[int, str] = {}
    for file in dump.files:
        for entry in file.memory.entries.firsts():
            if entry.id is not None and entry.key is not None:
                ids.setdefault(entry.id, entry.key)
        for value in file.memory.assigned.firsts():
            ids[value.id] = value.key
    return ids


def is_certain(dump: DumpSet, id_: int, key: str) -> bool:
    """Return whether no other line has this key, or gives the value another one."""
    for file in dump.files:
        index = file.memory
        values = [*index.assigned_keys.all(key), *index.assigned.all(id_)]
        entries = [*index.entry_keys.all(key), *index.entries.all(id_)]
        if any((value.id, value.key) != (id_, key) for value in values) or any(
            (entry.id, entry.key) != (id_, key) for entry in entries
        ):
            return False
    return True
