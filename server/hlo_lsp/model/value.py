"""Values, joined from all files of a compile."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

if TYPE_CHECKING:
    from hlo_lsp.model.dump_file import DumpFile

R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class LocatedRecord(Generic[R_co]):
    """A record together with its file."""

    file: "DumpFile"
    record: R_co

    @property
    def line(self) -> int:
        """The current first line of the record, from 0."""
        return self.record.line

    @property
    def number(self) -> int:
        """The line number for display, from 1 in the whole text."""
        return self.file.first_line + self.record.line + 1


@dataclass(frozen=True, slots=True)
class Value:
    """An HloValue: the result of an instruction at one shape index.

    Records are None if no file of the compile contains them.
    """

    id: int
    name: str
    index: str | None
    phi: bool
    color: int | None
    assigned: LocatedRecord[AssignedValue] | None
    allocation: LocatedRecord[AllocationLine] | None
    entry: LocatedRecord[UsedValue] | None
    live: LocatedRecord[RangeRow] | None

    @property
    def key(self) -> str:
        """Name and index in the notation of live ranges."""
        return self.name + (self.index or "{}")

    @property
    def mention(self) -> str:
        """The value in XLA's notation: ``<328 fusion.40{0} @0>``."""
        color = "" if self.color is None else f" @{self.color}"
        return f"<{self.id} {self.name}{self.index or ''}{' (phi)' if self.phi else ''}{color}>"
