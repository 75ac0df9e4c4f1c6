"""Inlay hints as plain data, and the hint that shows an allocation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from hlo_lsp.ide.hover.summaries import value_summary
from hlo_lsp.model.display import format_bytes
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Value
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

# Visual Studio Code does not render a line beyond this column (editor.stopRenderingLineAfter).
MAX_HINT_COLUMN = 10_000


class HintKind(Enum):
    """Kinds of hints; the values are the names of the settings that disable them."""

    PADDED_SIZE = "paddedSize"
    ALLOCATION = "allocation"
    SOURCE = "source"
    OPERAND_SHAPE = "operandShapes"
    PARAMETER_NAME = "parameterNames"
    STEP = "steps"


@dataclass(frozen=True, slots=True)
class Hint:
    """A label at a line and column, with a callable that returns its tooltip.

    Line and column are counted from 0, columns in code points. If ``is_before``, the hint belongs
    to the text after it, otherwise to the text before it.
    """

    kind: HintKind
    line: int
    column: int
    label: str
    explain: Callable[[], str] = field(compare=False, repr=False)
    is_before: bool = False


class HintContext:
    """The compile and file of a request, and the kinds of hints to show."""

    def __init__(self, dump: DumpSet, file: DumpFile, kinds: frozenset[HintKind]) -> None:
        self.dump = dump
        self.file = file
        self.kinds = kinds
        self._callers: dict[ComputationLine, list[InstructionLine]] = {}

    def callers(self, computation: ComputationLine) -> list[InstructionLine]:
        """Return the instructions that call a computation."""
        if computation not in self._callers:
            self._callers[computation] = self.file.module.callers(computation)
        return self._callers[computation]


Hints = Iterator[Hint]


def allocation_hint_by_key(dump: DumpSet, key: str) -> tuple[str, Callable[[], str]] | None:
    """Return :func:`allocation_hint` of the value with this name and shape index."""
    value = dump.value_of_key(key)
    return None if value is None else allocation_hint(dump, value)


def allocation_hint(dump: DumpSet, value: Value) -> tuple[str, Callable[[], str]] | None:
    """Return the label and the tooltip of a value's allocation, or None if it has none.

    The label is ``allocation 2+512``: its number and the value's offset in bytes.
    """
    if value.allocation is None or value.assigned is None:
        return None
    offset = value.assigned.record.offset
    label = f"allocation {value.allocation.record.number}{f'+{offset}' if offset else ''}"
    return label, partial(_allocation_tooltip, dump, value)


def _allocation_tooltip(dump: DumpSet, value: Value) -> str:
    assert value.allocation is not None
    assert value.assigned is not None
    allocation, assigned = value.allocation.record, value.assigned.record
    return (
        f"{value.mention}: {format_bytes(assigned.size)} at offset {assigned.offset:,} "
        f"of allocation {allocation.number} ({format_bytes(allocation.size)}); "
        f"{value_summary(dump, value)}"
    )
