"""The fields of records except for their positions."""

from collections.abc import Sequence

from hlo_lsp.syntax.record_sequence import Scanner
from hlo_lsp.syntax.records import Record

_PLACE = {"block", "start"}


def record_fields(record: Record) -> tuple[str, dict[str, object]]:
    """Return the type of a record and its fields."""
    return type(record).__name__, {
        name: getattr(record, name)
        for kind in type(record).__mro__
        for name in getattr(kind, "__slots__", ())
        if name not in _PLACE
    }


def read_all(scanner: Scanner, lines: Sequence[str]) -> list[Record]:
    """Return the records of some lines."""
    records: list[Record] = []
    at = 0
    while at < len(lines):
        records.append(scanner.read(lines, at))
        at += records[-1].line_count
    assert at == len(lines)
    return records
