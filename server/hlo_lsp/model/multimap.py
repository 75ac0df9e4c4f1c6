"""Records by key, where an edited file may hold several for one key."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from hlo_lsp.syntax.records import Record

K = TypeVar("K")
R = TypeVar("R", bound=Record)


class MultiMap(Generic[K, R]):
    """Keys with their records. Nearly every key has one."""

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
        """Enter a record."""
        old = self._records.setdefault(key, record)
        if isinstance(old, list):
            old.append(record)
        elif old is not record:
            self._records[key] = [old, record]

    def remove(self, key: K, record: R) -> None:
        """Take a record out that was entered under this key."""
        old = self._records.get(key)
        if isinstance(old, list):
            old.remove(record)
            if len(old) == 1:
                self._records[key] = old[0]
        elif old is record:
            del self._records[key]

    def first(self, key: K) -> R | None:
        """The record of a key that stands first in the file."""
        found = self._records.get(key)
        return min(found, key=_line) if isinstance(found, list) else found

    def all(self, key: K) -> list[R]:
        """The records of a key in the order of the file."""
        found = self._records.get(key)
        if found is None:
            return []
        return sorted(found, key=_line) if isinstance(found, list) else [found]

    def firsts(self) -> Iterator[R]:
        """For each key the record that stands first."""
        for found in self._records.values():
            yield min(found, key=_line) if isinstance(found, list) else found

    def records(self) -> Iterator[R]:
        """All records, in no order."""
        for found in self._records.values():
            if isinstance(found, list):
                yield from found
            else:
                yield found


def _line(record: Record) -> int:
    return record.line
