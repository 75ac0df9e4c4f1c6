"""Python lines: from metadata of an instruction, through the location tables of its module."""

from collections.abc import Iterable, Iterator
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

    files: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    locations: list[LocationRow] = field(default_factory=list)
    frames: list[FrameRow] = field(default_factory=list)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "SourceTables":
        """The tables at the head of a module."""
        tables = cls()
        names: list[str] = []
        for record in records:
            if isinstance(record, TableLabel):
                names = tables.files if record.table == "FileNames" else tables.functions
            elif isinstance(record, NameRow):
                names.append(record.text)
            elif isinstance(record, LocationRow):
                tables.locations.append(record)
            elif isinstance(record, FrameRow):
                tables.frames.append(record)
            elif isinstance(record, ComputationLine):
                break
        return tables

    def stack(self, frame_id: int) -> Iterator[SourceLine]:
        """The lines of a call stack, the innermost first. Stops at a row that is not there."""
        seen: set[int] = set()
        frame: int | None = frame_id
        while frame is not None and 0 < frame <= len(self.frames) and frame not in seen:
            seen.add(frame)
            row = self.frames[frame - 1]
            line = self._line(row.location)
            if line is None:
                return
            yield line
            frame = row.parent

    def _line(self, location_id: int) -> SourceLine | None:
        if not 0 < location_id <= len(self.locations):
            return None
        location = self.locations[location_id - 1]
        if not 0 < location.file <= len(self.files):
            return None
        known = 0 < location.function <= len(self.functions)
        function = self.functions[location.function - 1] if known else None
        return SourceLine(self.files[location.file - 1], location.source_line, function)
