"""Python source lines: location tables, the line of a stack that owns memory, local files."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    FrameRow,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import BrokenRecord, Record, UnknownSection

_MAX_DIGITS = 20  # longer numbers do not fit in 64 bits


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a Python file; lines count from 1."""

    file: str
    line: int
    function: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def short(self) -> str:
        """The line without the folders of its file: ``train.py:25``."""
        return f"{file_name(self.file)}:{self.line}"


def file_name(path: str) -> str:
    """Return a path of Unix or Windows without its folders."""
    return path.replace("\\", "/").rpartition("/")[2]


SourceTableRow = NameRow | LocationRow | FrameRow


class SourceTable:
    """The rows of a source location table; ``is_whole`` means that no line of them is broken.

    ``highest`` is the highest number of a row, None if a line is broken. ``misnumbered`` is the
    first row whose number is not its position, counted from 1; None if a line is broken.
    """

    def __init__(self, rows: Sequence[SourceTableRow], is_whole: bool) -> None:
        self.rows = rows
        self.highest = max((len(rows), *(row.number for row in rows))) if is_whole else None
        numbered = enumerate(rows if is_whole else (), 1)
        self.misnumbered = next((row for place, row in numbered if row.number != place), None)

    def may_hold(self, number: int) -> bool:
        """Return whether the table may contain a row of this number.

        Ids refer to positions from 1. After a missing row, the remaining rows keep their printed
        numbers, so the highest printed number is valid too.
        """
        return self.highest is None or 0 < number <= self.highest


