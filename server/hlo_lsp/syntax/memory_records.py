"""The records of the memory files: allocations, values, live ranges and reports.

Sizes and offsets are in bytes. Instruction names have no ``%``. Names and shapes are interned, as
they occur in several files of a compile and in many lines.
"""

from dataclasses import dataclass
from re import Match
from sys import intern

from hlo_lsp.syntax.records import Record


@dataclass(slots=True, eq=False)
class AllocationLine(Record):
    """``allocation 3: size 20992, color 1, preallocated-temp:``."""

    rule = "allocation_line"
    is_head = True
    number: int
    size: int
    color: int
    parameter: int | None
    parameter_index: str | None
    parameter_shape: str | None
    output_shape: str | None
    constant: bool
    thread_local: bool
    maybe_live_out: bool
    preallocated_temp: bool

    @property
    def is_fixed(self) -> bool:
        """True if its bytes are occupied at all steps; XLA reuses those of temp allocations only.

        Thread-local allocations are not scheduled.
        """
        return not (self.preallocated_temp or self.thread_local)


@dataclass(slots=True, eq=False)
class AssignedValue(Record):
    """`` value: <328 fusion.40{0} @0> (size=512,offset=49152): u32[1]{0:T(128)}``."""

    rule = "assigned_value_line"
    id: int
    name: str
    index: str | None
    phi: bool
    color: int | None
    size: int
    offset: int
    shape: str

    @classmethod
    def of(cls, match: Match[str]) -> "AssignedValue":
        """Read from a match of the rule."""
        id_, name, index, phi, color, size, offset, shape = match.groups()
        return cls(
            int(id_),
            intern(name),
            None if index is None else intern(index),
            phi is not None,
            None if color is None else int(color),
            int(size),
            int(offset),
            intern(shape),
        )

    @property
    def key(self) -> str:
        """Name and index as live ranges print them: ``fusion.40{0}``, ``add.3{}``."""
        return self.name + (self.index or "{}")

    @property
    def label(self) -> str:
        """Name and index for display, without the index of a whole array."""
        return self.name + (self.index or "")

    def differs_only_in_place(self, other: "AssignedValue") -> bool:
        """Return True if all fields except size and offset are equal."""
        return (
            self.id == other.id
            and self.name == other.name
            and self.index == other.index
            and self.phi == other.phi
            and self.color == other.color
            and self.shape == other.shape
        )


@dataclass(slots=True, eq=False)
class TotalLine(Record):
    """``Total bytes used: 172580 (168.5KiB)``."""

    rule = "total_line"
    is_head = True
    total: int
    human: str


@dataclass(slots=True, eq=False)
class LiveRangeLabel(Record):
    """``HloLiveRange (max 14):``; ``max`` is the number of steps of the schedule."""

    rule = "live_range_label"
    is_head = True
    max: int


@dataclass(slots=True, eq=False)
class SequenceRow(Record):
    """``    5:fusion.2``: the instruction that runs at a step of the schedule."""

    rule = "sequence_row"
    step: int
    name: str

    @classmethod
    def of(cls, match: Match[str]) -> "SequenceRow":
        """Read from a match of the rule."""
        return cls(int(match["STEP"]), intern(match["NAME"]))


@dataclass(slots=True, eq=False)
class RangeRow(Record):
    """``    fusion.5{}:10-13``: the definition step and the end step of a value, both inclusive."""

    rule = "range_row"
    name: str
    index: str
    start_step: int
    end_step: int

    @classmethod
    def of(cls, match: Match[str]) -> "RangeRow":
        """Read from a match of the rule."""
        name, index, start, end = match.groups()
        return cls(intern(name), intern(index), int(start), int(end))

    @property
    def key(self) -> str:
        """Name and index together, as printed."""
        return self.name + self.index


@dataclass(slots=True, eq=False)
class PeakLabel(Record):
    """``  Live ranges at 13 (peak):``; ``moment`` is a schedule step."""

    rule = "peak_label"
    is_head = True
    moment: int


@dataclass(slots=True, eq=False)
class PeakRow(Record):
    """``    fusion{}: 2048 bytes (cumulative: 43008 bytes)``: logical sizes without padding.

    jaxlib up to 0.6.0 and libtpu up to 0.0.15 print no cumulative size. jax up to 0.5.3 prints no
    index either; ``bytes`` is then the size of the whole instruction.
    """

    rule = "peak_row"
    name: str
    index: str | None
    bytes: int
    cumulative: int | None

    @property
    def key(self) -> str | None:
        """Name and index as printed, or None in the old form without an index."""
        return None if self.index is None else self.name + self.index


@dataclass(slots=True, eq=False)
class BreakdownRow(Record):
    """A node of the call stack tree at the peak; the ``depth`` of the root is 0."""

    rule = "breakdown_row"
    depth: int
    title: str
    total: int
    current: int
    remaining: int


@dataclass(slots=True, eq=False)
class SpaceLine(Record):
    """``Memory Space: vmem (color=1)``: the head of a section of the report."""

    rule = "space_line"
    is_head = True
    name: str
    color: int


@dataclass(slots=True, eq=False)
class TableRow(Record):
    """A row of a report table: the values at one offset of an allocation."""

    rule = "table_row"
    offset: int
    value_count: int
    shapes: str


@dataclass(slots=True, eq=False)
class ReportedAllocation(Record):
    """An allocation with its table in the reports of jaxlib up to 0.9.1."""

    rule = "reported_allocation"
    is_head = True
    number: int
    human: str


class ListedAllocation(ReportedAllocation):
    """An allocation in the list before those tables."""

    __slots__ = ()
    rule = "by_size_row"
