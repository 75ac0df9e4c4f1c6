"""Sizes with padding, behind the shapes of arrays that take more than their elements."""

from collections.abc import Iterator

from hlo_lsp.analysis.shapes.sizes import (
    PaddedSize,
    logical_bytes,
    padded_size_of,
)
from hlo_lsp.analysis.shapes.target import target_of
from hlo_lsp.model.bytesize import readable, short
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import Array, try_shape
from hlo_lsp.syntax.grammar import load

# An end of an array's shape in a text, its label and what makes its tooltip.
SizeNote = tuple[int, str, str]


def size_notes(dump: DumpSet, text: str, key: str | None = None) -> Iterator[SizeNote]:
    """For each array of a shape where it ends, a label and a tooltip, if it is padded.

    ``key`` is the value of this shape, whose size is known where XLA printed it. Without one only
    a tiled layout tells how an array lies in memory: before buffer assignment, and inside of
    fusions, an untiled shape says nothing of it.
    """
    actual, color = (None, 0) if key is None else _printed(dump, key)
    whole = text.rstrip()
    for match in load("lexemes").expression("lexeme").finditer(text):
        if match.lastgroup != "ARRAY":
            continue
        is_whole = match[0] == whole
        size = actual if is_whole else None
        if size is None and "T(" not in match[0]:
            continue
        note = _note(dump, match[0], color, size)
        if note is not None:
            yield match.end(), *note


def elements_note(dump: DumpSet, text: str, size: int, color: int) -> tuple[str, str] | None:
    """The same the other way round for a line that prints a ``size``: what of it is no padding.

    None where the shape does not take that size: a rule tells of it, and more is not known.
    """
    shape = try_shape(text)
    logical = logical_bytes(shape) if isinstance(shape, Array) else None
    padded = padded_size_of(text, target_of(dump), color)
    if logical is None or logical == size or (padded is not None and padded.bytes != size):
        return None
    return f"padded from {short(logical)}", _tooltip(dump, text, color, logical, size)


def _printed(dump: DumpSet, key: str) -> tuple[int | None, int]:
    """The bytes of a value that XLA printed, and its memory space."""
    value = dump.value_of_key(key)
    if value is None:
        return None, 0
    size = None if value.assigned is None else value.assigned.record.size
    return size, value.color or 0


def _note(dump: DumpSet, text: str, color: int, actual: int | None) -> tuple[str, str] | None:
    shape = try_shape(text)
    logical = logical_bytes(shape) if isinstance(shape, Array) else None
    size = actual
    if size is None:
        padded = padded_size_of(text, target_of(dump), color)
        size = None if padded is None else padded.bytes
    if logical is None or size is None or size == logical:
        return None
    return f"padded {short(size)}", _tooltip(dump, text, color, logical, size)


def _tooltip(dump: DumpSet, text: str, color: int, logical: int, size: int) -> str:
    found = padded_size_of(text, target_of(dump), color)
    words = f"{readable(size)} in memory, {readable(logical)} without padding"
    return words if found is None or found.bytes != size else f"{words}: {_causes(found)}"


def _causes(padded: PaddedSize) -> str:
    causes = [f"{each.what} {each.before:,} -> {each.after:,}" for each in padded.padding]
    return f"{padded.rule} ({', '.join(causes)})" if causes else padded.rule
