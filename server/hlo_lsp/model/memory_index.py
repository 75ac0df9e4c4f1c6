"""Indexes of the records of a memory file by id and by name."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView
from operator import attrgetter
from sys import intern
from typing import Any, Generic, TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.query_cache import Input
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

_ENTRIES_PER_CHECKPOINT = 100  # less than 1 ms

K = TypeVar("K")
R = TypeVar("R", bound=Record)
RecordChange = Callable[["MultiMap[Any, Any]", Any, Any], None]  # to add or to remove a record
_LABELS: tuple[type[Record], ...] = (LiveRangeLabel, PeakLabel, TotalLine, SpaceLine)
_INDEXED_RECORDS: tuple[type[Record], ...] = (
    *(AllocationLine, AssignedValue, UsedValue, RangeRow, SequenceRow, PeakRow, BrokenRecord),
    *_LABELS,
)


class _Records(list[R]):
    """Several records of one key; ``is_sorted`` is False if some may not be in file order."""

    __slots__ = ("is_sorted",)

    def __init__(self, records: Iterable[R], *, is_sorted: bool = False) -> None:
        super().__init__(records)
        self.is_sorted = is_sorted


class MultiMap(Generic[K, R]):
    """Keys with one or more records; nearly every key has one.

    A look-up is recorded by the current query if the map is a part of an input of queries.
    """

    __slots__ = ("_input", "_records")

    def __init__(self, part: Input | None = None) -> None:
        self._records: dict[K, R | _Records[R]] = {}
        self._input = part

    def __contains__(self, key: K) -> bool:
        return key in self._read()

    def __iter__(self) -> Iterator[K]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    @property
    def keys(self) -> KeysView[K]:
        """The keys; an operation on sets of keys is faster than a look-up of each."""
        return self._read().keys()

    @property
    def repeated(self) -> list[K]:
        """The keys with several records."""
        return [key for key, found in self._read().items() if isinstance(found, list)]

    def add(self, key: K, record: R) -> None:
        """Add a record."""
        old = self._records.setdefault(key, record)
        if isinstance(old, list):
            old.append(record)
            old.is_sorted = False
        elif old is not record:
            self._records[key] = _Records((old, record))

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
        found = self._read().get(key)
        return self._sorted(key, found)[0] if isinstance(found, list) else found

    def first_of_each(self, keys: Iterable[K]) -> Iterator[R | None]:
        """Yield the first record of each key in the order of the file."""
        records = self._read()
        for key in keys:
            found = records.get(key)
            yield self._sorted(key, found)[0] if isinstance(found, list) else found

    def count(self, key: K) -> int:
        """Return the number of records of a key."""
        found = self._read().get(key)
        return len(found) if isinstance(found, list) else int(found is not None)

    def all(self, key: K) -> list[R]:
        """Return the records of a key in the order of the file."""
        found = self._read().get(key)
        if found is None:
            return []
        return [*self._sorted(key, found)] if isinstance(found, list) else [found]

    def firsts(self) -> Iterator[R]:
        """Yield the first record of each key."""
        for found in self._read().values():
            yield min(found, key=_line) if isinstance(found, list) else found

    def records(self) -> Iterator[R]:
        """Yield all records in unspecified order."""
        for found in self._read().values():
            if isinstance(found, list):
                yield from found
            else:
                yield found

    def in_order(self) -> list[R]:
        """Return all records in the order of the file."""
        records: list[R] = []
        lines: list[int] = []
        for record in self.records():
            checkpoint()
            records.append(record)
            lines.append(record.line)
        return [records[at] for at in sorted(range(len(lines)), key=lines.__getitem__)]

    def _sorted(self, key: K, records: "_Records[R]") -> "_Records[R]":
        """Return the records in the order of the file, which edits elsewhere do not change.

        A new list replaces the old one, because another caller may be iterating over it.
        """
        if not records.is_sorted:
            records = _Records(sorted(records, key=_line), is_sorted=True)
            self._records[key] = records
        return records

    def _read(self) -> "dict[K, R | _Records[R]]":
        if self._input is not None:
            self._input.read()
        return self._records


_line = attrgetter("line")


def _interned_key(record: AssignedValue | UsedValue | RangeRow) -> str:
    return intern(record.key or "")


class MemoryIndex:
    """Records by key, updated when records are added and removed.

    Values have as keys their instruction and index, such as ``fusion.40{0}``. Each kind of records
    is an input of queries.
    """

    def __init__(self, owner: object = None) -> None:
        part = {kind: Input(owner) for kind in _INDEXED_RECORDS}
        self._inputs = part
        self.allocations: MultiMap[int, AllocationLine] = MultiMap(part[AllocationLine])
        self.assigned: MultiMap[int, AssignedValue] = MultiMap(part[AssignedValue])
        self.assigned_keys: MultiMap[str, AssignedValue] = MultiMap(part[AssignedValue])
        self.entries: MultiMap[int, UsedValue] = MultiMap(part[UsedValue])
        self.entry_keys: MultiMap[str, UsedValue] = MultiMap(part[UsedValue])
        self.ranges: MultiMap[str, RangeRow] = MultiMap(part[RangeRow])
        self.steps: MultiMap[int, SequenceRow] = MultiMap(part[SequenceRow])
        self.step_names: MultiMap[str, SequenceRow] = MultiMap(part[SequenceRow])
        self.peak_names: MultiMap[str, PeakRow] = MultiMap(part[PeakRow])
        self._labels: MultiMap[type[Record], Record] = MultiMap()
        self._counts: Counter[type[Record]] = Counter()
        self._damaged: dict[Record, None] = {}
        self._tuple_sizes: Counter[tuple[str, int]] = Counter()
        self._tiled_values = 0
        self._rows: EntryRows | None = None
        self._maps: dict[type[Record], tuple[tuple[MultiMap[Any, Any], Callable[[Any], Any]], ...]]
        self._maps = {
            AllocationLine: ((self.allocations, attrgetter("number")),),
            AssignedValue: (
                (self.assigned, attrgetter("id")), (self.assigned_keys, _interned_key)
            ),
            UsedValue: ((self.entries, attrgetter("id")), (self.entry_keys, _interned_key)),
            RangeRow: ((self.ranges, _interned_key),),
            SequenceRow: (
                (self.steps, attrgetter("step")), (self.step_names, attrgetter("name"))
            ),
            PeakRow: ((self.peak_names, attrgetter("name")),),
            **dict.fromkeys(_LABELS, ((self._labels, type),)),
        }  # fmt: skip

    def changed(self, kinds: Iterable[type[Record]], *, sizes_only: bool) -> None:
        """Report a change of the records of some types to the queries that read them."""
        for kind in kinds:
            if kind in self._inputs:
                is_empty = not self._counts[kind]
                self._inputs[kind].change(sizes_only=sizes_only, is_empty=is_empty)

    def close(self) -> None:
        """Invalidate all queries that read this index."""
        self.changed(self._inputs, sizes_only=False)

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
    def damaged(self) -> Collection[Record]:
        """The malformed records."""
        self._inputs[BrokenRecord].read()
        self._inputs[UsedValue].read()
        return self._damaged.keys()

    @property
    def rows(self) -> "EntryRows":
        """Positions and uses by instruction, created on first access."""
        if self._rows is None:
            found = EntryRows(self._inputs[UsedValue])
            for count, entry in enumerate(self.entries.records()):
                found.update(entry, MultiMap.add)
                if count % _ENTRIES_PER_CHECKPOINT == 0:
                    checkpoint()
            self._rows = found
        return self._rows

    def label(self, kind: type[R]) -> R | None:
        """Return the first label record of this type."""
        self._inputs[kind].read()
        found = self._labels.first(kind)
        return found if isinstance(found, kind) else None

    def add(self, record: Record) -> None:
        """Add a record."""
        self._update(record, MultiMap.add, 1)

    def remove(self, record: Record) -> None:
        """Remove a record."""
        self._update(record, MultiMap.remove, -1)

    def _update(self, record: Record, change: RecordChange, count: int) -> None:
        kind = type(record)
        self._counts[kind] += count
        if kind is UsedValue and isinstance(record, UsedValue):
            if not record.whole:
                self._update_damaged(record, count)
            if record.id is None:
                return
            if self._rows is not None:
                self._rows.update(record, change)
        for records, key in self._maps.get(kind, ()):
            change(records, key(record), record)
        if kind is AssignedValue and isinstance(record, AssignedValue):
            if record.shape.startswith("(") and record.color != 7:  # SparseCore has no tuple tables
                pair = record.shape, record.size
                self._tuple_sizes[pair] += count
                if not self._tuple_sizes[pair]:
                    del self._tuple_sizes[pair]
            if "T(" in record.shape:
                self._tiled_values += count
        elif kind is BrokenRecord:
            self._update_damaged(record, count)

    def _update_damaged(self, record: Record, count: int) -> None:
        if count > 0:
            self._damaged[record] = None
        else:
            self._damaged.pop(record, None)


class EntryRows:
    """Entries by the instructions of their positions and uses."""

    def __init__(self, part: Input) -> None:
        self.positions: MultiMap[str, UsedValue] = MultiMap(part)
        self.uses: MultiMap[str, UsedValue] = MultiMap(part)

    def update(self, entry: UsedValue, change: RecordChange) -> None:
        """Add or remove an entry."""
        positions, uses = entry.row_names()
        for name in positions:
            change(self.positions, name, entry)
        for name in uses:
            change(self.uses, name, entry)
