"""The table of the instructions of a compile as Markdown: by Python line, phase, and others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.utilization import network_transfers
from hlo_lsp.display.phrases import capitalized
from hlo_lsp.display.table import Cell, Link, Table, markdown_cell, markdown_table
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.phases import REMATERIALIZED
from hlo_lsp.reports.cost import cost_line, cost_notes, group_cells, has_cost
from hlo_lsp.reports.overlap import network_line
from hlo_lsp.reports.profile_report import profile_facts
from hlo_lsp.reports.summary_text import SummaryLinks, line_uri
from hlo_lsp.stats.instruction_table import InstructionGroup, InstructionTable
from hlo_lsp.stats.time_advice import time_advice
from hlo_lsp.text.amounts import format_flops, format_short_bytes, format_time
from hlo_lsp.text.inert import markdown_code, markdown_text

_TITLES = {
    InstructionKey.LINE: "Python line",
    InstructionKey.PHASE: "Phase",
    InstructionKey.AXIS: "Axis",
    InstructionKey.SCOPE: "Scope",
    InstructionKey.OPCODE: "Opcode",
    InstructionKey.INSTRUCTION: "Instruction",
}

_AMOUNTS: tuple[tuple[str, Callable[[InstructionGroup], Any], Callable[[Any], str]], ...] = (
    ("measured time", lambda group: group.run_ps if group.times else 0.0, format_time),
    ("FLOPs", lambda group: group.cost.cost.flops, format_flops),
    ("bytes", lambda group: group.cost.memory_bytes, format_short_bytes),
)


def stats_summary_markdown(
    dump: Compile, table: InstructionTable, count: int, links: SummaryLinks | None = None
) -> Iterator[str]:
    """Yield the lines of the summary.

    Args:
        dump: The compile.
        table: Its instructions.
        count: The maximum number of rows of a table.
        links: Functions for links, for clients that follow them.
    """
    yield from _StatsSummary(dump, table, links).lines(count)


class _StatsSummary:
    """The groups of a summary by their key, and its parts as Markdown."""

    def __init__(self, dump: Compile, table: InstructionTable, links: SummaryLinks | None) -> None:
        self._dump, self._table, self._links = dump, table, links
        self._measured, self._program = table.measured, table.cost
        self._groups = {key: self._groups_of(key) for key in _TITLES}

    def lines(self, count: int) -> Iterator[str]:
        """Yield the lines; each table has at most ``count`` rows."""
        yield f"# Time of {markdown_code(self._dump.module_name)} ({self._dump.backend.value})"
        yield ""
        yield from (f"- {answer}" for answer in self._answers())
        for key, groups in self._groups.items():
            shown = [(group, self._cells(group)) for group in groups[:count]]
            if key is not InstructionKey.INSTRUCTION:
                shown = [row for row in shown if row[1].get("share") != "0%"]
            if key is InstructionKey.AXIS and not groups[1:]:
                continue  # no collectives
            if shown:
                yield ""
                yield from self._lines_of(key, shown)
            if len(groups) > len(shown):
                yield from ("", f"{len(groups) - len(shown):,} more.")
        if self._program is not None:
            yield ""
            notes = cost_notes(self._program)
            yield from (f"- {markdown_text(capitalized(note))}" for note in notes)

    def _groups_of(self, key: InstructionKey) -> list[InstructionGroup]:
        """Return the groups of a key, those with most measured time first, then by their cost."""
        costs = self._table.cost_groups(key)
        by_cost = {group.name: group for group in costs if has_cost(group.cost)}
        groups = self._table.groups(key) if self._measured is not None else []
        measured = {group.name: by_cost.get(group.name, group) for group in groups if group.times}
        return list((measured | by_cost).values())

    def _answers(self) -> Iterator[str]:
        """Yield the totals, the most expensive lines, recomputation, and communication."""
        program = self._program
        if self._measured is not None:
            headline, *facts = profile_facts(self._measured)
            yield markdown_text(headline)
            yield from (markdown_text(capitalized(fact)) for fact in facts)
        if program is not None:
            yield markdown_text(capitalized(cost_line(program)))
            is_possible = program.is_optimized and self._dump.backend is not Backend.CPU
            if program.chip is None and is_possible:
                yield "**Least time**: unknown; name the chip in `hlo.chip`"
        yield from self._most_expensive_lines()
        if program is not None:
            yield f"**Rematerialization**: {self._rematerialization()}"
            if self._measured is None:
                yield f"**Communication**: {_network(program)}"
            for advice in time_advice(self._dump, program.chip):
                yield f"**Advice**: {markdown_text(capitalized(advice.text))}"

    def _most_expensive_lines(self) -> Iterator[str]:
        """Yield the Python lines with the most measured time, FLOPs, and bytes."""
        groups = self._groups[InstructionKey.LINE]
        lines = [group for group in groups if group.source is not None]
        for title, amount, form in _AMOUNTS:
            most = max(lines, key=amount, default=None)
            if most is not None and amount(most):
                share = amount(most) / sum(map(amount, groups))
                label = markdown_cell(self._label(InstructionKey.LINE, most))
                where = ""
                if form is format_short_bytes and self._program is not None:
                    where = f" {self._program.memory_title}"
                yield f"**Most {title}{where}**: {label}, {form(amount(most))} ({share:.0%})"

    def _rematerialization(self) -> str:
        groups = self._groups[InstructionKey.PHASE]
        group = next((group for group in groups if group.name == REMATERIALIZED), None)
        if group is None:
            return "none"
        cells = self._cells(group)
        times = [
            f"{cells[title]} {title}" for title in ("measured", "least time") if title in cells
        ]
        whole = "the least time" if self._measured is None else "the own times"
        shares = [f"{cells['share']} of {whole}"] if times else []
        amounts = []
        if "FLOPs" in cells and self._program is not None:
            title = self._program.memory_title
            amounts = [cells["FLOPs"], f"{cells[title]} {title}"]
        return ", ".join([*times[:1], *shares, *times[1:], *amounts])

    def _lines_of(
        self, key: InstructionKey, rows: Sequence[tuple[InstructionGroup, Mapping[str, str]]]
    ) -> Iterator[str]:
        titles = list(dict.fromkeys(title for _, cells in rows for title in cells))
        named = [title if title == "bound" else f">{title}" for title in titles]
        table = [
            (self._label(key, group), *(cells.get(title, "") for title in titles))
            for group, cells in rows
        ]
        yield from markdown_table(Table((_TITLES[key], *named), table))

    def _cells(self, group: InstructionGroup) -> dict[str, str]:
        """Return the cells of a group by the titles of their columns, without its name."""
        cells = {}
        if self._program is not None and has_cost(group.cost):
            cells = group_cells(group, self._program)
            del cells["name"]
            if "bound" in cells:  # beside the time, because a narrow window hides the last columns
                time = cells.pop("least time")
                cells = {"least time": time, "bound": cells.pop("bound"), **cells}
        if self._measured is None:
            return cells
        share = f"{self._table.share(group):.0%}"
        measured = {"measured": format_time(group.run_ps), "share": share}
        # First, and in place of the share of the least time.
        return {**measured, **cells, **measured}

    def _label(self, key: InstructionKey, group: InstructionGroup) -> Cell:
        """Return the name of a group as a link to its Python line, or to its main instruction."""
        uri = None if self._links is None else self._uri(key, group, self._links)
        label = Link(group.name if group.source is None else group.source.short, uri)
        return (label, "(unknown)") if group.cost.unknown else label

    def _uri(self, key: InstructionKey, group: InstructionGroup, links: SummaryLinks) -> str | None:
        uri = None if group.source is None else links.source(group.source)
        if uri is not None:
            return uri
        # Also for a Python file that is not on this machine.
        name = group.name if key is InstructionKey.INSTRUCTION else None
        if group.is_timed:
            name = group.rows[0].name
        line = None if name is None else self._dump.instruction(name)
        return None if line is None else line_uri(line)


def _network(program: ProgramCost) -> str:
    """Return the exposed communication as far as it is known without a profile."""
    if not program.total.wire_bytes:
        return "none"
    network = network_transfers(program)
    if network and program.chip is not None:
        return network_line(program.chip, network)
    return "the exposed part is unknown without a profile"
