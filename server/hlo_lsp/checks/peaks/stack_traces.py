"""The tree of stack traces at the peak: its sums, its percentages, its order.

Each row has three numbers of bytes (hlo_stack_trace.cc): ``current`` of the row itself, ``total``
with the rows below it, and ``remaining`` of all rows after it.
"""

from collections.abc import Iterator

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.checks.live_ranges.section import (
    MAX_FINDINGS,
    LiveRangeSection,
    live_range_section,
)
from hlo_lsp.hlo.notation import spaced
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import Section
from hlo_lsp.syntax.memory_records import BreakdownRow
from hlo_lsp.syntax.metadata_text import metadata_fields
from hlo_lsp.syntax.records import BrokenRecord, Label


class StackTree:
    """The rows of a tree that has ``total`` bytes, and where they disagree.

    Attributes:
        parents: For each row the row that it is below; -1 for the root.
        last_children: The last row directly below a row.
        misplaced: Rows that are too deep for the previous row, or a second root.
        total_excess: For each row its total minus its current bytes and the totals below it; for
            the row -1, which has only the root below it, minus that of the root.
        remaining_excess: For each row the bytes remaining before it, minus its current bytes and
            those remaining after it; 0 for an additional row.
        disordered: Rows with a larger total, or a smaller name, than the previous one below the
            same row, by those.
    """

    def __init__(self, rows: list[BreakdownRow], total: int) -> None:
        self.parents: list[int] = []
        self.last_children: dict[int, int] = {}
        self.misplaced: list[int] = []
        self.total_excess = [*(row.total - row.current for row in rows), total]
        self.remaining_excess: list[int] = []
        self.disordered: dict[int, int] = {}
        open_rows = [-1]
        remaining = total
        for place, row in enumerate(rows):
            checkpoint()
            del open_rows[row.depth + 1 :]
            if row.depth + 1 != len(open_rows) or (place and not row.depth):
                self.misplaced.append(place)
            parent = open_rows[-1]
            self.parents.append(parent)
            self.total_excess[parent] -= row.total
            self.remaining_excess.append(remaining - row.current - row.remaining)
            remaining = row.remaining
            sibling = self.last_children.get(parent)
            if sibling is not None and _order(rows[sibling]) >= _order(row):
                self.disordered[place] = sibling
            self.last_children[parent] = place
            open_rows.append(place)
        self.remaining_excess.append(0)


def _order(row: BreakdownRow) -> tuple[int, bytes]:
    return -row.total, row.title.encode()


def stack_total(context: CompileContext) -> Iterator[Finding]:
    """Report numbers of bytes that do not add up, and rows that are below no other one."""
    section = _section_with_stacks(context.dump)
    if section is None or Section.STACKS in section.damaged:
        return
    rows, total, declared = section.stacks, _peak_total(section), _declared_total(section)
    if declared != total:
        label = section.place(section.labels[Section.STACKS], "TOTAL")
        root = Related(section.place(rows[0], "TOTAL"), f"{total:,} B")
        message = f"the tree of {declared or 0:,} B does not match its root: expected {total:,} B"
        yield context.report(label, message, root).put(spaced(total))
    tree = StackTree(rows, total)
    for place, role, number, right in [*_single_numbers(tree, rows)][:MAX_FINDINGS]:
        message = f"{role.lower()} {number:,} B does not match the rows above and below: expected "
        related = _around(section, tree, place)
        finding = context.report(
            section.place(rows[place], role), f"{message}{right:,} B", *related
        )
        yield finding.put(spaced(right))
    odd = {place for place, excess in enumerate(tree.total_excess[:-1]) if excess}
    if not tree.disordered:
        odd.update(place for place, excess in enumerate(tree.remaining_excess) if excess)
    places = sorted(odd.union(tree.misplaced))[:MAX_FINDINGS]
    if places:
        related = [one for place in places for one in _around(section, tree, place)]
        related += [section.related(rows[place], "this row, too") for place in places[1:]]
        message = "the bytes of this row do not match the rows above and below: rows may be missing"
        yield context.report(section.place(rows[places[0]]), message, *related)


