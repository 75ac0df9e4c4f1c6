"""The outline of a file, and its blocks of comments."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hlo_lsp.model.display import count_noun, format_short_bytes
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax import memory_records as memory
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import (
    Comment,
    ComputationLine,
    InstructionLine,
    ModuleHeader,
    TableLabel,
)
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Label, Record
from hlo_lsp.syntax.scanners import BranchLabel, ThunkRow
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_RECORDS_PER_CHECKPOINT = 1500


def comment_blocks(file: DumpFile) -> list[tuple[int, int]]:
    """Return the first and last lines of each run of consecutive comments."""
    blocks: list[tuple[int, int]] = []
    for count, record in enumerate(file.records if file.kind is FileKind.MODULE else ()):
        if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
            checkpoint()
        if type(record) is Comment:  # This is five times as fast as isinstance.
            first, last = record.line, record.line + record.line_count - 1
            if blocks and blocks[-1][1] + 1 == first:
                first = blocks.pop()[0]
            blocks.append((first, last))
    return blocks


_MAX_THUNK_DEPTH = 50  # Deeper thunks are shown on this level.
_SKIPPED_RECORDS = frozenset({BlankLine, Comment})  # A comment belongs to the following record.
_MAX_SHAPE_LENGTH = 80


NodeDescription = tuple["OutlineNodeKind", str, str]  # kind, name, and detail


class OutlineNodeKind(Enum):
    """The kind of an outline node."""

    SECTION = "section"
    ALLOCATION = "allocation"
    VALUE = "value"
    STEP = "step"
    LIVE_RANGE = "live range"
    PEAK = "peak"
    SPACE = "memory space"
    COMPUTATION = "computation"
    INSTRUCTION = "instruction"
    THUNK = "thunk"


@dataclass(slots=True)
class OutlineNode:
    """A range of whole lines, with the record on the first of them."""

    kind: OutlineNodeKind
    name: str
    detail: str
    line: int
    line_count: int
    record: Record
    children: list["OutlineNode"] = field(default_factory=list)


# The nesting depth of a label: the following heads with a larger depth are inside it.
_LABEL_DEPTHS: dict[str, int] = {
    "assignment_label": 0,
    "used_values_label": 0,
    "by_size_label": 0,
    "with_values_label": 0,
    "sequence_label": 1,
    "ranges_label": 1,
    "peak_missing": 1,
    "breakdown_label": 1,
    "table_header": 2,
}
_LABEL_TITLES: dict[str, str] = {
    "assignment_label": "BufferAssignment",
    "used_values_label": "Used values",
    "by_size_label": "Allocations sorted by size",
    "with_values_label": "Allocations with their values",
    "sequence_label": "InstructionSequence",
    "ranges_label": "BufferLiveRange",
    "peak_missing": "peak unknown",
    "breakdown_label": "Stack trace breakdown",
    "table_header": "table",
}


def outline(file: DumpFile, *, heads_only: bool = False) -> list[OutlineNode]:
    """Return the outline nodes of a file, outermost first, without unrecognized lines.

    Args:
        file: The file to outline.
        heads_only: Leave out one-line records without children, such as instructions, assigned
            values, and schedule steps. In texts with 100,000 of them they take most of the time.
    """
    if file.kind is FileKind.THUNKS:
        return _thunk_outline(file.records)
    root = OutlineNode(OutlineNodeKind.SECTION, "", "", 0, 0, BlankLine())
    path: list[tuple[int, OutlineNode]] = [(-1, root)]
    last: Record = root.record
    for count, record in enumerate(file.records):
        if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
            checkpoint()
        if record.is_head:
            depth = depth_of(record)
            while path[-1][0] >= depth:
                _close_node(path.pop()[1], last)
            node = _outline_node(record)
            if node is not None:
                path[-1][1].children.append(node)
                path.append((depth, node))
        elif type(record) in _SKIPPED_RECORDS:
            continue
        elif (record.line_count > 1 or not heads_only) and (
            node := _outline_node(record)
        ) is not None:
            path[-1][1].children.append(node)
        last = record
    while len(path) > 1:
        _close_node(path.pop()[1], last)
    return root.children


def _close_node(node: OutlineNode, last: Record) -> None:
    node.line_count = max(node.line_count, last.line + last.line_count - node.line)


def depth_of(record: Record) -> int:
    """Return the nesting depth of a head; the following heads with a larger depth are inside it."""
    if isinstance(record, Label):
        return _LABEL_DEPTHS.get(record.name, 3)
    if isinstance(
        record, memory.AllocationLine | memory.PeakLabel | memory.ReportedAllocation | BrokenRecord
    ):
        return 1
    return 0


def _outline_node(record: Record) -> OutlineNode | None:
    described = _describe_record(record)
    if described is None:
        return None
    kind, name, detail = described
    return OutlineNode(kind, name, detail, record.line, record.line_count, record)


def _describe_record(record: Record) -> NodeDescription | None:
    if isinstance(record, Label):
        title = _LABEL_TITLES.get(record.name)
        return None if title is None else (OutlineNodeKind.SECTION, title, "")
    describe = _DESCRIPTIONS.get(type(record))
    return None if describe is None else describe(record)


def _describe_used_value(record: UsedValue) -> NodeDescription | None:
    if record.name is None:
        return None
    return OutlineNodeKind.VALUE, f"{record.id} {record.name}{record.index or ''}", ""


def _describe_reported_allocation(record: memory.ReportedAllocation) -> NodeDescription:
    return OutlineNodeKind.ALLOCATION, f"allocation {record.number}", record.human


# A table, because a chain of isinstance tests is too slow for 100,000 records.
_DESCRIPTIONS: dict[type[Record], Callable[[Any], NodeDescription | None]] = {
    memory.AssignedValue: lambda record: (
        OutlineNodeKind.VALUE,
        f"{record.id} {record.name}{record.index or ''}",
        record.shape[:_MAX_SHAPE_LENGTH],
    ),
    UsedValue: _describe_used_value,
    memory.SequenceRow: lambda record: (OutlineNodeKind.STEP, record.name, str(record.step)),
    memory.RangeRow: lambda record: (
        OutlineNodeKind.LIVE_RANGE,
        record.key,
        f"{record.start_step}-{record.end_step}",
    ),
    memory.PeakRow: lambda record: (
        OutlineNodeKind.PEAK,
        record.key or record.name,
        format_short_bytes(record.bytes),
    ),
    memory.AllocationLine: lambda record: (
        OutlineNodeKind.ALLOCATION,
        f"allocation {record.number}",
        format_short_bytes(record.size),
    ),
    memory.ReportedAllocation: _describe_reported_allocation,
    memory.ListedAllocation: _describe_reported_allocation,
    memory.TotalLine: lambda record: (
        OutlineNodeKind.SECTION,
        "Total bytes used",
        format_short_bytes(record.total),
    ),
    memory.LiveRangeLabel: lambda record: (
        OutlineNodeKind.SECTION,
        "HloLiveRange",
        count_noun(record.max, "step"),
    ),
    memory.PeakLabel: lambda record: (OutlineNodeKind.SECTION, "Peak", f"step {record.moment}"),
    memory.SpaceLine: lambda record: (
        OutlineNodeKind.SPACE,
        f"Memory Space {record.name}",
        f"color {record.color}",
    ),
    ModuleHeader: lambda record: (OutlineNodeKind.SECTION, record.name, "HloModule"),
    TableLabel: lambda record: (OutlineNodeKind.SECTION, record.table, ""),
    ComputationLine: lambda record: (
        OutlineNodeKind.COMPUTATION,
        record.name,
        "ENTRY" if record.is_entry else "",
    ),
    InstructionLine: lambda record: (OutlineNodeKind.INSTRUCTION, record.name, record.opcode),
}


def _thunk_outline(records: Iterable[Record]) -> list[OutlineNode]:
    """Return the outline of thunks by indentation; a branch label belongs to the preceding loop."""
    root = OutlineNode(OutlineNodeKind.THUNK, "", "", 0, 0, BlankLine())
    path: list[tuple[int, OutlineNode]] = [(-1, root)]
    for record in records:
        if isinstance(record, ThunkRow):
            depth = min(record.depth, _MAX_THUNK_DEPTH)
            while path[-1][0] >= depth:
                path.pop()
            name = record.kind if record.id is None else f"{record.id:03} {record.kind}"
            node = OutlineNode(
                OutlineNodeKind.THUNK,
                name,
                record.annotation or record.kernel or "",
                record.line,
                1,
                record,
            )
            path[-1][1].children.append(node)
            path.append((depth, node))
        if isinstance(record, BranchLabel) and record.depth is not None:
            while path[-1][0] > record.depth:
                path.pop()
        if not isinstance(record, BlankLine | BrokenRecord):
            for _, open_node in path[1:]:
                open_node.line_count = record.line + 1 - open_node.line
    return root.children


def walk_nodes(nodes: list[OutlineNode]) -> Iterator[OutlineNode]:
    """Yield all nodes, each before its children."""
    for node in nodes:
        yield node
        yield from walk_nodes(node.children)
