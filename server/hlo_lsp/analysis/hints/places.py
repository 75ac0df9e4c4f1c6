"""Allocations behind the names of values."""

from collections.abc import Callable
from functools import partial

from hlo_lsp.analysis.cursor.summaries import value_summary
from hlo_lsp.model.bytesize import readable
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Value


def allocation_note(dump: DumpSet, key: str) -> tuple[str, Callable[[], str]] | None:
    """``allocation 2+512`` (number and offset in bytes) of a value, and what makes its tooltip."""
    value = dump.value_of_key(key)
    return None if value is None else note_of(dump, value)


def note_of(dump: DumpSet, value: Value) -> tuple[str, Callable[[], str]] | None:
    """The same of a value that is known."""
    if value.allocation is None or value.assigned is None:
        return None
    offset = value.assigned.record.offset
    label = f"allocation {value.allocation.record.number}{f'+{offset}' if offset else ''}"
    return label, partial(_words, dump, value)


def _words(dump: DumpSet, value: Value) -> str:
    assert value.allocation is not None
    assert value.assigned is not None
    allocation, assigned = value.allocation.record, value.assigned.record
    return (
        f"{value.mention}: {readable(assigned.size)} at offset {assigned.offset:,} of allocation"
        f" {allocation.number} ({readable(allocation.size)}); {value_summary(dump, value)}"
    )
