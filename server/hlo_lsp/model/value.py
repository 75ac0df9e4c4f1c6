"""A value with all that the files of its compile say of it."""

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
    """A record and the file in which it stands."""

    file: "DumpFile"
    record: R_co

    @property
    def line(self) -> int:
        """The first line of the record, from 0, as it is now."""
        return self.record.line

    @property
    def number(self) -> int:
        """The same line as people count them: from 1, in the whole text."""
        return self.file.first_line + self.record.line + 1


@dataclass(frozen=True, slots=True)
class Value:
    """A buffer of the program: one leaf of what one instruction produces.

    Parts are None where no file of the compile holds them.
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
        """Name and index as live ranges print them."""
        return self.name + (self.index or "{}")

    @property
    def mention(self) -> str:
        """The value as XLA writes it: ``<328 fusion.40{0} @0>``."""
        color = "" if self.color is None else f" @{self.color}"
        return f"<{self.id} {self.name}{self.index or ''}{' (phi)' if self.phi else ''}{color}>"
