"""The places of a dump that name a Python line."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.source import SourceLine, SourceTables
from hlo_lsp.syntax.memory_records import BreakdownRow, PeakLabel, PeakRow
from hlo_lsp.syntax.metadata import MetadataField, metadata_fields
from hlo_lsp.syntax.module_records import (
    FrameRow,
    InstructionLine,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.tokens import fields
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 200  # records between two breaths
_INDEX = re.compile(r"\{[\d,]+\}$")
# What a path of the breakdown goes through, besides the leaf (``hlo_stack_trace.cc``).
_CALLERS = frozenset({"while", "conditional", "call", "async-start"})
_DIGITS = 9  # no Python file has more lines


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A part of a line (columns in code points, the end exclusive) that names a Python line."""

    line: int
    start: int
    end: int
    source: SourceLine


def source_links(
    dump: DumpSet, file: DumpFile, *, in_instructions: bool = True
) -> list[SourceLink]:
    """All places of a file of the compile that name a Python line, from top to bottom.

    These are ``source_file=`` with ``source_line=``, ``stack_frame_id=`` (its innermost line), the
    rows of the tables of files, locations and frames, and the rows of the breakdown at the peak.
    """
    reader = _Reader(dump, file)
    links: list[SourceLink] = []
    titles: dict[str, SourceLine] | None = None
    for count, record in enumerate(file.records):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if not in_instructions and type(record) is InstructionLine:
            continue
        if isinstance(record, BreakdownRow):
            if titles is None:
                titles = _titles(dump)
            links += _of_breakdown(file, record, titles)
        else:
            links += reader.links(record)
    return links


def source_at(dump: DumpSet, file: DumpFile, line: int, column: int) -> SourceLine | None:
    """The Python line that is named at a line and column (code points, from 0)."""
    record = file.record_at(line, column)
    if record is None:
        return None
    if isinstance(record, BreakdownRow):
        links = list(_of_breakdown(file, record, dump.derived(_titles_at_once, dump.files)))
    else:
        links = list(_Reader(dump, file).links(record))
    hits = (link for link in links if link.line == line and link.start <= column <= link.end)
    return next((link.source for link in hits), None)


class _Reader:
    """Finds the places in one record after the other."""

    def __init__(self, dump: DumpSet, file: DumpFile) -> None:
        self._dump = dump
        self._file = file
        self._frames: dict[str, SourceLine | None] = {}

    def links(self, record: Record) -> Iterator[SourceLink]:
        """The places in a record, in order."""
        if isinstance(record, InstructionLine):
            for line in range(record.line, record.line + record.line_count):
                yield from self._in_metadata(line)
        elif isinstance(record, UsedValue):
            first = record.line + len(record.lines) - 1
            for line in range(first, first + record.lines[-1].count("\n") + 1):
                yield from self._in_metadata(line)
        elif isinstance(record, LocationRow):
            yield from self._in_row(
                record, ("LINE", "LOCATION_REST"), _line_of(self._tables, record)
            )
        elif isinstance(record, FrameRow):
            locations = self._tables.locations
            if 0 < record.location <= len(locations):
                source = _line_of(self._tables, locations[record.location - 1])
                yield from self._in_row(record, ("FILE_LOCATION_ID",), source)
        elif isinstance(record, NameRow):
            head = self._file.records.head_of(record)
            if isinstance(head, TableLabel) and head.table == "FileNames":
                yield from self._in_row(record, ("STRING",), SourceLine(record.text, 1))

    @property
    def _tables(self) -> SourceTables:
        return self._file.module.tables

    def _in_row(
        self, record: Record, roles: tuple[str, ...], source: SourceLine | None
    ) -> Iterator[SourceLink]:
        """A row of a table: from the name in front of the first of these fields to the last."""
        text = self._file.lines[record.line]
        found = [field for field in fields(record.rule, text) if field.role in roles]
        if found and source is not None:
            start = max(text.rfind(sign, 0, found[0].start) for sign in " {") + 1
            yield SourceLink(record.line, start, found[-1].end, source)

    def _in_metadata(self, line: int) -> list[SourceLink]:
        found = {field.name: field for field in metadata_fields(self._file.lines[line])}
        file = found.get("source_file")
        number = _number(found.get("source_line")) or 1
        printed = None if file is None else SourceLine(file.value, number)
        links: list[SourceLink] = []
        for field in found.values():
            if field.name == "stack_frame_id":
                source = self._innermost(field)
            elif field.name in {"source_file", "source_line"}:
                source = printed
            else:
                continue
            if source is not None:
                start = field.start
                if links and links[-1].source == source and links[-1].end + 1 == start:
                    start = links.pop().start  # one link over both
                links.append(SourceLink(line, start, field.end, source))
        return links

    def _innermost(self, frame: MetadataField) -> SourceLine | None:
        if frame.value not in self._frames:
            number = _number(frame) or 0
            stacks = (file.module.tables.stack(number) for file in self._dump.files)
            self._frames[frame.value] = next((line for stack in stacks for line in stack), None)
        return self._frames[frame.value]


def _line_of(tables: SourceTables, location: LocationRow) -> SourceLine | None:
    files, functions = tables.files, tables.functions
    if not 0 < location.file <= len(files):
        return None
    known = 0 < location.function <= len(functions)
    function = functions[location.function - 1] if known else None
    return SourceLine(files[location.file - 1], location.source_line, function)


def _of_breakdown(
    file: DumpFile, record: BreakdownRow, titles: dict[str, SourceLine]
) -> Iterator[SourceLink]:
    source = titles.get(record.title) or titles.get(_INDEX.sub("", record.title))
    if source is not None:
        start = file.lines[record.line].index(record.title)
        yield SourceLink(record.line, start, start + len(record.title), source)


def _titles(dump: DumpSet) -> dict[str, SourceLine]:
    """The Python lines of the rows of the breakdown, by title.

    A row prints the operation, or else the instruction, of values at the peak or of what calls
    their computation. Where those of one title come from several lines, none is the right one.
    """
    lines: defaultdict[str, set[SourceLine]] = defaultdict(set)
    for count, name in enumerate(_names_at_peak(dump)):
        if count % _STEP == _STEP - 1:
            checkpoint()
        text = dump.text_of(name)
        if text is not None:
            lines[text.metadata.get("op_name") or name].update(dump.stack(text)[:1])
    return {title: next(iter(found)) for title, found in lines.items() if len(found) == 1}


def _titles_at_once(dump: DumpSet) -> dict[str, SourceLine]:
    return _titles(dump)


def _names_at_peak(dump: DumpSet) -> Iterator[str]:
    peak = dump.label(PeakLabel)
    if peak is not None:
        rows = peak.file.records.members(peak.record)
        yield from dict.fromkeys(row.name for row in rows if isinstance(row, PeakRow))
    for file in dump.files:
        instructions = file.module.instructions.firsts()
        yield from (record.name for record in instructions if record.opcode in _CALLERS)


def _number(field: MetadataField | None) -> int | None:
    if field is None or not field.value.isdecimal() or len(field.value) > _DIGITS:
        return None
    return int(field.value)
