"""The files of one compile in memory: intact ones are read once, a changed one for each damage."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faults.rows import ONLY_IN, PATTERNS
from hlo_lsp.background_jobs import cached_property
from hlo_lsp.model.compile_files import Compile, compile_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, DumpSetCache
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk

Lines = tuple[str, ...]
Spot = tuple[Path, int]  # a line of a file, from 0


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a known kind, with the fields that its expression names."""

    path: Path
    line: int
    match: "re.Match[str]"

    def __getitem__(self, field: str) -> str:
        return self.match[field] or ""

    def has(self, field: str) -> bool:
        """Whether a field that may be left out is there."""
        return self.match[field] is not None

    @property
    def text(self) -> str:
        """All of the line."""
        return self.match.string

    @property
    def spot(self) -> Spot:
        """Return the line in its file."""
        return self.path, self.line

    def put(self, field: str, text: str) -> str:
        """Return the line with another text in a field."""
        start, end = self.match.span(field)
        return self.text[:start] + text + self.text[end:]


@dataclass(frozen=True, slots=True)
class Damage:
    """What was done to a compile.

    ``files`` are the lines of the files that changed (None: the file is gone), ``right`` the lines
    of the changed files where a finding is in its place, ``description`` is for people.
    """

    files: Mapping[Path, Lines | None]
    right: frozenset[Spot]
    description: str


class Dump:
    """The memory files and the module text of one compile."""

    def __init__(self, assignment: Path, names: Sequence[str]) -> None:
        self._names = names
        # A folder that is not there: whoever looks for a file on disk finds none that was not read.
        away = Path("/", assignment.parent.name)
        self._compile = compile_of(away / assignment.name, names)
        self.lines: dict[Path, Lines] = {}
        self._intact: dict[Path, DumpFile] = {}
        for path in self._compile.files_read_together():
            document = disk.read_document(assignment.with_name(path.name))
            self.lines[path] = tuple(document.lines)
            self._intact[path] = file = DumpFile(path.as_uri(), path, document)
            file.refresh()
        self._rows: dict[str, list[Row]] = {}
        self.others: Sequence[Dump] = ()  # compiles by the same compiler, to mix this one with

    @property
    def name(self) -> str:
        """Folder and module, for people."""
        return f"{self._compile.path.parent.name}/{Path(self._compile.stem).name}"

    @property
    def folder(self) -> Path:
        """Where the files lie: one folder holds what one compiler made."""
        return self._compile.path.parent

    @property
    def size(self) -> int:
        """The number of lines."""
        return sum(map(len, self.lines.values()))

    def kind(self, path: Path) -> FileKind:
        """Return the kind of an intact file."""
        return self._intact[path].kind

    def path(self, kind: FileKind) -> Path | None:
        """Return the file of a kind, if the compile has one of its own."""
        return next((path for path in self.lines if self.kind(path) is kind), None)

    def rows(self, kind: str) -> list[Row]:
        """All lines of a kind, see :data:`PATTERNS`."""
        found = self._rows.get(kind)
        if found is None:
            expression, kinds = PATTERNS[kind], ONLY_IN[kind]
            found = self._rows[kind] = [
                Row(path, number, match)
                for path, lines in self.lines.items()
                if self.kind(path) in kinds
                for number, line in enumerate(lines)
                if (match := expression.match(line)) is not None
            ]
        return found

    @cached_property
    def owners(self) -> dict[Spot, Row]:
        """The allocation above each line of a value in one."""
        found: dict[Spot, Row] = {}
        heads = {row.spot: row for row in self.rows("allocation")}
        for row in self.rows("assigned"):
            above = heads.get((row.path, row.line - 1), found.get((row.path, row.line - 1)))
            if above is not None:
                found[row.spot] = above
        return found

    def whole(self) -> DumpSet:
        """Return the compile as it was printed."""
        return self._set({}, self._compile)

    def after(self, damage: Damage) -> DumpSet:
        """Return the compile with its changed files, and the unchanged ones as read before."""
        gone = {path.name for path, lines in damage.files.items() if lines is None}
        changed = {
            path: DumpFile.of_text("\n".join(lines), str(path))
            for path, lines in damage.files.items()
            if lines is not None
        }
        known = self._compile
        if gone:
            kept = next(path for path in self.lines if path.name not in gone)
            known = compile_of(kept, [name for name in self._names if name not in gone])
        return self._set(changed, known)

    def _set(self, changed: Mapping[Path, DumpFile], known: Compile) -> DumpSet:
        files = {**self._intact, **changed}

        def find(path: Path, compile_: Compile, patient: bool) -> DumpFile | None:
            return files.get(path)

        return DumpSetCache().set_of(files[known.path], known, find)
