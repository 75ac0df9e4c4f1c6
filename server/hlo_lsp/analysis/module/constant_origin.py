"""Whether a constant of the compiled program is in the program that was handed to XLA."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.module.printed_module import original_module
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import Array, BufferShape, Shape, TupleShape, try_shape


class Origin(Enum):
    """Where a constant comes from."""

    PROGRAM = "a constant of as many elements is in the text before optimizations"
    XLA = "the text before optimizations has no constant of as many elements, or of more"
    UNKNOWN = "there is no such text, or it has larger constants only"


@dataclass(frozen=True, slots=True)
class _Counts:
    """The numbers of elements of all constants of a text; ``is_whole`` if all are known."""

    elements: frozenset[int]
    is_whole: bool


def constant_origin(dump: DumpSet, shape: str) -> Origin:
    """Return where a constant of the compiled program comes from.

    Passes transpose, convert, slice and partition the constants of a program, which adds no
    elements. A constant with more elements than any before optimizations is therefore the result
    of an operation that XLA evaluated.
    """
    original = original_module(dump)
    count = _elements(shape)
    if original is None or count is None:
        return Origin.UNKNOWN
    known = dump.derived(_original_counts, [original])
    if count in known.elements:
        return Origin.PROGRAM
    if not known.is_whole or any(other > count for other in known.elements):
        return Origin.UNKNOWN
    return Origin.XLA


def _original_counts(dump: DumpSet) -> _Counts:
    original = original_module(dump)
    counts: set[int | None] = set()
    if original is not None:
        for record in original.module.instructions.records():
            if record.opcode == "constant":
                shape = try_shape(record.shape)
                counts.update((None,) if shape is None else map(_count, _arrays(shape)))
    return _Counts(frozenset(count for count in counts if count is not None), None not in counts)


def _elements(text: str) -> int | None:
    shape = try_shape(text)
    return _count(shape) if isinstance(shape, Array) else None


def _count(array: Array) -> int | None:
    return array.elements


def _arrays(shape: Shape) -> Iterator[Array]:
    if isinstance(shape, Array):
        yield shape
    elif isinstance(shape, BufferShape):
        yield from _arrays(shape.shape)
    elif isinstance(shape, TupleShape):
        for element in shape.elements:
            yield from _arrays(element)
