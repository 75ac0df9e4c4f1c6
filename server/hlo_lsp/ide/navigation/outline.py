"""Comments of module text that stand on lines of their own."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hlo_lsp.model.bytesize import short
from hlo_lsp.model.card import counted
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
from hlo_lsp.syntax.records import Blank, Broken, Label, Record
from hlo_lsp.syntax.scanners import BranchLabel, ThunkRow
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1500  # records between two breaths


def comment_blocks(file: DumpFile) -> list[tuple[int, int]]:
    """The first and the last line of comments without anything in between, from top to bottom."""
    blocks: list[tuple[int, int]] = []
    for count, record in enumerate(file.records if file.kind is FileKind.MODULE else ()):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if type(record) is Comment:  # a fifth of the time that isinstance takes
            first, last = record.line, record.line + record.line_count - 1
            if blocks and blocks[-1][1] + 1 == first:
                first = blocks.pop()[0]
            blocks.append((first, last))
    return blocks


_DEEPEST = 50  # levels of thunks; deeper ones are shown on this level
_BETWEEN = frozenset({Blank, Comment})  # a comment is about what stands below
_SHAPE = 80  # characters of a shape that are shown


Described = tuple["NodeKind", str, str]  # with name and detail


class NodeKind(Enum):
    """What a node of the outline is."""

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
class Node:
    """A part of a file: whole lines, and the record on the first of them."""

    kind: NodeKind
    name: str
    detail: str
    line: int
    line_count: int
    record: Record
    children: list["Node"] = field(default_factory=list)


# How deep a head stands: heads behind it with a larger number are inside.
_DEPTHS: dict[str, int] = {
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
_TITLES: dict[str, str] = {
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


def outline(file: DumpFile, *, heads_only: bool = False) -> list[Node]:
    """The nodes of a file, outermost first. Broken lines are in none.

    ``heads_only`` leaves out what is on one line and has nothing below it: instructions, values
    in an allocation, steps. Of a text with 100 000 of them that is what takes the time.
    """
    if file.kind is FileKind.THUNKS:
        return _thunks(file.records)
    root = Node(NodeKind.SECTION, "", "", 0, 0, Blank())
    path: list[tuple[int, Node]] = [(-1, root)]
    last: Record = root.record
    for count, record in enumerate(file.records):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if record.is_head:
            depth = depth_of(record)
            while path[-1][0] >= depth:
                _close(path.pop()[1], last)
            node = _node(record)
            if node is not None:
                path[-1][1].children.append(node)
                path.append((depth, node))
        elif type(record) in _BETWEEN:
            continue
        elif (record.line_count > 1 or not heads_only) and (node := _node(record)) is not None:
            path[-1][1].children.append(node)
        last = record
    while len(path) > 1:
        _close(path.pop()[1], last)
    return root.children


def _close(node: Node, last: Record) -> None:
    node.line_count = max(node.line_count, last.line + last.line_count - node.line)


def depth_of(record: Record) -> int:
    """How deep a head stands: those behind it with a larger number are inside of it."""
    if isinstance(record, Label):
        return _DEPTHS.get(record.name, 3)
    if isinstance(
        record, memory.AllocationLine | memory.PeakLabel | memory.ReportedAllocation | Broken
    ):
        return 1
    return 0


def _node(record: Record) -> Node | None:
    described = _describe(record)
    if described is None:
        return None
    kind, name, detail = described
    return Node(kind, name, detail, record.line, record.line_count, record)


def _describe(record: Record) -> Described | None:
    if isinstance(record, Label):
        title = _TITLES.get(record.name)
        return None if title is None else (NodeKind.SECTION, title, "")
    describe = _DESCRIBED.get(type(record))
    return None if describe is None else describe(record)


def _used_value(record: UsedValue) -> Described | None:
    if record.name is None:
        return None
    return NodeKind.VALUE, f"{record.id} {record.name}{record.index or ''}", ""


def _reported(record: memory.ReportedAllocation) -> Described:
    return NodeKind.ALLOCATION, f"allocation {record.number}", record.human


# One entry a type of record, as a chain of questions would be asked 100 000 times.
_DESCRIBED: dict[type[Record], Callable[[Any], Described | None]] = {
    memory.AssignedValue: lambda record: (
        NodeKind.VALUE,
        f"{record.id} {record.name}{record.index or ''}",
        record.shape[:_SHAPE],
    ),
    UsedValue: _used_value,
    memory.SequenceRow: lambda record: (NodeKind.STEP, record.name, str(record.step)),
    memory.RangeRow: lambda record: (
        NodeKind.LIVE_RANGE,
        record.key,
        f"{record.start_step}-{record.end_step}",
    ),
    memory.PeakRow: lambda record: (
        NodeKind.PEAK,
        record.key or record.name,
        short(record.bytes),
    ),
    memory.AllocationLine: lambda record: (
        NodeKind.ALLOCATION,
        f"allocation {record.number}",
        short(record.size),
    ),
    memory.ReportedAllocation: _reported,
    memory.ListedAllocation: _reported,
    memory.TotalLine: lambda record: (NodeKind.SECTION, "Total bytes used", short(record.total)),
    memory.LiveRangeLabel: lambda record: (
        NodeKind.SECTION,
        "HloLiveRange",
        counted(record.max, "step"),
    ),
    memory.PeakLabel: lambda record: (NodeKind.SECTION, "Peak", f"step {record.moment}"),
    memory.SpaceLine: lambda record: (
        NodeKind.SPACE,
        f"Memory Space {record.name}",
        f"color {record.color}",
    ),
    ModuleHeader: lambda record: (NodeKind.SECTION, record.name, "HloModule"),
    TableLabel: lambda record: (NodeKind.SECTION, record.table, ""),
    ComputationLine: lambda record: (
        NodeKind.COMPUTATION,
        record.name,
        "ENTRY" if record.is_entry else "",
    ),
    InstructionLine: lambda record: (NodeKind.INSTRUCTION, record.name, record.opcode),
}


def _thunks(records: Iterable[Record]) -> list[Node]:
    """Thunks nest by their indentation; a branch label belongs to the loop in front of it."""
    root = Node(NodeKind.THUNK, "", "", 0, 0, Blank())
    path: list[tuple[int, Node]] = [(-1, root)]
    for record in records:
        if isinstance(record, ThunkRow):
            depth = min(record.depth, _DEEPEST)
            while path[-1][0] >= depth:
                path.pop()
            name = record.kind if record.id is None else f"{record.id:03} {record.kind}"
            node = Node(
                NodeKind.THUNK,
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
        if not isinstance(record, Blank | Broken):
            for _, open_node in path[1:]:
                open_node.line_count = record.line + 1 - open_node.line
    return root.children


def walk(nodes: list[Node]) -> Iterator[Node]:
    """All nodes, each in front of its children."""
    for node in nodes:
        yield node
        yield from walk(node.children)
