"""The outline of a file, and its blocks of comments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import count_noun
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
from hlo_lsp.text.amounts import format_short_bytes


def comment_blocks(file: DumpFile) -> list[tuple[int, int]]:
    """Return the first and last lines of each run of consecutive comments."""
    blocks: list[tuple[int, int]] = []
    for record in file.records if file.kind is FileKind.MODULE else ():
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


class OutlineNodeKind(Enum):
    """The kind of an outline node."""

    FILE = "file"
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
    MESSAGE = "message"
    LIST = "list"
    BUFFER = "buffer"


@dataclass(slots=True)
class OutlineNode:
    """A range of whole lines, with the record on the first of them if they have records."""

    kind: OutlineNodeKind
    name: str
    detail: str
    line: int
    line_count: int
    record: Record | None = None
    children: list["OutlineNode"] = field(default_factory=list)


# The nesting depth of each label, and its title. Heads with a larger depth are inside it.
_LABELS: dict[str, tuple[int, str]] = {
    "assignment_label": (0, "BufferAssignment"),
    "used_values_label": (0, "Used values"),
    "by_size_label": (0, "Allocations sorted by size"),
    "with_values_label": (0, "Allocations with their values"),
    "sequence_label": (1, "InstructionSequence"),
    "ranges_label": (1, "BufferLiveRange"),
    "peak_missing": (1, "peak unknown"),
    "breakdown_label": (1, "Stack trace breakdown"),
    "table_header": (2, "table"),
}


def outline(file: DumpFile, *, heads_only: bool = False) -> list[OutlineNode]:
    """Return the outline nodes of a file, outermost first, without unrecognized lines.

    If ``heads_only``, one-line records without children are left out, such as instructions,
    assigned values, and schedule steps. In texts with 100,000 of them they take most of the time.
    """
    has_thunks = file.kind is FileKind.THUNKS
    skipped = _SKIPPED_RECORDS | {BrokenRecord} if has_thunks else _SKIPPED_RECORDS
    root = OutlineNode(OutlineNodeKind.SECTION, "", "", 0, 0)
    path: list[tuple[int, OutlineNode]] = [(-1, root)]
    last: Record = BlankLine()
    for record in file.records:
        checkpoint()
        depth = _thunk_depth(record) if has_thunks else depth_of(record) if record.is_head else None
        if depth is not None:
            while path[-1][0] >= depth:
                _close_node(path.pop()[1], last)
            node = _outline_node(record)
            if node is not None:
                path[-1][1].children.append(node)
                path.append((depth, node))
        elif type(record) in skipped:
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


def _thunk_depth(record: Record) -> int | None:
    """Return the depth of a thunk by its indentation; a branch label belongs to the last loop."""
    if isinstance(record, ThunkRow):
        return min(record.depth, _MAX_THUNK_DEPTH)
    if isinstance(record, BranchLabel) and record.depth is not None:
        return record.depth + 1
    return None


def depth_of(record: Record) -> int:
    """Return the nesting depth of a head; the following heads with a larger depth are inside it."""
    if isinstance(record, Label):
        return _LABELS.get(record.name, (3, ""))[0]
    return int(isinstance(record, _DEPTH_1_RECORDS))


_DEPTH_1_RECORDS = (
    *(memory.AllocationLine, memory.PeakLabel, memory.ReportedAllocation, BrokenRecord),
)


def _outline_node(record: Record) -> OutlineNode | None:
    described = _DESCRIPTIONS.get(type(record))
    if described is None:
        title = _LABELS.get(record.name) if isinstance(record, Label) else None
        kind, name, detail = OutlineNodeKind.SECTION, "" if title is None else title[1], ""
    else:
        kind, name, detail = described[0], described[1](record), described[2](record)
    if not name:
        return None
    return OutlineNode(kind, name, detail, record.line, record.line_count, record)


def _value_name(record: memory.AssignedValue | UsedValue) -> str:
    return "" if record.name is None else f"{record.id} {record.label}"


def _thunk_name(record: ThunkRow) -> str:
    return record.kind if record.id is None else f"{record.id:03} {record.kind}"


def _allocation_name(record: memory.AllocationLine | memory.ReportedAllocation) -> str:
    return f"allocation {record.number}"


_Kind = OutlineNodeKind
_Text = Callable[[Any], str]
_name = attrgetter("name")
# A table, because a chain of isinstance tests is too slow for 100,000 records.
_DESCRIPTIONS: dict[type[Record], tuple[OutlineNodeKind, _Text, _Text]] = {
    memory.AssignedValue: (_Kind.VALUE, _value_name, lambda value: value.shape[:_MAX_SHAPE_LENGTH]),
    UsedValue: (_Kind.VALUE, _value_name, lambda _: ""),
    memory.SequenceRow: (_Kind.STEP, _name, lambda row: str(row.step)),
    memory.RangeRow: (
        _Kind.LIVE_RANGE, attrgetter("key"), lambda row: f"{row.start_step}-{row.end_step}"
    ),
    memory.PeakRow: (
        _Kind.PEAK, lambda row: row.key or row.name, lambda row: format_short_bytes(row.bytes)
    ),
    memory.AllocationLine: (
        _Kind.ALLOCATION, _allocation_name, lambda line: format_short_bytes(line.size)
    ),
    memory.ReportedAllocation: (_Kind.ALLOCATION, _allocation_name, attrgetter("human")),
    memory.ListedAllocation: (_Kind.ALLOCATION, _allocation_name, attrgetter("human")),
    memory.TotalLine: (
        _Kind.SECTION, lambda _: "Total bytes used", lambda line: format_short_bytes(line.total)
    ),
    memory.LiveRangeLabel: (
        _Kind.SECTION, lambda _: "HloLiveRange", lambda label: count_noun(label.max, "step")
    ),
    memory.PeakLabel: (_Kind.SECTION, lambda _: "Peak", lambda label: f"step {label.moment}"),
    memory.SpaceLine: (
        _Kind.SPACE, lambda line: f"Memory Space {line.name}", lambda line: f"color {line.color}"
    ),
    ModuleHeader: (_Kind.SECTION, _name, lambda _: "HloModule"),
    TableLabel: (_Kind.SECTION, attrgetter("table"), lambda _: ""),
    ComputationLine: (_Kind.COMPUTATION, _name, lambda head: "ENTRY" if head.is_entry else ""),
    InstructionLine: (_Kind.INSTRUCTION, _name, attrgetter("opcode")),
    ThunkRow: (_Kind.THUNK, _thunk_name, lambda row: row.annotation or row.kernel or ""),
}  # fmt: skip


def walk_nodes(nodes: list[OutlineNode]) -> Iterator[OutlineNode]:
    """Yield all nodes, each before its children."""
    for node in nodes:
        yield node
        yield from walk_nodes(node.children)
