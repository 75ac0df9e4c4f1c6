"""Python source lines of instructions: location tables, path mapping and local files."""

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
    """A line of a Python file; lines count from 1."""

    file: str
    line: int
    function: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(slots=True)
class SourceTables:
    """The four source location tables of a module.

    The position of a row is its id; XLA's parser ignores the printed number.
    """

    file_rows: list[NameRow] = field(default_factory=list)
    function_rows: list[NameRow] = field(default_factory=list)
    locations: list[LocationRow] = field(default_factory=list)
    frames: list[FrameRow] = field(default_factory=list)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "SourceTables":
        """Collect the tables before the first computation of a module."""
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
        """The file names."""
        return [row.text for row in self.file_rows]

    @property
    def functions(self) -> list[str]:
        """The function names."""
        return [row.text for row in self.function_rows]

    @property
    def rows(self) -> Mapping[str, Sequence[Record]]:
        """The rows of each table by its label."""
        return {
            "FileNames": self.file_rows,
            "FunctionNames": self.function_rows,
            "FileLocations": self.locations,
            "StackFrames": self.frames,
        }

    @property
    def is_empty(self) -> bool:
        """True if the module has no tables."""
        return not any(self.rows.values())

    def stack(self, frame_id: int) -> Iterator[SourceLine]:
        """Yield the lines of a call stack, the innermost first, up to a missing row."""
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
        """Return the Python line of a location id, or None if a row is missing."""
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
    """Path prefixes in dumps with their local paths, the longest prefix first."""

    rules: tuple[tuple[str, Path], ...] = ()

    @classmethod
    def of(
        cls, setting: object, resolve_path: Callable[[str], Path | None] = Path
    ) -> "tuple[SourceMap, list[str]]":
        """Parse a setting ``{"path in the dump": "local path"}``.

        Return the map and error messages; invalid entries are ignored. ``resolve_path`` resolves a
        path of the setting, or returns None if it cannot.
        """
        if setting is None or setting == []:  # an empty Lua table is a list
            return cls(), []
        if not isinstance(setting, dict):
            return cls(), ['must be an object {"path in the dump": "local path"}']
        rules: list[tuple[str, Path]] = []
        problems: list[str] = []
        for prefix, target in setting.items():
            path = resolve_path(target) if isinstance(target, str) and target else None
            if path is not None:
                rules.append((str(prefix), path))
            elif isinstance(target, str):
                problems.append(f'cannot resolve the path "{target}" for "{prefix}"')
            else:
                problems.append(f'the value for "{prefix}" must be a path in quotes')
        rules.sort(key=lambda rule: -len(_pure_path(rule[0]).parts))
        return cls(tuple(rules)), problems

    def candidates(self, source_file: str) -> list[Path]:
        """Return the local paths that a file of a dump may have.

        The first candidate follows from the longest prefix, the second is the path as printed.

        A prefix matches whole path components. The prefix ``.`` matches all relative names.
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
    """Local files by their names in dumps, each looked up once.

    An object lives for one request, so its cached look-ups are not outdated.
    """

    def __init__(self, source_map: SourceMap) -> None:
        self._map = source_map
        self._known: dict[str, Path | None] = {}

    def resolve(self, source_file: str) -> Path | None:
        """Return the local file of a name in a dump, or None if it does not exist."""
        if source_file not in self._known:
            candidates = self._map.candidates(source_file)
            self._known[source_file] = next(filter(os.path.isfile, candidates), None)
        return self._known[source_file]

    def uri(self, source: SourceLine) -> str | None:
        """Return a link to a Python line with ``#L7`` (for VS Code), or None without a file."""
        path = self.resolve(source.file)
        return None if path is None else f"{path.as_uri()}#L{source.line}"


def _pure_path(name: str) -> PurePath:
    """Return a path in the flavor of the system that the name comes from."""
    windows = _WINDOWS_PATH.match(name) or ("\\" in name and "/" not in name)
    return PureWindowsPath(name) if windows else PurePosixPath(name)
