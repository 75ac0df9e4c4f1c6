"""Links from the text of a dump to Python source lines."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import CALLING_OPCODES
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.memory_records import BreakdownRow, PeakLabel, PeakRow
from hlo_lsp.syntax.metadata_text import metadata_fields
from hlo_lsp.syntax.module_records import (
    FrameRow,
    InstructionLine,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import fields_of_line
from hlo_lsp.syntax.used_value import UsedValue

_INDEX_SUFFIX = re.compile(r"\{[\d,]+\}$")


class SourceLink(NamedTuple):
    """A part of a line that names a Python line: columns in code points, the end exclusive."""

    line: int
    start: int
    end: int
    source: SourceLine


def source_links(
    dump: Compile, file: DumpFile, *, in_instructions: bool = True
) -> list[SourceLink]:
    """Return the places of a file that name a Python line, from top to bottom.

    These are ``source_file=`` with ``source_line=``, ``stack_frame_id=`` (its innermost line), the
    rows of the tables of files, locations, and frames, and the rows of the stack trace breakdown at
    the peak.
    """
    frames: dict[str, SourceLine | None] = {}
    links: list[SourceLink] = []
    for record in file.records:
        checkpoint()
        if in_instructions or type(record) is not InstructionLine:
            links += _record_links(dump, file, record, frames)
    return links


def source_line_at(dump: Compile, file: DumpFile, line: int, column: int) -> SourceLine | None:
    """Return the Python line that is named at a line and column (code points, from 0)."""
    record = file.record_at(line, column)
    links = () if record is None else _record_links(dump, file, record, {})
    hits = (link for link in links if link.line == line and link.start <= column <= link.end)
    return next((link.source for link in hits), None)


def _record_links(
    dump: Compile, file: DumpFile, record: Record, frames: dict[str, SourceLine | None]
) -> list[SourceLink]:
    """Return the links in a record, in order; ``frames`` caches the lines of stack frames."""
    match record:
        case InstructionLine() | UsedValue():
            first, count = record.line, record.line_count
            if isinstance(record, UsedValue):
                first, count = first + len(record.lines) - 1, record.lines[-1].count("\n") + 1
            lines = range(first, first + count)
            return [link for line in lines for link in _line_links(dump, file, line, frames)]
        case LocationRow():
            source = file.module.tables.line_at(record)
            return _row_link(file, record, ("LINE", "LOCATION_REST"), source)
        case FrameRow():
            source = file.module.tables.line_of(record.location)
            return _row_link(file, record, ("FILE_LOCATION_ID",), source)
        case NameRow():
            head = file.records.head_of(record)
            if isinstance(head, TableLabel) and head.table == "FileNames":
                return _row_link(file, record, ("STRING",), SourceLine(record.text, 1))
        case BreakdownRow(title=title):
            sources = _breakdown_sources(dump)
            found = sources.get(title) or sources.get(_INDEX_SUFFIX.sub("", title))
            if found is not None:
                start = file.lines[record.line].index(title)
                return [SourceLink(record.line, start, start + len(title), found)]
    return []


def _row_link(
    file: DumpFile,
    record: FrameRow | LocationRow | NameRow,
    roles: tuple[str, ...],
    source: SourceLine | None,
) -> list[SourceLink]:
    """Return the link of a table row, from the name before the first field to the last field."""
    text = file.lines[record.line]
    found = [field for field in fields_of_line(record.rule, text) if field.role in roles]
    if not found or source is None:
        return []
    start = max(text.rfind(sign, 0, found[0].start) for sign in " {") + 1
    return [SourceLink(record.line, start, found[-1].end, source)]


def _line_links(
    dump: Compile, file: DumpFile, line: int, frames: dict[str, SourceLine | None]
) -> list[SourceLink]:
    found = {field.name: field for field in metadata_fields(file.lines[line])}
    names = ("source_file", "source_line")
    printed: dict[str, str] = {name: found[name].value for name in names if name in found}
    links: list[SourceLink] = []
    for field in found.values():
        source: SourceLine | None = None
        if field.name == "stack_frame_id":
            if field.value not in frames:
                stack = dump.stack_of({field.name: field.value})
                frames[field.value] = next(iter(stack), None)
            source = frames[field.value]
        elif field.name in printed:
            source = next(iter(dump.stack_of(printed)), None)
        if source is not None:
            start = field.start
            if links and links[-1].source == source and links[-1].end + 1 == start:
                start = links.pop().start  # Adjacent fields share one link.
            links.append(SourceLink(line, start, field.end, source))
    return links


@query
def _breakdown_sources(dump: Compile) -> dict[str, SourceLine]:
    """Return the Python lines of the stack trace breakdown, by row title.

    A title is the operation name, or else the instruction name, of a value at the peak or of an
    instruction that calls its computation. Titles with several Python lines are left out.
    """
    lines: defaultdict[str, set[SourceLine]] = defaultdict(set)
    for name in _instruction_names_at_peak(dump):
        checkpoint()
        text = dump.text_of(name)
        if text is not None:
            lines[text.metadata.get("op_name") or name].update(dump.stack_of(text.metadata)[:1])
    return {title: next(iter(found)) for title, found in lines.items() if len(found) == 1}


def _instruction_names_at_peak(dump: Compile) -> Iterator[str]:
    peak = dump.label(PeakLabel)
    if peak is not None:
        rows = peak.file.records.members(peak.record)
        yield from dict.fromkeys(row.name for row in rows if isinstance(row, PeakRow))
    for file in dump.files:
        instructions = file.module.instructions.firsts()
        yield from (record.name for record in instructions if record.opcode in CALLING_OPCODES)
