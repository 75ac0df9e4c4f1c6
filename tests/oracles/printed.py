"""The facts that XLA printed about one compile: the reference for the package.

The reader uses plain ``str`` methods on lines and shares no code with the package.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

# Up to jax 0.4.35, no line break follows an instruction, so the next entry is on the same line.
_JOINED_ENTRY = re.compile(r"<\d+ [^ <>]+(?: \(phi\))? @\d+>$")
_INSTRUCTION = re.compile(r" +(?:ROOT )?%?([\w.\-]+) = ")


class Spot(NamedTuple):
    """A line of a file, counted from 0, and the column of its name."""

    path: Path
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Row:
    """A position or a use of a value; a position has no operand."""

    name: str
    operand: int | None
    index: str | None
    spot: Spot


@dataclass(slots=True)
class PeakRow:
    """A row at the declared peak; old forms have no cumulative sum, the oldest has no index.

    ``key`` is the value by name and index; in the old form it follows from the order of live
    ranges.
    """

    name: str
    index: str | None
    bytes: int
    cumulative: int | None
    spot: Spot
    key: str = ""


@dataclass
class Header:
    """A value header, such as ``<328 fusion.40{0} (phi) @0>``."""

    id: int
    name: str
    index: str | None
    phi: bool
    color: int
    spot: Spot

    @property
    def key(self) -> str:
        return self.name + (self.index or "{}")


@dataclass
class AssignedValue(Header):
    """A value in an allocation."""

    allocation: int
    size: int
    offset: int
    shape: str


@dataclass
class Entry(Header):
    """A value under ``Used values``."""

    positions: list[Row] = field(default_factory=list)
    uses: list[Row] = field(default_factory=list)
    instruction: str = ""
    instruction_line: int = -1


@dataclass
class PrintedFacts:
    """The printed facts of a compile, by id and by name and index."""

    allocations: dict[int, tuple[int, Spot]] = field(default_factory=dict)
    assigned: dict[int, AssignedValue] = field(default_factory=dict)
    entries: dict[int, Entry] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int, Spot]] = field(default_factory=dict)
    schedule: dict[str, tuple[int, Spot]] = field(default_factory=dict)
    peak: list[PeakRow] = field(default_factory=list)
    instructions: dict[str, Spot] = field(default_factory=dict)
    last_step: int | None = None
    peak_step: int | None = None
    total: int | None = None

    def __post_init__(self) -> None:
        self.entry_by_key: dict[str, Entry] = {}
        self.assigned_by_key: dict[str, AssignedValue] = {}


def read(paths: list[Path]) -> PrintedFacts:
    """Read the memory files and the module text of a compile."""
    printed = PrintedFacts()
    for path in paths:
        lines = path.read_bytes().decode().split("\n")
        if lines[0].startswith("HloModule"):
            for number, line in enumerate(lines):
                match = _INSTRUCTION.match(line)
                if match is not None:
                    printed.instructions[match[1]] = Spot(path, number, match.start(1))
        else:
            _Reader(printed, path).read(lines)
    _name_peaks(printed)
    printed.entry_by_key = {entry.key: entry for entry in printed.entries.values()}
    printed.assigned_by_key = {value.key: value for value in printed.assigned.values()}
    return printed


def _name_peaks(printed: PrintedFacts) -> None:
    peak_step = printed.peak_step or 0
    live = [key for key, (start, end, _) in printed.ranges.items() if start <= peak_step <= end]
    for place, row in enumerate(printed.peak):
        row.key = live[place] if row.index is None else row.name + row.index
        assert row.key.startswith(row.name + "{")


class _Reader:
    """A reader of one memory file; ``section`` is the kind of rows without a prefix."""

    def __init__(self, printed: PrintedFacts, path: Path) -> None:
        self.printed = printed
        self.path = path
        self.section = ""
        self.allocation = -1
        self.entry: Entry | None = None

    def read(self, lines: list[str]) -> None:
        for number, line in enumerate(lines):
            if line and not self._head(line, number):
                self._row(line, number)

    def _spot(self, number: int, column: int) -> Spot:
        return Spot(self.path, number, column)

    def _head(self, line: str, number: int) -> bool:
        """Return whether the line begins a section or is complete by itself."""
        out = self.printed
        if line.startswith("allocation "):
            words = line.replace(",", ":").split(":")
            self.allocation = int(words[0].split()[1])
            out.allocations[self.allocation] = int(words[1].split()[1]), self._spot(number, 0)
        elif line.startswith(" value: <"):
            self._assigned(line, number)
        elif line.startswith("Total bytes used: "):
            out.total = int(line.split()[3])
        elif line.startswith("<"):
            self._begin_entry(line, self._spot(number, 0))
        elif line.startswith(" from instruction:"):
            assert self.entry is not None
            joined = _JOINED_ENTRY.search(line)
            end = len(line) if joined is None else joined.start()
            self.entry.instruction = line[:end].split(":", 1)[1].lstrip()
            self.entry.instruction_line = number
            if joined is not None:
                self._begin_entry(line[end:], self._spot(number, end))
        elif line.startswith("HloLiveRange (max "):
            out.last_step = int(line.split()[2].rstrip("):"))
        elif line.startswith("  Live ranges at "):
            self.section = "peak"
            out.peak_step = int(line.split()[3])
        elif line.endswith(":") or line.startswith("  Stack trace"):
            self.section = line.strip().rstrip(":")
        else:
            return False
        return True

    def _begin_entry(self, header: str, spot: Spot) -> None:
        self.entry = Entry(*_header(header), spot=spot)
        self.printed.entries[self.entry.id] = self.entry

    def _assigned(self, line: str, number: int) -> None:
        head, rest = line.split("> (size=", 1)
        size, rest = rest.split(",offset=", 1)
        offset, shape = rest.split("): ", 1)
        header = _header(head.removeprefix(" value: ") + ">")
        value = AssignedValue(
            *header, self._spot(number, 8), self.allocation, int(size), int(offset), shape
        )
        self.printed.assigned[value.id] = value

    def _row(self, line: str, number: int) -> None:
        text = line.strip()
        spot = self._spot(number, len(line) - len(line.lstrip()))
        out = self.printed
        if self.section == "positions" and self.entry is not None:
            name, index = _indexed(text)
            self.entry.positions.append(Row(name, None, index, spot))
        elif self.section == "uses" and self.entry is not None:
            if text != "(none)":
                name, rest = text.split(", operand ")
                operand, index = _indexed(rest)
                self.entry.uses.append(Row(name, int(operand), index, spot))
        elif self.section == "InstructionSequence":
            step, name = text.split(":")
            out.schedule[name] = int(step), self._spot(number, line.index(":") + 1)
        elif self.section == "BufferLiveRange":
            key, span = text.rsplit(":", 1)
            start, end = span.split("-")
            out.ranges[key] = int(start), int(end), spot
        elif self.section == "peak":
            key, rest = text.split(": ", 1)
            name, brace, index = key.partition("{")
            words = rest.replace(")", "").split()
            cumulative = int(words[3]) if len(words) > 3 else None
            row = PeakRow(name, brace + index or None, int(words[0]), cumulative, spot)
            out.peak.append(row)


def _header(text: str) -> tuple[int, str, str | None, bool, int]:
    words = text[1:-1].split(" ")
    name, brace, index = words[1].partition("{")
    return int(words[0]), name, brace + index or None, "(phi)" in words, int(words[-1][1:])


def _indexed(text: str) -> tuple[str, str | None]:
    name, _, index = text.partition(" ")
    return name, index or None
