"""Indexes of the records of a memory file by id and by name."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from sys import intern
from typing import Any, Generic, TypeVar

from hlo_lsp.model.query import Input
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    LiveRangeLabel,
    PeakLabel,
    PeakRow,
    RangeRow,
    SequenceRow,
    SpaceLine,
    TotalLine,
)
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.used_value import UsedValue

K = TypeVar("K")
R = TypeVar("R", bound=Record)


class MultiMap(Generic[K, R]):
    """Keys with one or more records; nearly every key has one."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[K, R | list[R]] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[K]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def add(self, key: K, record: R) -> None:
        """Add a record."""
        old = self._records.setdefault(key, record)
        if isinstance(old, list):
            old.append(record)
        elif old is not record:
            self._records[key] = [old, record]

    def remove(self, key: K, record: R) -> None:
        """Remove a record that was added under this key."""
        old = self._records.get(key)
        if isinstance(old, list):
            old.remove(record)
            if len(old) == 1:
                self._records[key] = old[0]
        elif old is record:
            del self._records[key]

    def first(self, key: K) -> R | None:
        """Return the first record of a key in the order of the file."""
        found = self._records.get(key)
        return min(found, key=_line) if isinstance(found, list) else found

    def all(self, key: K) -> list[R]:
        """Return the records of a key in the order of the file."""
        found = self._records.get(key)
        if found is None:
            return []
        return sorted(found, key=_line) if isinstance(found, list) else [found]

    def firsts(self) -> Iterator[R]:
        """Yield the first record of each key."""
        for found in self._records.values():
            yield min(found, key=_line) if isinstance(found, list) else found

    def records(self) -> Iterator[R]:
        """Yield all records in unspecified order."""
        for found in self._records.values():
            if isinstance(found, list):
                yield from found
            else:
                yield found


def _line(record: Record) -> int:
    return record.line


