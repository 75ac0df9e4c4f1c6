"""What a hint is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from hlo_lsp.ide.hover.summaries import value_summary
from hlo_lsp.model.bytesize import format_bytes
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Value
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

# Characters of a line behind which nothing is told: Visual Studio Code stops to draw there
# (editor.stopRenderingLineAfter).
MAX_HINT_COLUMN = 10_000


class HintKind(Enum):
    """The kinds of hints, each by the name of the setting that turns it off."""

    PADDED_SIZE = "paddedSize"
    ALLOCATION = "allocation"
    SOURCE = "source"
    OPERAND_SHAPE = "operandShapes"
    PARAMETER_NAME = "parameterNames"
    STEP = "steps"


@dataclass(frozen=True, slots=True)
class Hint:
    """A label at a line and column (from 0, code points); ``explain`` makes its tooltip.

    ``is_before`` says that it belongs to what stands behind it, else to what stands in front.
    """

    kind: HintKind
    line: int
    column: int
    label: str
    explain: Callable[[], str] = field(compare=False, repr=False)
    is_before: bool = False


class HintContext:
    """The file that hints are wanted for, its compile, the kinds that are wanted.

    It remembers what is the same for all instructions of a computation.
    """

    def __init__(self, dump: DumpSet, file: DumpFile, kinds: frozenset[HintKind]) -> None:
        self.dump = dump
        self.file = file
        self.kinds = kinds
        self._callers: dict[ComputationLine, list[InstructionLine]] = {}

    def callers(self, computation: ComputationLine) -> list[InstructionLine]:
        """The instructions that call a computation, looked for once."""
        if computation not in self._callers:
            self._callers[computation] = self.file.module.callers(computation)
        return self._callers[computation]


Hints = Iterator[Hint]


def allocation_hint_by_key(dump: DumpSet, key: str) -> tuple[str, Callable[[], str]] | None:
    """``allocation 2+512`` (number and offset in bytes) of a value, and what makes its tooltip."""
    value = dump.value_of_key(key)
    return None if value is None else allocation_hint(dump, value)


def allocation_hint(dump: DumpSet, value: Value) -> tuple[str, Callable[[], str]] | None:
    """The same of a value that is known."""
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
        f"{value.mention}: {format_bytes(assigned.size)} at offset {assigned.offset:,} of allocation"
        f" {allocation.number} ({format_bytes(allocation.size)}); {value_summary(dump, value)}"
    )
