"""The symbols of a text, and of all dumps in some folders."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.folder_scan import ScannedFolder
from hlo_lsp.model.module_reader import ModuleReader
from hlo_lsp.model.source import SourceTables
from hlo_lsp.model.symbol_search import BufferSize, FileSymbols, SymbolEntry, SymbolKind
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind, split_sections
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.metadata_text import metadata_fields
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InlineComputation,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.record_sequence import RecordSequence, Scanner
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.document import LineChange

_DETECTION_BYTES = 1 << 14  # enough to detect the kind of a file
_EXTENSIONS = frozenset({"", ".txt", ".hlo"})
_VALUES_ENDING, _ASSIGNMENT_ENDING = "-buffer-assignment-values.txt", "-buffer-assignment.txt"
# Live ranges and reports only repeat the values of the assignment.
_KINDS_WITH_NAMES = frozenset({FileKind.MODULE, FileKind.ASSIGNMENT, FileKind.VALUES})


def read_symbols(uri: str, title: str, lines: Sequence[str]) -> list[FileSymbols]:
    """Return the symbols of a text, for a stdout dump those of each section."""
    kind = detect_file_kind(lines)
    if kind is not FileKind.STDOUT_DUMP:
        return [_read_text(uri, title, kind, lines)]
    found = [FileSymbols(uri, title, [SymbolEntry(PurePath(title).name, SymbolKind.FILE, 0, 0, 0)])]
    parts = split_sections(lines)
    names = {part.name for part in parts}
    for part in parts:
        text = lines[part.first : part.first + part.count]
        kind = detect_file_kind(text)
        if kind in _KINDS_WITH_NAMES and not _repeats_names(part.name, names):
            found.append(_read_text(uri, part.name, kind, text, part.first))
        checkpoint()
    return found


def _read_text(
    uri: str, title: str, kind: FileKind, lines: Sequence[str], first_line: int = 0
) -> FileSymbols:
    """Return the symbols of a text and of the file itself; none if the kind has no symbols."""
    records = RecordSequence()
    entries = []
    if kind in _KINDS_WITH_NAMES:
        entries.append(SymbolEntry(PurePath(title).name, SymbolKind.FILE, first_line, 0, 0))
        scanner: Scanner = module_scanner() if kind is FileKind.MODULE else memory_scanner()
        records.update(scanner, lines, LineChange(0, 0, len(lines)))
    reader = _SymbolReader(lines, first_line, SourceTables(records), entries)
    for record in records:
        reader.read(record)
        checkpoint()
    sources, stacks = list(reader.sources), list(reader.stacks)
    return FileSymbols(uri, title, entries, sources, stacks, sizes=reader.sizes)


def _repeats_names(name: str, names: Iterable[str]) -> bool:
    """Return True if the values in a file are also in an assignment among ``names``.

    The assignment contains all of them at a hundredth of the size.
    """
    stem = name.removesuffix(_VALUES_ENDING)
    return stem != name and stem + _ASSIGNMENT_ENDING in names


@dataclass(slots=True)
class _SymbolReader:
    """A collector of the symbols of one text; Python lines and stacks by their numbers."""

    lines: Sequence[str]
    first_line: int
    tables: SourceTables
    entries: list[SymbolEntry]
    home: int = -1  # the entry of the current computation
    values: set[int] = field(default_factory=set)
    sources: dict[str, int] = field(default_factory=dict)
    stacks: dict[tuple[int, ...], int] = field(default_factory=dict)
    stack_of_frame: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, BufferSize] = field(default_factory=dict)

    def read(self, record: Record) -> None:
        """Read the symbols of the next record."""
        if isinstance(record, InstructionLine):
            self._add_instruction(record)
        elif isinstance(record, ComputationLine):
            self._add_computation(record)
        elif isinstance(record, AssignedValue | UsedValue):
            self._add_value(record)
        elif isinstance(record, ModuleHeader):
            self._add_head(record.name, SymbolKind.MODULE, record.line)
        elif record.is_head:
            self.home = -1

    def _add_instruction(self, record: InstructionLine) -> None:
        name, text = record.name, record.text
        start = text.rfind(name, record.column, text.find("=", record.column))
        line = record.line + text.count("\n", 0, start)
        column = start - (text.rfind("\n", 0, start) + 1)
        home, stack = self.home, self._stack(record)
        self._add(name, SymbolKind.INSTRUCTION, line, column, len(name), home, stack)
        for body in record.bodies:
            self._add_computation(body)
        self.home = home

    def _add_computation(self, record: ComputationLine) -> None:
        self.home = len(self.entries)
        if isinstance(record, InlineComputation):  # its name is not in the text
            self._add(record.name, SymbolKind.COMPUTATION, record.line, 0, 0)
        else:
            begin = len("ENTRY") if record.is_entry else 0
            self._add_head(record.name, SymbolKind.COMPUTATION, record.line, begin)
        for member in record.members:
            self._add_instruction(member)

    def _add_head(self, name: str, kind: SymbolKind, line: int, begin: int = 0) -> None:
        """Add a name at the beginning of a line, after a word of ``begin`` letters."""
        text = self.lines[line]
        start = text.find(name, len(text) - len(text.lstrip()) + begin)
        self._add(name, kind, line, max(start, 0), len(name) if start >= 0 else 0)

    def _add_value(self, record: AssignedValue | UsedValue) -> None:
        if record.key is None or record.id is None or record.id in self.values:
            return
        if isinstance(record, AssignedValue):
            size = BufferSize(record.size, record.color or 0)
            for name in (record.key, record.name):
                self.sizes[name] = max(size, self.sizes.get(name, size))
        self.values.add(record.id)
        text = self.lines[record.line]
        start = text.find("<", record.column if isinstance(record, UsedValue) else 0)
        end = text.find(">", start) + 1
        self._add(record.key, SymbolKind.VALUE, record.line, start, end - start)

    def _add(
        self, name: str, kind: SymbolKind, line: int, column: int, width: int, *links: int
    ) -> None:
        """Add an entry, without a column if its value depends on the position encoding.

        ``links`` are the numbers of the computation and of the Python stack, if there are any.
        """
        if not self.lines[line][:column].isascii():
            column = width = 0
        self.entries.append(SymbolEntry(name, kind, line + self.first_line, column, width, *links))

    def _stack(self, record: InstructionLine) -> int:
        """Return the number of the Python stack of an instruction, or -1."""
        metadata = {
            field.name: field.value for field in metadata_fields(record.text, record.column)
        }
        frame = "" if "source_file" in metadata else metadata.get("stack_frame_id", "")
        if frame in self.stack_of_frame:
            return self.stack_of_frame[frame]
        stack = tuple(
            self.sources.setdefault(f"{PurePath(line.file).name}:{line.line}", len(self.sources))
            for line in self.tables.stack_of(metadata)
        )
        number = self.stacks.setdefault(stack, len(self.stacks)) if stack else -1
        if frame:
            self.stack_of_frame[frame] = number
        return number


def symbol_files(folder: ScannedFolder) -> Iterator[Path]:
    """Yield the files of a folder that may be dumps with symbols."""
    there = set(folder.names)
    for name in sorted(folder.names):
        if os.path.splitext(name)[1] in _EXTENSIONS and not _repeats_names(name, there):
            yield folder.path / name


def read_file_symbols(reader: ModuleReader, path: Path, title: str) -> list[FileSymbols]:
    """Return the symbols of a file on disk, none if its kind has none or it cannot be read."""
    try:
        lines = reader.lines_if(path, _has_names, _DETECTION_BYTES)
    except UnreadableError:
        return []
    return [] if lines is None else read_symbols(path.absolute().as_uri(), title, lines)


def _has_names(lines: list[str]) -> bool:
    kind = detect_file_kind(lines)
    return kind in _KINDS_WITH_NAMES or kind is FileKind.STDOUT_DUMP