class MemoryIndex:
    """Records by key, updated when records are added and removed.

    Each kind of records is an input of queries.
    """

    def __init__(self, owner: object = None) -> None:
        self._allocations: MultiMap[int, AllocationLine] = MultiMap()
        self._assigned: MultiMap[int, AssignedValue] = MultiMap()
        self._assigned_keys: MultiMap[str, AssignedValue] = MultiMap()
        self._entries: MultiMap[int, UsedValue] = MultiMap()
        self._entry_keys: MultiMap[str, UsedValue] = MultiMap()
        self._ranges: MultiMap[str, RangeRow] = MultiMap()
        self._steps: MultiMap[int, SequenceRow] = MultiMap()
        self._step_names: MultiMap[str, SequenceRow] = MultiMap()
        self._peak_names: MultiMap[str, PeakRow] = MultiMap()
        self._labels: MultiMap[type[Record], Record] = MultiMap()
        self._damaged: dict[Record, None] = {}
        self._tuple_sizes: Counter[tuple[str, int]] = Counter()
        self._tiled_values = 0
        self._rows: EntryRows | None = None
        self._change: dict[type[Record], Callable[[Any, bool], None]] = {
            AllocationLine: self._allocation,
            AssignedValue: self._assigned_value,
            UsedValue: self._entry,
            RangeRow: lambda row, enter: _add_or_remove(self._ranges, intern(row.key), row, enter),
            SequenceRow: self._step,
            PeakRow: lambda row, enter: _add_or_remove(self._peak_names, row.name, row, enter),
            LiveRangeLabel: self._label,
            PeakLabel: self._label,
            TotalLine: self._label,
            SpaceLine: self._label,
            BrokenRecord: self._broken,
        }
        self._inputs = {kind: Input(owner) for kind in self._change}

    def changed(self, kinds: Iterable[type[Record]], *, sizes_only: bool) -> None:
        """Report a change of the records of some types to the queries that read them."""
        for kind in kinds:
            if kind in self._inputs:
                self._inputs[kind].change(sizes_only=sizes_only)

    def close(self) -> None:
        """Invalidate all queries that read this index."""
        self.changed(self._inputs, sizes_only=False)

    @property
    def allocations(self) -> MultiMap[int, AllocationLine]:
        """The allocations by number."""
        self._inputs[AllocationLine].read()
        return self._allocations

    @property
    def assigned(self) -> MultiMap[int, AssignedValue]:
        """The values in allocations by id."""
        self._inputs[AssignedValue].read()
        return self._assigned

    @property
    def assigned_keys(self) -> MultiMap[str, AssignedValue]:
        """The values in allocations by instruction and index."""
        self._inputs[AssignedValue].read()
        return self._assigned_keys

    @property
    def tuple_sizes(self) -> Counter[tuple[str, int]]:
        """The number of values by tuple shape and size (bytes)."""
        self._inputs[AssignedValue].read()
        return self._tuple_sizes

    @property
    def tiled_values(self) -> int:
        """The number of values with a tiled layout."""
        self._inputs[AssignedValue].read()
        return self._tiled_values

    @property
    def entries(self) -> MultiMap[int, UsedValue]:
        """The used values by id."""
        self._inputs[UsedValue].read()
        return self._entries

    @property
    def entry_keys(self) -> MultiMap[str, UsedValue]:
        """The used values by instruction and index."""
        self._inputs[UsedValue].read()
        return self._entry_keys

    @property
    def ranges(self) -> MultiMap[str, RangeRow]:
        """The live ranges by instruction and index."""
        self._inputs[RangeRow].read()
        return self._ranges

    @property
    def steps(self) -> MultiMap[int, SequenceRow]:
        """The rows of the schedule by step."""
        self._inputs[SequenceRow].read()
        return self._steps

    @property
    def step_names(self) -> MultiMap[str, SequenceRow]:
        """The rows of the schedule by instruction."""
        self._inputs[SequenceRow].read()
        return self._step_names

    @property
    def peak_names(self) -> MultiMap[str, PeakRow]:
        """The rows of the values that are live at the peak, by instruction."""
        self._inputs[PeakRow].read()
        return self._peak_names

    @property
    def damaged(self) -> Collection[Record]:
        """The malformed records."""
        self._inputs[BrokenRecord].read()
        self._inputs[UsedValue].read()
        return self._damaged.keys()

    def add(self, record: Record) -> None:
        """Add a record."""
        change = self._change.get(type(record))
        if change is not None:
            change(record, True)

    def remove(self, record: Record) -> None:
        """Remove a record."""
        change = self._change.get(type(record))
        if change is not None:
            change(record, False)

    def label(self, kind: type[R]) -> R | None:
        """Return the first label record of this type."""
        self._inputs[kind].read()
        found = self._labels.first(kind)
        return found if isinstance(found, kind) else None

    @property
    def rows(self) -> "EntryRows":
        """Positions and uses by instruction, created on first access."""
        self._inputs[UsedValue].read()
        if self._rows is None:
            self._rows = EntryRows()
            for entry in self._entries.records():
                self._rows.put(entry, enter=True)
        return self._rows

    def _allocation(self, record: AllocationLine, enter: bool) -> None:
        _add_or_remove(self._allocations, record.number, record, enter)

    def _assigned_value(self, record: AssignedValue, enter: bool) -> None:
        _add_or_remove(self._assigned, record.id, record, enter)
        _add_or_remove(self._assigned_keys, intern(record.key), record, enter)
        if record.shape.startswith("(") and record.color != 7:  # SparseCore has no tuple tables
            pair = record.shape, record.size
            self._tuple_sizes[pair] += 1 if enter else -1
            if not self._tuple_sizes[pair]:
                del self._tuple_sizes[pair]
        if "T(" in record.shape:
            self._tiled_values += 1 if enter else -1

    def _entry(self, record: UsedValue, enter: bool) -> None:
        if record.id is not None and record.key is not None:
            _add_or_remove(self._entries, record.id, record, enter)
            _add_or_remove(self._entry_keys, intern(record.key), record, enter)
            if self._rows is not None:
                self._rows.put(record, enter)
        if not record.whole:
            self._broken(record, enter)

    def _step(self, record: SequenceRow, enter: bool) -> None:
        _add_or_remove(self._steps, record.step, record, enter)
        _add_or_remove(self._step_names, record.name, record, enter)

    def _label(self, record: Record, enter: bool) -> None:
        _add_or_remove(self._labels, type(record), record, enter)

    def _broken(self, record: Record, enter: bool) -> None:
        if enter:
            self._damaged[record] = None
        else:
            self._damaged.pop(record, None)


class EntryRows:
    """Entries by the instructions of their positions and uses."""

    def __init__(self) -> None:
        self._positions: MultiMap[str, UsedValue] = MultiMap()
        self._uses: MultiMap[str, UsedValue] = MultiMap()

    def put(self, entry: UsedValue, enter: bool) -> None:
        """Add or remove an entry."""
        positions, uses = entry.row_names()
        for name in positions:
            _add_or_remove(self._positions, name, entry, enter)
        for name in uses:
            _add_or_remove(self._uses, name, entry, enter)

    def positions(self, name: str) -> list[UsedValue]:
        """Return the entries with a position at this instruction."""
        return self._positions.all(name)

    def uses(self, name: str) -> list[UsedValue]:
        """Return the entries that this instruction uses."""
        return self._uses.all(name)


def _add_or_remove(records: MultiMap[Any, Any], key: object, record: Record, enter: bool) -> None:
    if enter:
        records.add(key, record)
    else:
        records.remove(key, record)
