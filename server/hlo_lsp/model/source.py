"""Python lines: from metadata of an instruction, through the location tables of its module."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

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


_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Prefixes of file names in dumps, the longest first, each with the path that it stands for."""

    rules: tuple[tuple[str, Path], ...] = ()

    @classmethod
    def of(
        cls, setting: object, here: Callable[[str], Path | None] = Path
    ) -> "tuple[SourceMap, list[str]]":
        """The map of a setting ``{"path in the dump": "path here"}``, and what is wrong with it.

        ``here`` makes a path of what the user wrote, or None where that leads nowhere. Nothing is
        raised: what cannot be used is left out and told in a sentence.
        """
        if setting is None or setting == []:  # Lua has one empty table for both
            return cls(), []
        if not isinstance(setting, dict):
            return cls(), ['must be an object {"path in the dump": "path here"}']
        rules: list[tuple[str, Path]] = []
        complaints: list[str] = []
        for prefix, target in setting.items():
            path = here(target) if isinstance(target, str) and target else None
            if path is not None:
                rules.append((str(prefix), path))
            elif isinstance(target, str):
                complaints.append(f'the path "{target}" for "{prefix}" leads nowhere')
            else:
                complaints.append(f'what "{prefix}" stands for must be a path in quotes')
        rules.sort(key=lambda rule: -len(_pure_path(rule[0]).parts))
        return cls(tuple(rules)), complaints

    def candidates(self, source_file: str) -> list[Path]:
        """Where a file of a dump may be, the likeliest first: by the longest prefix, and as named.

        A prefix covers whole components of a path. The prefix ``.`` covers all relative names.
        """
        name = _pure_path(source_file)
        found = []
        for prefix, path in self.rules:
            start = type(name)(prefix)
            if name.is_relative_to(start):
                found.append(path.joinpath(*name.relative_to(start).parts))
                break
        itself = Path(source_file)
        return [*found, itself] if itself.is_absolute() else found


class SourceFiles:
    """The files of dumps that are here, each looked for once.

    Made anew for every request: what it remembers of the disk is never older than that.
    """

    def __init__(self, source_map: SourceMap) -> None:
        self._map = source_map
        self._known: dict[str, Path | None] = {}

    def resolve(self, source_file: str) -> Path | None:
        """The file that a dump names, or None if it is not on this machine."""
        if source_file not in self._known:
            candidates = self._map.candidates(source_file)
            self._known[source_file] = next(filter(os.path.isfile, candidates), None)
        return self._known[source_file]

    def uri(self, source: SourceLine) -> str | None:
        """A link to a Python line (``#L7`` as VS Code reads it), or None if there is no file."""
        path = self.resolve(source.file)
        return None if path is None else f"{path.as_uri()}#L{source.line}"


def _pure_path(name: str) -> PurePath:
    """A path of the machine that a name was written on."""
    windows = _WINDOWS_PATH.match(name) or ("\\" in name and "/" not in name)
    return PureWindowsPath(name) if windows else PurePosixPath(name)
