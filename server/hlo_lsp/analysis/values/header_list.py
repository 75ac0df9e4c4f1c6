"""One of the two lists in which a dump prints the headers of its values."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from hlo_lsp.analysis.assignment.ordering import misplaced
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.multimap import MultiMap
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

Header = AssignedValue | UsedValue
H = TypeVar("H", bound=Header)
Key = tuple[str | None, str | None, bool, int | None]


class HeaderList:
    """The headers of a file, by id, by name, and in groups within which ids ascend.

    Headers may be in no group: then nothing is known of what stands beside them.
    """

    def __init__(
        self,
        file: DumpFile,
        ids: MultiMap[int, Any],
        keys: MultiMap[str, Any],
        groups: Sequence[Sequence[Header]],
    ) -> None:
        self.file = file
        self.ids: MultiMap[int, Header] = ids
        self.keys: MultiMap[str, Header] = keys
        self.groups = groups

    def located(self, record: H) -> LocatedRecord[H]:
        """A header of the list with its file."""
        return LocatedRecord(self.file, record)

    @cached_property
    def out_of_order(self) -> set[Header]:
        """The headers whose ids do not ascend where they stand."""
        return {group[fault.at] for group in self.groups for fault in misplaced(ids_of(group))}

    def fits(self, record: Header, id_: int) -> bool:
        """Whether an id would ascend where this header stands."""
        place = self._places.get(record)
        if place is None:
            return True
        group, at = place
        before = group[at - 1].id if at else None
        after = group[at + 1].id if at + 1 < len(group) else None
        return (before is None or before < id_) and (after is None or id_ < after)

    def distance(self, record: Header, id_: int) -> int:
        """How far an id is from that of the header above this one; ids are often neighbours."""
        place = self._places.get(record)
        above = place[0][place[1] - 1].id if place is not None and place[1] else None
        return abs(id_ - (above or 0))

    @cached_property
    def _places(self) -> dict[Header, tuple[Sequence[Header], int]]:
        return {record: (group, at) for group in self.groups for at, record in enumerate(group)}


def ids_of(headers: Iterable[Header]) -> list[int]:
    """Their ids in order."""
    return [header.id for header in headers if header.id is not None]


def key_of(header: Header) -> Key:
    """All that a header says beside the id."""
    return header.name, header.index, header.phi, header.color


def line_of(record: Record) -> int:
    """The line of a record, to sort by."""
    return record.line
