"""The structure of a file: sections, and what is in them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from hlo_lsp.analysis.cards.card import counted
from hlo_lsp.model.bytesize import short
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax import memory_records as memory
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.syntax.module_records import (
    Comment,
    ComputationLine,
    InstructionLine,
    ModuleHeader,
    TableLabel,
)
from hlo_lsp.syntax.records import Blank, Broken, Label, Record
from hlo_lsp.syntax.thunk_scanner import BranchLabel, ThunkRow
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.steps import Steps

_DEEPEST = 50  # levels of thunks; deeper ones are shown on this level
_STEP = 1500  # records between two breaths: about 3 ms


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


def outline(file: DumpFile) -> Steps[list[Node]]:
    """The nodes of a file, outermost first. Broken lines are in none."""
    if file.kind is FileKind.THUNKS:
        return _thunks(file.records)
    root = Node(NodeKind.SECTION, "", "", 0, 0, Blank())
    path: list[tuple[int, Node]] = [(-1, root)]
    end = 0
    for count, record in enumerate(file.records):
        if count % _STEP == _STEP - 1:
            yield
        if isinstance(record, Blank | Comment):  # a comment is about what stands below
            continue
        node = _node(record)
        depth = depth_of(record) if record.is_head else 99
        if record.is_head:
            while path[-1][0] >= depth:
                _close(path.pop()[1], end)
        end = record.line + record.line_count
        if node is None:
            continue
        path[-1][1].children.append(node)
        if record.is_head:
            path.append((depth, node))
    while path:
        _close(path.pop()[1], end)
    return root.children


def _close(node: Node, end: int) -> None:
    node.line_count = max(node.line_count, end - node.line)


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


def _describe(record: Record) -> tuple[NodeKind, str, str] | None:  # noqa: C901, PLR0912  # one case a record type
    if isinstance(record, memory.AssignedValue):
        return NodeKind.VALUE, f"{record.id} {record.name}{record.index or ''}", record.shape[:80]
    if isinstance(record, UsedValue):
        if record.name is None:
            return None
        return NodeKind.VALUE, f"{record.id} {record.name}{record.index or ''}", ""
    if isinstance(record, memory.SequenceRow):
        return NodeKind.STEP, record.name, str(record.step)
    if isinstance(record, memory.RangeRow):
        return NodeKind.LIVE_RANGE, record.key, f"{record.start_step}-{record.end_step}"
    if isinstance(record, memory.PeakRow):
        return NodeKind.PEAK, record.key or record.name, short(record.bytes)
    if isinstance(record, memory.AllocationLine):
        return NodeKind.ALLOCATION, f"allocation {record.number}", short(record.size)
    if isinstance(record, memory.ReportedAllocation):
        return NodeKind.ALLOCATION, f"allocation {record.number}", record.human
    if isinstance(record, memory.TotalLine):
        return NodeKind.SECTION, "Total bytes used", short(record.total)
    if isinstance(record, memory.LiveRangeLabel):
        return NodeKind.SECTION, "HloLiveRange", counted(record.max, "step")
    if isinstance(record, memory.PeakLabel):
        return NodeKind.SECTION, "Peak", f"step {record.moment}"
    if isinstance(record, memory.SpaceLine):
        return NodeKind.SPACE, f"Memory Space {record.name}", f"color {record.color}"
    if isinstance(record, ModuleHeader):
        return NodeKind.SECTION, record.name, "HloModule"
    if isinstance(record, TableLabel):
        return NodeKind.SECTION, record.table, ""
    if isinstance(record, ComputationLine):
        return NodeKind.COMPUTATION, record.name, "ENTRY" if record.is_entry else ""
    if isinstance(record, InstructionLine):
        return NodeKind.INSTRUCTION, record.name, record.opcode
    if isinstance(record, Label) and record.name in _TITLES:
        return NodeKind.SECTION, _TITLES[record.name], ""
    return None


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
