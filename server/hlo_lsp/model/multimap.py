"""A map from keys to records that allows duplicate keys."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from hlo_lsp.syntax.records import Record

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
