"""Compiles in memory, of which each damage reads only the changed files again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faults.rows import FILE_KINDS, PATTERNS
from hlo_lsp.background_jobs import cached_property
from hlo_lsp.model.compile import Compile, CompileCache
from hlo_lsp.model.compile_files import CompileFiles, FolderListing
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk

Lines = tuple[str, ...]
Spot = tuple[Path, int]  # a line of a file, from 0


@dataclass(frozen=True, slots=True)
class Row:
    """A line that matches a pattern, with the named groups of the pattern as fields."""

    path: Path
    line: int
    match: "re.Match[str]"

    def __getitem__(self, field: str) -> str:
        return self.match[field] or ""

    def has(self, field: str) -> bool:
        """Return whether an optional field is present."""
        return self.match[field] is not None

    @property
    def text(self) -> str:
        """Return the whole line."""
        return self.match.string

    @property
    def spot(self) -> Spot:
        """Return the file and the line number."""
        return self.path, self.line

    def with_field(self, field: str, text: str) -> str:
        """Return the line with another text in a field."""
        start, end = self.match.span(field)
        return self.text[:start] + text + self.text[end:]


@dataclass(frozen=True, slots=True)
class Damage:
    """A change of a compile.

    Attributes:
        files: new lines of the changed files; None for a removed file.
        expected: lines of the changed files, one of which a finding is expected to name.
        description: text for the output of tests.
    """

    files: Mapping[Path, Lines | None]
    expected: frozenset[Spot]
    description: str


class Dump:
    """The memory files and the module text of one compile."""

    def __init__(self, assignment: Path, names: Sequence[str]) -> None:
        self._names = names
        # The folder does not exist, so rules read no other files from disk.
        missing_folder = Path("/", assignment.parent.name)
        listing = FolderListing(missing_folder, {*names, assignment.name})
        self._compile = listing.compile_files(assignment.name)
        self.lines: dict[Path, Lines] = {}
        self._intact: dict[Path, DumpFile] = {}
        for path in self._compile.files_read_together():
            document = disk.read_document(assignment.with_name(path.name))
            self.lines[path] = tuple(document.lines)
            self._intact[path] = file = DumpFile(path.as_uri(), path, document)
            file.refresh()
        self._rows: dict[str, list[Row]] = {}
        self.others: Sequence[Dump] = ()  # other compiles of the same compiler

    @property
    def name(self) -> str:
        """Return the folder and the module for the output of tests."""
        return f"{self._compile.path.parent.name}/{Path(self._compile.stem).name}"

    @property
    def folder(self) -> Path:
        """Return the folder, which contains the files of one compiler."""
        return self._compile.path.parent

    @property
    def size(self) -> int:
        """Return the number of lines."""
        return sum(map(len, self.lines.values()))

    def kind(self, path: Path) -> FileKind:
        """Return the kind of an intact file."""
        return self._intact[path].kind

    def path(self, kind: FileKind) -> Path | None:
        """Return the file of a kind, or None if the compile has no separate one."""
        return next((path for path in self.lines if self.kind(path) is kind), None)

    def rows(self, kind: str) -> list[Row]:
        """Return all lines of a kind, see :data:`PATTERNS`."""
        found = self._rows.get(kind)
        if found is None:
            expression, kinds = PATTERNS[kind], FILE_KINDS[kind]
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
        """Return the allocation of each line of an assigned value."""
        found: dict[Spot, Row] = {}
        heads = {row.spot: row for row in self.rows("allocation")}
        for row in self.rows("assigned"):
            above = heads.get((row.path, row.line - 1), found.get((row.path, row.line - 1)))
            if above is not None:
                found[row.spot] = above
        return found

    def intact_compile(self) -> Compile:
        """Return the undamaged compile."""
        return self._set({}, self._compile)

    def damaged_compile(self, damage: Damage) -> Compile:
        """Return the compile with the changed files of a damage and the intact other files."""
        gone = {path.name for path, lines in damage.files.items() if lines is None}
        changed = {
            path: DumpFile.of_text("\n".join(lines), str(path))
            for path, lines in damage.files.items()
            if lines is not None
        }
        compile_ = self._compile
        if gone:
            kept = next(path for path in self.lines if path.name not in gone)
            names = {name for name in self._names if name not in gone}
            compile_ = FolderListing(kept.parent, {*names, kept.name}).compile_files(kept.name)
        return self._set(changed, compile_)

    def _set(self, changed: Mapping[Path, DumpFile], compile_: CompileFiles) -> Compile:
        files = {**self._intact, **changed}

        def find(path: Path, compile_: CompileFiles, patient: bool) -> DumpFile | None:
            return files.get(path)

        return CompileCache().compile_of(files[compile_.path], compile_, find)
