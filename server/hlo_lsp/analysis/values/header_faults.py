"""What can be wrong with the headers of values, each damage told once."""

from dataclasses import dataclass, field

from hlo_lsp.analysis.values.header_list import Header
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.value import LocatedRecord


@dataclass(frozen=True, slots=True)
class Doubled:
    """A header with the id of another in the same list; ``own`` is its id in the other list."""

    intruder: LocatedRecord[Header]
    twin: LocatedRecord[Header]
    own: int | None


@dataclass(frozen=True, slots=True)
class OutOfOrder:
    """A header with an id that does not belong between its neighbours.

    It changed places with another, or belongs in front of one, or at the end of the list.
    """

    header: LocatedRecord[Header]
    exchanged: LocatedRecord[Header] | None
    before: LocatedRecord[Header] | None


@dataclass(frozen=True, slots=True)
class Alone:
    """A value that one list has and the other lacks."""

    header: LocatedRecord[Header]


@dataclass(frozen=True, slots=True)
class Renumbered:
    """A value that has different ids in the two lists; the accused one is damaged."""

    accused: LocatedRecord[Header]
    other: LocatedRecord[Header]


@dataclass(frozen=True, slots=True)
class Renamed:
    """A value whose headers differ in a field (a terminal of the grammar)."""

    accused: LocatedRecord[Header]
    other: LocatedRecord[Header]
    field: str


@dataclass(frozen=True, slots=True)
class Short:
    """A list that ends too early: ``missing`` values are in the other one only."""

    file: DumpFile
    line: int
    missing: int
    what: str


@dataclass(slots=True)
class Disagreements:
    """What is wrong with the headers of a dump."""

    doubled: list[Doubled] = field(default_factory=list)
    out_of_order: list[OutOfOrder] = field(default_factory=list)
    unused: list[Alone] = field(default_factory=list)
    unassigned: list[Alone] = field(default_factory=list)
    renumbered: list[Renumbered] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    short: list[Short] = field(default_factory=list)

    @property
    def told(self) -> set[Header]:
        """The headers with an id that is not theirs: nothing else is said of them."""
        return {fault.intruder.record for fault in self.doubled} | {
            fault.accused.record for fault in self.renumbered
        }

    @property
    def suspects(self) -> set[int]:
        """The ids of values whose headers are not to be trusted."""
        found: set[int | None] = set()
        for doubled in self.doubled:
            found.update((doubled.intruder.record.id, doubled.own))
        for renumbered in self.renumbered:
            found.update((renumbered.accused.record.id, renumbered.other.record.id))
        found.update(renamed.accused.record.id for renamed in self.renamed)
        return {id_ for id_ in found if id_ is not None}
