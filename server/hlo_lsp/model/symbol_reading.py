"""Extraction of symbols from the text of a file."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from hlo_lsp.model.source import SourceTables
from hlo_lsp.model.symbol_search import FileSymbols, SymbolEntry, SymbolKind
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind, split_sections
from hlo_lsp.syntax.instruction_text import metadata_fields
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    FrameRow,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
    LocationRow,
    ModuleHeader,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record, Scanner
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.document import Document

_RECORDS_PER_CHECKPOINT = 500  # about 4 ms
_MAX_FRAME_DIGITS = 9  # tables have fewer rows
_TABLE_RECORDS = (TableLabel, NameRow, LocationRow, FrameRow)

# Live ranges and reports only repeat the values of the assignment.
KINDS_WITH_NAMES = frozenset({FileKind.MODULE, FileKind.ASSIGNMENT, FileKind.VALUES})


def read_section_symbols(
    uri: str, title: str, kind: FileKind, lines: Sequence[str], first_line: int = 0
) -> FileSymbols:
    """Return the symbols of a text and of the file itself; none if the kind has no symbols.

    ``first_line`` is the first line of the text in its file, from 0.
    """
    reading = _SymbolReader(uri, title, lines, first_line)
    if kind in KINDS_WITH_NAMES:
        reading.entries.append(SymbolEntry(PurePath(title).name, SymbolKind.FILE, first_line, 0, 0))
        scanner: Scanner = module_scanner() if kind is FileKind.MODULE else memory_scanner()
        for count, (line, record) in enumerate(_records(scanner, lines)):
            reading.read_record(line, record)
            if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
                checkpoint()
    return reading.symbols()


def _records(scanner: Scanner, lines: Sequence[str]) -> Iterator[tuple[int, Record]]:
    at = 0
    while at < len(lines):
        record = scanner.read(lines, at)
        yield at, record
        at += record.line_count


@dataclass(slots=True)
class _SymbolReader:
    """A collector of the symbols of one text."""

    uri: str
    title: str
    lines: Sequence[str]
    first_line: int
    entries: list[SymbolEntry] = field(default_factory=list)
    home: int = -1  # the entry of the current computation
    values: set[int] = field(default_factory=set)
    tables: list[Record] = field(default_factory=list)
    sources: SourceTables | None = None
    source_numbers: dict[str, int] = field(default_factory=dict)
    stack_numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    frame_stacks: dict[int, int] = field(default_factory=dict)

    def read_record(self, line: int, record: Record) -> None:
        """Read the symbols of the next record, which begins on a line."""
        if isinstance(record, InstructionLine):
            self._add_instruction(line, record)
        elif isinstance(record, ComputationLine):
            self.home = self._add_computation(line, record)
        elif isinstance(record, AssignedValue | UsedValue):
            self._add_value(line, record)
        elif isinstance(record, ModuleHeader):
            self._add_head(record.name, SymbolKind.MODULE, line)
        elif isinstance(record, _TABLE_RECORDS):
            self.tables.append(record)
        elif record.is_head:
            self.home = -1

    def symbols(self) -> FileSymbols:
        """Return all symbols."""
        stacks = list(self.stack_numbers)
        return FileSymbols(self.uri, self.title, self.entries, list(self.source_numbers), stacks)

    def _add_instruction(self, line: int, record: InstructionLine) -> None:
        name, text = record.name, record.text
        start = text.rfind(name, record.column, text.find("=", record.column))
        row = text.count("\n", 0, start)
        column = start - (text.rfind("\n", 0, start) + 1)
        home, stack = self.home, self._stack(record)
        self._add(
            name, SymbolKind.INSTRUCTION, line + row, column, len(name), home=home, stack=stack
        )
        for body in record.bodies:
            self._add_inline(line, record, body)

    def _add_inline(self, line: int, holder: InstructionLine, body: ComputationLine) -> None:
        """Read an inline computation, which has no name in the text."""
        base = line - holder.row if isinstance(holder, InnerInstruction) else line
        row = body.row if isinstance(body, InlineComputation) else 0
        outer, self.home = self.home, len(self.entries)
        self._add(body.name, SymbolKind.COMPUTATION, base + row, 0, 0)
        for member in body.members:
            self._add_instruction(base + member.row, member)
        self.home = outer

    def _add_computation(self, line: int, record: ComputationLine) -> int:
        number = len(self.entries)
        self._add_head(record.name, SymbolKind.COMPUTATION, line, len("ENTRY") * record.is_entry)
        self.home = number
        for member in record.members:
            self._add_instruction(line + member.row, member)
        return number

    def _add_head(self, name: str, kind: SymbolKind, line: int, begin: int = 0) -> None:
        """Add a name at the beginning of a line, after a word of ``begin`` letters."""
        text = self.lines[line]
        start = text.find(name, len(text) - len(text.lstrip()) + begin)
        self._add(name, kind, line, max(start, 0), len(name) if start >= 0 else 0)

    def _add_value(self, line: int, record: AssignedValue | UsedValue) -> None:
        key = record.key
        if key is None or record.id is None or record.id in self.values:
            return
        self.values.add(record.id)
        text = self.lines[line]
        start = text.find("<", record.column if isinstance(record, UsedValue) else 0)
        end = text.find(">", start) + 1
        self._add(key, SymbolKind.VALUE, line, start, end - start)

    def _add(
        self,
        name: str,
        kind: SymbolKind,
        line: int,
        column: int,
        width: int,
        *,
        home: int = -1,
        stack: int = -1,
    ) -> None:
        """Add an entry, without a column if its value depends on the position encoding."""
        if not self.lines[line][:column].isascii():
            column = width = 0
        place = self.first_line + line
        self.entries.append(SymbolEntry(name, kind, place, column, width, home, stack))

    def _stack(self, record: InstructionLine) -> int:
        """Return the number of the Python stack of an instruction, or -1."""
        fields = {field.name: field.value for field in metadata_fields(record.text, record.column)}
        if "source_file" in fields:
            return self._stack_number([(fields["source_file"], fields.get("source_line", ""))])
        frame = fields.get("stack_frame_id", "")
        if not frame.isdecimal() or len(frame) > _MAX_FRAME_DIGITS:
            return -1
        known = self.frame_stacks.get(int(frame))
        if known is None:
            if self.sources is None:
                self.sources = SourceTables.of(self.tables)
            lines = [(found.file, str(found.line)) for found in self.sources.stack(int(frame))]
            known = self.frame_stacks[int(frame)] = self._stack_number(lines)
        return known

    def _stack_number(self, lines: Iterable[tuple[str, str]]) -> int:
        numbers = self.source_numbers
        stack = tuple(
            numbers.setdefault(f"{PurePath(path).name}:{line or 1}", len(numbers))
            for path, line in lines
        )
        return self.stack_numbers.setdefault(stack, len(self.stack_numbers)) if stack else -1


_VALUES_ENDING, _ASSIGNMENT_ENDING = "-buffer-assignment-values.txt", "-buffer-assignment.txt"


def has_names(kind: FileKind) -> bool:
    """Return True if texts of this kind contain symbols."""
    return kind in KINDS_WITH_NAMES or kind is FileKind.STDOUT_DUMP


def repeats_names(name: str, names: Iterable[str]) -> bool:
    """Return True if the values in a file are also in an assignment among ``names``.

    The assignment contains all of them at a hundredth of the size.
    """
    return (
        name.endswith(_VALUES_ENDING)
        and name.removesuffix(_VALUES_ENDING) + _ASSIGNMENT_ENDING in names
    )


def read_symbols(uri: str, title: str, lines: Sequence[str]) -> list[FileSymbols]:
    """Return the symbols of a text, for a stdout dump those of each section."""
    kind = detect_file_kind(lines)
    if kind is not FileKind.STDOUT_DUMP:
        return [(read_section_symbols(uri, title, kind, lines))]
    found = [FileSymbols(uri, title, [SymbolEntry(PurePath(title).name, SymbolKind.FILE, 0, 0, 0)])]
    parts = split_sections(lines)
    names = {part.name for part in parts}
    for part in parts:
        text = lines[part.first : part.first + part.count]
        kind = detect_file_kind(text)
        if kind in KINDS_WITH_NAMES and not repeats_names(part.name, names):
            found.append(read_section_symbols(uri, part.name, kind, text, part.first))
        checkpoint()
    return found


_DETECTION_BYTES = 1 << 14  # enough to detect the kind of a file
_FILES_PER_CHECKPOINT = 200  # about 2 ms
_EXTENSIONS = frozenset({"", ".txt", ".hlo"})


@dataclass(frozen=True, slots=True)
class SearchFolder:
    """A folder to search, optionally with its subfolders except hidden ones."""

    path: Path
    is_recursive: bool


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A new or changed file; ``stamp`` is its modification time (ns) and size (bytes)."""

    path: Path
    title: str
    stamp: tuple[int, int]


