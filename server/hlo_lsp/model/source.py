"""Python lines: from metadata of an instruction, through the location tables of its module."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlo_lsp.syntax.module_records import (
    ComputationLine,
    FrameRow,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a Python file, counted from 1."""

    file: str
    line: int
    function: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(slots=True)
class SourceTables:
    """The four tables of a module. A row is found by its place; the number in front is ignored
    by XLA's parser."""

    file_rows: list[NameRow] = field(default_factory=list)
    function_rows: list[NameRow] = field(default_factory=list)
    locations: list[LocationRow] = field(default_factory=list)
    frames: list[FrameRow] = field(default_factory=list)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "SourceTables":
        """The tables at the head of a module."""
        tables = cls()
        names: list[NameRow] = []
        for record in records:
            if isinstance(record, TableLabel):
                names = tables.file_rows if record.table == "FileNames" else tables.function_rows
            elif isinstance(record, NameRow):
                names.append(record)
            elif isinstance(record, LocationRow):
                tables.locations.append(record)
            elif isinstance(record, FrameRow):
                tables.frames.append(record)
            elif isinstance(record, ComputationLine):
                break
        return tables

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return [row.text for row in self.file_rows]

    @property
    def functions(self) -> list[str]:
        """The names of the functions."""
        return [row.text for row in self.function_rows]

    @property
    def rows(self) -> Mapping[str, Sequence[Record]]:
        """The rows of every table, by its label."""
        return {
            "FileNames": self.file_rows,
            "FunctionNames": self.function_rows,
            "FileLocations": self.locations,
            "StackFrames": self.frames,
        }

    @property
    def is_empty(self) -> bool:
        """Whether the module has no tables: then there is nothing to resolve."""
        return not any(self.rows.values())

    def stack(self, frame_id: int) -> Iterator[SourceLine]:
        """The lines of a call stack, the innermost first. Stops at a row that is not there."""
        seen: set[int] = set()
        frame: int | None = frame_id
        while frame is not None and 0 < frame <= len(self.frames) and frame not in seen:
            seen.add(frame)
            row = self.frames[frame - 1]
            line = self.line_of(row.location)
            if line is None:
                return
            yield line
            frame = row.parent

    def line_of(self, location_id: int) -> SourceLine | None:
        """The Python line of a location, counted from 1."""
        if not 0 < location_id <= len(self.locations):
            return None
        location = self.locations[location_id - 1]
        if not 0 < location.file <= len(self.file_rows):
            return None
        known = 0 < location.function <= len(self.function_rows)
        function = self.function_rows[location.function - 1].text if known else None
        return SourceLine(self.file_rows[location.file - 1].text, location.source_line, function)