def _single_numbers(
    tree: StackTree, rows: list[BreakdownRow]
) -> Iterator[tuple[int, str, int, int]]:
    """Yield each number that contradicts two others, with the one number that fits both.

    Clears the excess that it explains.
    """
    totals, remaining = tree.total_excess, tree.remaining_excess
    for place, row in enumerate(rows):
        excess, parent = totals[place], tree.parents[place]
        if excess and excess == remaining[place]:
            totals[place] = remaining[place] = 0
            yield place, "CURRENT", row.current, row.current + excess
        elif excess and totals[parent] == -excess:
            totals[place] = totals[parent] = 0
            yield place, "TOTAL", row.total, row.total - excess
        excess = remaining[place]
        if excess and remaining[place + 1] == -excess:
            remaining[place] = remaining[place + 1] = 0
            yield place, "REMAINING", row.remaining, row.remaining + excess


def _around(section: LiveRangeSection, tree: StackTree, place: int) -> list[Related]:
    """Return the rows that the numbers of a row are compared with."""
    near = {
        tree.parents[place]: "the row above it",
        place - 1: "previous row",
        tree.last_children.get(place, -1): "the last row below it",
    }
    rows = section.stacks
    return [section.related(rows[at], what) for at, what in near.items() if at >= 0]


def stack_percent(context: CompileContext) -> Iterator[Finding]:
    """Report percentages that are not the total of a row by that of the root."""
    section = _section_with_stacks(context.dump)
    if section is None:
        return
    total = _peak_total(section)
    count = 0
    for row in section.stacks if total else ():
        checkpoint()
        right, place = f"{row.total / total * 100:.1f}", section.place(row, "PERCENT")
        printed = place.file.lines[place.line][place.start : place.end]
        if printed != right and count < MAX_FINDINGS:
            count += 1
            message = f"{printed}% does not match {row.total:,} B of {total:,} B: expected {right}%"
            yield context.report(place, message).put(right)


def stack_order(context: CompileContext) -> Iterator[Finding]:
    """Report rows that are not sorted by total, the largest first, then by name."""
    section = _section_with_stacks(context.dump)
    if section is None or Section.STACKS in section.damaged:
        return
    for place, other in [*StackTree(section.stacks, 0).disordered.items()][:MAX_FINDINGS]:
        row, previous = section.stacks[place], section.stacks[other]
        message = f"`{row.title}` is listed after `{previous.title}`: expected by total, then name"
        related = section.related(previous, "previous row of this level")
        yield context.report(section.place(row), message, related)


def _section_with_stacks(dump: Compile) -> LiveRangeSection | None:
    section = live_range_section(dump)
    has_stacks = section is not None and Section.STACKS in section.labels and section.stacks
    return section if has_stacks else None


def _peak_total(section: LiveRangeSection) -> int:
    """Return the bytes of the tree: those of its label and of the list at the peak.

    Where these two differ, they are those of the root.
    """
    declared = _declared_total(section)
    is_listed = bool(section.peak) and section.peak[-1].cumulative == declared
    return declared if declared is not None and is_listed else section.stacks[0].total


def _declared_total(section: LiveRangeSection) -> int | None:
    place = section.place(section.labels[Section.STACKS], "TOTAL")
    digits = place.file.lines[place.line][place.start : place.end].replace(" ", "")
    return int(digits) if digits.isdecimal() and len(digits) < 20 else None


RULES: tuple[AnyRule, ...] = (
    WholeRule("stack-total", Severity.ERROR, stack_total),
    WholeRule("stack-percent", Severity.ERROR, stack_percent),
    WholeRule("stack-order", Severity.ERROR, stack_order),
)


def may_be_part_of_title(dump: Compile, file: DumpFile, broken: BrokenRecord) -> bool:
    """Return whether an unreadable line may be part of a row whose title has a line break."""
    head = file.records.readable_head_of(broken)
    is_row = isinstance(head, Label) and head.name == "breakdown_label"
    return is_row and _has_line_breaks_in_names(dump)


@query
def _has_line_breaks_in_names(dump: Compile) -> bool:
    """Return whether an ``op_name`` of a compile has a line break."""
    return any(
        field.name == "op_name" and "\n" in field.value
        for file in dump.files
        for line in file.lines
        if "\\n" in line
        for field in metadata_fields(line)
    )