class SymbolFolders:
    """The symbols of the files that were read, by path, without the texts."""

    def __init__(self) -> None:
        self.files: dict[Path, list[FileSymbols]] = {}
        self._stamps: dict[Path, tuple[int, int]] = {}

    def scan(self, folders: Iterable[SearchFolder]) -> list[UnreadFile]:
        """Return the new and changed files of the folders, and forget the files that are gone."""
        unread: dict[Path, UnreadFile] = {}
        seen: set[Path] = set()
        for folder in folders:
            for name, inner, names in os.walk(folder.path):
                inner[:] = sorted(i for i in inner if folder.is_recursive and i[0] != ".")
                for count, path in enumerate(_candidate_paths(Path(name), names)):
                    stamp = _file_stamp(path)
                    if stamp is not None and path not in seen:
                        seen.add(path)
                        if self._stamps.get(path) != stamp:
                            title = path.relative_to(folder.path).as_posix()
                            unread[path] = UnreadFile(path, title, stamp)
                    if count % _FILES_PER_CHECKPOINT == _FILES_PER_CHECKPOINT - 1:
                        checkpoint()
                checkpoint()
        for path in self._stamps.keys() - seen:
            del self._stamps[path]
            self.files.pop(path, None)
        return list(unread.values())

    def read(self, unread: UnreadFile) -> None:
        """Read the symbols of a file, if its kind has any."""
        path = unread.path
        self.files.pop(path, None)
        if has_names(_detect_kind(path)):
            try:
                document = read_document(path)
            except UnreadableError:
                return
            uri = path.absolute().as_uri()
            self.files[path] = read_symbols(uri, unread.title, document.lines)
        self._stamps[path] = unread.stamp


def _candidate_paths(folder: Path, names: list[str]) -> Iterable[Path]:
    """Yield the files that may be dumps with symbols."""
    there = set(names)
    for name in sorted(names):
        if os.path.splitext(name)[1] in _EXTENSIONS and not repeats_names(name, there):
            yield folder / name


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _detect_kind(path: Path) -> FileKind:
    """Return the kind of a file by its first bytes, OTHER if it is not readable text."""
    try:
        with path.open("rb") as file:
            head = file.read(_DETECTION_BYTES)
    except OSError:
        return FileKind.OTHER
    if b"\0" in head:
        return FileKind.OTHER
    return detect_file_kind(Document(head.decode("utf-8", "replace")).lines)