class SourceTables:
    """The four source location tables of a module, which precede the first computation.

    The position of a row is its id; XLA's parser ignores the printed number.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.file_rows: list[NameRow] = []
        self.function_rows: list[NameRow] = []
        self.locations: list[LocationRow] = []
        self.frames: list[FrameRow] = []
        self._is_whole = True
        self._labels: set[str] = set()
        self._stacks: dict[int, list[SourceLine]] = {}  # many instructions have the same one
        names = self.function_rows
        for record in records:
            if isinstance(record, TableLabel):
                self._labels.add(record.table)
                names = self.file_rows if record.table == "FileNames" else self.function_rows
            elif isinstance(record, NameRow):
                names.append(record)
            elif isinstance(record, LocationRow):
                self.locations.append(record)
            elif isinstance(record, FrameRow):
                self.frames.append(record)
            elif isinstance(record, ComputationLine):
                break
            elif isinstance(record, BrokenRecord | UnknownSection):
                self._is_whole = False

    @property
    def files(self) -> list[str]:
        """The file names."""
        return [row.text for row in self.file_rows]

    @property
    def functions(self) -> list[str]:
        """The function names."""
        return [row.text for row in self.function_rows]

    @property
    def rows(self) -> Mapping[str, Sequence[SourceTableRow]]:
        """The rows of each table by its label."""
        return {
            "FileNames": self.file_rows,
            "FunctionNames": self.function_rows,
            "FileLocations": self.locations,
            "StackFrames": self.frames,
        }

    def table(self, name: str) -> SourceTable | None:
        """Return the table of this name, or None if the module has none."""
        return self._tables.get(name)

    @cached_property
    def _tables(self) -> dict[str, SourceTable]:
        return {
            name: SourceTable(rows, self._is_whole)
            for name, rows in self.rows.items()
            if rows or name in self._labels
        }

    @cached_property
    def cycles(self) -> dict[FrameRow, list[FrameRow]]:
        """The cycles of stack frames, each by its row with the highest id.

        In a cycle, each frame precedes its caller, and the first frame calls the last one. The
        result is empty if a row is missing or duplicated, because all following ids are
        unreliable.
        """
        table = self.table("StackFrames")
        if table is None or not self._is_whole or table.misnumbered is not None:
            return {}
        first_walks = [0] * (len(self.frames) + 1)  # start of the first walk over each frame
        found: dict[FrameRow, list[FrameRow]] = {}
        for start in range(1, len(first_walks)):
            at: int | None = start
            path: list[int] = []
            while at is not None and at < len(first_walks) and not first_walks[at]:
                first_walks[at] = start
                path.append(at)
                at = self.frames[at - 1].parent
            if at is not None and at < len(first_walks) and first_walks[at] == start:
                cycle = path[path.index(at) :]
                begin = cycle.index(max(cycle))
                rows = [self.frames[number - 1] for number in cycle[begin:] + cycle[:begin]]
                found[rows[0]] = rows
        return found

    def stack_of(self, metadata: Mapping[str, str]) -> list[SourceLine]:
        """Return the Python stack of instruction metadata, the innermost line first."""
        if "source_file" in metadata:
            line = _parse_number(metadata.get("source_line", "")) or 1
            return [SourceLine(metadata["source_file"], line)]
        frame_id = _parse_number(metadata.get("stack_frame_id", ""))
        known = self._stacks.get(frame_id)
        if known is None:
            known = self._stacks[frame_id] = list(self.stack(frame_id))
        return [*known]

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

    def functions_of_files(self) -> dict[str, set[str]]:
        """Return the functions of each Python file that locations name."""
        found: dict[str, set[str]] = {}
        for line in map(self.line_at, self.locations):
            checkpoint()
            if line is not None and line.function is not None:
                found.setdefault(line.file, set()).add(line.function)
        return found

    def line_of(self, location_id: int) -> SourceLine | None:
        """Return the Python line of a location id, or None if a row is missing."""
        known = 0 < location_id <= len(self.locations)
        return self.line_at(self.locations[location_id - 1]) if known else None

    def line_at(self, location: LocationRow) -> SourceLine | None:
        """Return the Python line of a location, or None if a row is missing."""
        if not 0 < location.file <= len(self.file_rows):
            return None
        known = 0 < location.function <= len(self.function_rows)
        function = self.function_rows[location.function - 1].text if known else None
        return SourceLine(self.file_rows[location.file - 1].text, location.source_line, function)


def _parse_number(digits: str) -> int:
    """Return a number that fits in 64 bits, 0 for any other text."""
    return int(digits) if digits.isdecimal() and len(digits) < _MAX_DIGITS else 0


_LIBRARY_FILE = re.compile(
    r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[.\d]*|python3\d+[/\\]lib)[/\\]|^<frozen ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """The frames of a Python stack that can own memory.

    If no frame of a stack can, its innermost frame does.

    Attributes:
        folders: The folders of the program. Frames in other folders are skipped, unless no frame of
            the stack is in one of them; empty if the folders are unknown.
        with_libraries: Frames of installed packages and of Python itself are not skipped.
    """

    folders: tuple[str, ...] = ()
    with_libraries: bool = False

    def line_of(self, stack: Sequence[SourceLine]) -> SourceLine | None:
        """Return the line that owns memory; the innermost one comes first in ``stack``."""
        candidates = [
            line for line in stack if self.with_libraries or not is_library_file(line.file)
        ]
        inside = (line for line in candidates if self._is_inside(line.file))
        return next((line for lines in (inside, candidates, stack) for line in lines), None)

    def _is_inside(self, file: str) -> bool:
        path = file.replace("\\", "/")
        return any(
            path.startswith(f"{folder.replace(chr(92), '/').rstrip('/')}/")
            for folder in self.folders
        )


PROGRAM_FRAMES = FrameChoice()


_PYTHON_FILE = re.compile(r'"([^"\n]*\.py)"')
_LINES_PER_CHECKPOINT = 5000  # about 2 ms


def python_files(lines: Iterable[str]) -> frozenset[str]:
    """Return the Python files that a module text names."""
    found: set[str] = set()
    for count, line in enumerate(lines):
        if count % _LINES_PER_CHECKPOINT == 0:
            checkpoint()
        if '.py"' in line:
            found.update(_PYTHON_FILE.findall(line))
    return frozenset(found)


def is_library_file(file: str) -> bool:
    """Return whether a path is that of an installed package or of Python's standard library."""
    return _LIBRARY_FILE.search(file) is not None


_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")
# ``\\host\share``, ``\\?\UNC\host\share``, and the folders of Linux and macOS that mount on access.
_NETWORK_PATH = re.compile(r"[\\/]{2}|/(?:net|Network)(?:/|$)")


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
        Neither a path out of the mapped folder nor a printed path on another machine is a
        candidate: a look-up would connect to a machine that the dump chooses.

        A prefix matches whole path components. The prefix ``.`` matches all relative names.
        """
        name = _pure_path(source_file)
        found = []
        for prefix, path in self.rules:
            start = type(name)(prefix)
            if name.is_relative_to(start):
                mapped = path.joinpath(*name.relative_to(start).parts)
                if Path(os.path.normpath(mapped)).is_relative_to(os.path.normpath(path)):
                    found.append(mapped)
                break
        itself = Path(source_file)
        printed = os.path.normpath(source_file)
        is_local = itself.is_absolute() and _NETWORK_PATH.match(printed) is None
        return [*found, itself] if is_local else found


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
