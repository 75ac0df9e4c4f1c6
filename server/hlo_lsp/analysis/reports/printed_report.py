"""A memory usage report as it was printed, and where it differs from what XLA makes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby

from hlo_lsp.analysis.reports.report import Block, table_lines
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import (
    ListedAllocation,
    ReportedAllocation,
    TableRow,
    TotalLine,
)
from hlo_lsp.syntax.records import BlankLine, Label, Record

_HUMAN = re.compile(r"^(Total bytes: \d+) \(.*\)$")
_TOTAL = "Total bytes used:"
_ALIGNED = 4000  # lines that differ: looking for the best fit among more takes too long


@dataclass(frozen=True, slots=True)
class PrintedReport:
    """The lines of a report that are not blank. ``by_size`` says which generation it is of."""

    file: DumpFile
    records: tuple[Record, ...]
    lines: tuple[str, ...]
    by_size: bool


@dataclass(frozen=True, slots=True)
class WantedLine:
    """A line that a report should have, what is compared of it, and the block that it is of."""

    line: str
    text: str
    block: Block


@dataclass(frozen=True, slots=True)
class Difference:
    """Where lines differ: those from ``start`` to ``end`` should be the ``wanted`` ones.

    ``start`` and ``end`` count the lines of the printed report that are not blank. ``block`` is
    what the first of the wanted lines is of, or else the line in front.
    """

    start: int
    end: int
    wanted: tuple[WantedLine, ...]
    block: Block | None


def printed_report(files: Sequence[DumpFile]) -> PrintedReport | None:
    """The first report among some files that has lines and tables; a text proto has none."""
    for file in files:
        if file.kind is not FileKind.REPORT:
            continue
        # The total of all is `total-mismatch` to judge, and stands in other files, too.
        records = tuple(
            record for record in file.records if not isinstance(record, BlankLine | TotalLine)
        )
        labels = {record.name for record in records if isinstance(record, Label)}
        if "proto_line" in labels or not records:
            continue
        by_size = bool(labels & {"by_size_label", "by_size_header", "with_values_label"})
        by_size = by_size or any(isinstance(record, ReportedAllocation) for record in records)
        lines = tuple(comparable(file.lines[record.line]) for record in records)
        return PrintedReport(file, records, lines, by_size)
    return None


def comparable(line: str) -> str:
    """A line without what is said twice in it: bytes for people behind exact ones."""
    match = _HUMAN.match(line)
    return line if match is None else match[1]


def wanted_lines(blocks: Sequence[Block]) -> list[WantedLine]:
    """The lines that are compared."""
    return [
        WantedLine(line, comparable(line), block)
        for block in blocks
        for line in block.lines
        if line and not line.startswith(_TOTAL)
    ]


def in_printed_order(blocks: Sequence[Block], printed: PrintedReport) -> list[Block]:
    """The tables of an older report, with what is in no order of its own as it was printed.

    Up to jaxlib 0.7 rows of equal size, and the shapes in a row, came in the order of a hash map.
    """
    tables: dict[int, list[TableRow]] = {}
    number: int | None = None
    for record in printed.records:
        if isinstance(record, ReportedAllocation) and not isinstance(record, ListedAllocation):
            number = record.number
        elif isinstance(record, TableRow) and number is not None:
            tables.setdefault(number, []).append(record)
    return [
        block
        if block.allocation is None or not block.slots
        else _reordered(block, tables.get(block.allocation.record.number, []))
        for block in blocks
    ]


def _reordered(block: Block, rows: Sequence[TableRow]) -> Block:
    place = {row.offset: count for count, row in reversed(list(enumerate(rows)))}
    slots = [
        slot
        for _, alike in groupby(block.slots, key=lambda slot: slot.size)
        for slot in sorted(alike, key=lambda slot: place.get(slot.offset, len(place)))
    ]
    lines = ["\t" + line for line in table_lines(slots)]
    shapes = {row.offset: row.shapes for row in rows}
    for count, slot in enumerate(slots[: len(lines) - 2], 2):
        own, told = ", ".join(slot.terms), shapes.get(slot.offset, "")
        if told != own and sorted(terms_of(told)) == sorted(slot.terms) and own in lines[count]:
            lines[count] = lines[count].removesuffix(own) + told
    return replace(block, lines=(*block.lines[:2], *lines), slots=tuple(slots))


def terms_of(shapes: str) -> list[str]:
    """The shapes that a row lists, each with its number: ``5×s32[]``."""
    return element_texts(f"({shapes})") or [shapes]


def strangers(printed: PrintedReport, wanted: Sequence[WantedLine]) -> int:
    """How many rows were printed that the report should not have, wherever they stand in it."""
    known = Counter(_without_sums(line.text) for line in wanted)
    known.subtract(
        _without_sums(line)
        for line, record in zip(printed.lines, printed.records, strict=True)
        if isinstance(record, TableRow | ReportedAllocation)
    )
    return -sum(count for count in known.values() if count < 0)


def _without_sums(line: str) -> str:
    """A row without what follows from the rows above: one wrong size changes that in many."""
    columns = line.split("; ")
    return "; ".join(columns[2:] if "; allocation " in line else columns[1:] or columns)


def differences(printed: PrintedReport, wanted: Sequence[WantedLine]) -> Iterator[Difference]:
    """Where the printed lines differ, from the first on; as few lines as can be."""
    found, texts = printed.lines, [line.text for line in wanted]
    start, end, stop = 0, len(found), len(texts)
    while start < min(end, stop) and found[start] == texts[start]:
        start += 1
    while end > start and stop > start and found[end - 1] == texts[stop - 1]:
        end, stop = end - 1, stop - 1
    matcher = SequenceMatcher(None, found[start:end], texts[start:stop])
    pieces = [("replace", 0, end - start, 0, stop - start)]
    if max(end - start, stop - start) <= _ALIGNED:
        pieces = [piece for piece in matcher.get_opcodes() if piece[0] != "equal"]
    for _, left, right, first, last in pieces:
        block = wanted[max(0, start + first - (first == last))].block if wanted else None
        lines = tuple(wanted[start + first : start + last])
        if left < right or lines:
            yield Difference(start + left, start + right, lines, block)
