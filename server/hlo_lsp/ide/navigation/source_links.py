"""Links from the text of a dump to Python source lines."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.query import query
from hlo_lsp.model.source import SourceLine, SourceTables
from hlo_lsp.syntax.instruction_text import MetadataField, metadata_fields
from hlo_lsp.syntax.line_fields import fields_of_line
from hlo_lsp.syntax.memory_records import BreakdownRow, PeakLabel, PeakRow
from hlo_lsp.syntax.module_records import (
    FrameRow,
    InstructionLine,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_RECORDS_PER_CHECKPOINT = 200
_INDEX_SUFFIX = re.compile(r"\{[\d,]+\}$")
# The opcodes on a path of the stack trace breakdown, except the leaf (``hlo_stack_trace.cc``).
_CALLING_OPCODES = frozenset({"while", "conditional", "call", "async-start"})
_MAX_LINE_NUMBER_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A part of a line that names a Python line: columns in code points, the end exclusive."""

    line: int
    start: int
    end: int
    source: SourceLine


def source_links(
    dump: DumpSet, file: DumpFile, *, in_instructions: bool = True
) -> list[SourceLink]:
    """Return the places of a file that name a Python line, from top to bottom.

    These are ``source_file=`` with ``source_line=``, ``stack_frame_id=`` (its innermost line), the
    rows of the tables of files, locations, and frames, and the rows of the stack trace breakdown at
    the peak.
    """
    reader = _LinkReader(dump, file)
    links: list[SourceLink] = []
    for count, record in enumerate(file.records):
        if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
            checkpoint()
        if not in_instructions and type(record) is InstructionLine:
            continue
        if isinstance(record, BreakdownRow):
            sources = _breakdown_sources(dump)
            links += _breakdown_links(file, record, sources)
        else:
            links += reader.links(record)
    return links


def source_line_at(dump: DumpSet, file: DumpFile, line: int, column: int) -> SourceLine | None:
    """Return the Python line that is named at a line and column (code points, from 0)."""
    record = file.record_at(line, column)
    if record is None:
        return None
    if isinstance(record, BreakdownRow):
        links = list(_breakdown_links(file, record, _breakdown_sources(dump)))
    else:
        links = list(_LinkReader(dump, file).links(record))
    hits = (link for link in links if link.line == line and link.start <= column <= link.end)
    return next((link.source for link in hits), None)


class _LinkReader:
    """A reader of the links in the records of one file."""

    def __init__(self, dump: DumpSet, file: DumpFile) -> None:
        self._dump = dump
        self._file = file
        self._frames: dict[str, SourceLine | None] = {}

    def links(self, record: Record) -> Iterator[SourceLink]:
        """Yield the links in a record, in order."""
        if isinstance(record, InstructionLine):
            for line in range(record.line, record.line + record.line_count):
                yield from self._in_metadata(line)
        elif isinstance(record, UsedValue):
            first = record.line + len(record.lines) - 1
            for line in range(first, first + record.lines[-1].count("\n") + 1):
                yield from self._in_metadata(line)
        elif isinstance(record, LocationRow):
            yield from self._in_row(
                record, ("LINE", "LOCATION_REST"), _location_source(self._tables, record)
            )
        elif isinstance(record, FrameRow):
            locations = self._tables.locations
            if 0 < record.location <= len(locations):
                source = _location_source(self._tables, locations[record.location - 1])
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
        """Yield the link of a table row, from the name before the first field to the last field."""
        text = self._file.lines[record.line]
        found = [field for field in fields_of_line(record.rule, text) if field.role in roles]
        if found and source is not None:
            start = max(text.rfind(sign, 0, found[0].start) for sign in " {") + 1
            yield SourceLink(record.line, start, found[-1].end, source)

    def _in_metadata(self, line: int) -> list[SourceLink]:
        found = {field.name: field for field in metadata_fields(self._file.lines[line])}
        file = found.get("source_file")
        number = _parse_number(found.get("source_line")) or 1
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
                    start = links.pop().start  # Adjacent fields share one link.
                links.append(SourceLink(line, start, field.end, source))
        return links

    def _innermost(self, frame: MetadataField) -> SourceLine | None:
        if frame.value not in self._frames:
            number = _parse_number(frame) or 0
            stacks = (file.module.tables.stack(number) for file in self._dump.files)
            self._frames[frame.value] = next((line for stack in stacks for line in stack), None)
        return self._frames[frame.value]


def _location_source(tables: SourceTables, location: LocationRow) -> SourceLine | None:
    files, functions = tables.files, tables.functions
    if not 0 < location.file <= len(files):
        return None
    known = 0 < location.function <= len(functions)
    function = functions[location.function - 1] if known else None
    return SourceLine(files[location.file - 1], location.source_line, function)


def _breakdown_links(
    file: DumpFile, record: BreakdownRow, sources: dict[str, SourceLine]
) -> Iterator[SourceLink]:
    source = sources.get(record.title) or sources.get(_INDEX_SUFFIX.sub("", record.title))
    if source is not None:
        start = file.lines[record.line].index(record.title)
        yield SourceLink(record.line, start, start + len(record.title), source)


@query
def _breakdown_sources(dump: DumpSet) -> dict[str, SourceLine]:
    """Return the Python lines of the stack trace breakdown, by row title.

    A title is the operation name, or else the instruction name, of a value at the peak or of an
    instruction that calls its computation. Titles with several Python lines are left out.
    """
    lines: defaultdict[str, set[SourceLine]] = defaultdict(set)
    for count, name in enumerate(_instruction_names_at_peak(dump)):
        if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
            checkpoint()
        text = dump.text_of(name)
        if text is not None:
            lines[text.metadata.get("op_name") or name].update(dump.stack(text)[:1])
    return {title: next(iter(found)) for title, found in lines.items() if len(found) == 1}


def _instruction_names_at_peak(dump: DumpSet) -> Iterator[str]:
    peak = dump.label(PeakLabel)
    if peak is not None:
        rows = peak.file.records.members(peak.record)
        yield from dict.fromkeys(row.name for row in rows if isinstance(row, PeakRow))
    for file in dump.files:
        instructions = file.module.instructions.firsts()
        yield from (record.name for record in instructions if record.opcode in _CALLING_OPCODES)


def _parse_number(field: MetadataField | None) -> int | None:
    if field is None or not field.value.isdecimal() or len(field.value) > _MAX_LINE_NUMBER_DIGITS:
        return None
    return int(field.value)
