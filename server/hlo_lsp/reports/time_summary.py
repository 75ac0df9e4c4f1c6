"""The time and the cost of a compile as Markdown, by Python line, phase, scope, and instruction."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hlo_lsp.cost.network import network_transfers
from hlo_lsp.cost.program_cost import CostGroup, ProgramCost, program_cost
from hlo_lsp.cost.time_advice import time_advice
from hlo_lsp.display.phrases import capitalized, unbroken
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.profiles.time_facts import HotGroup, TimeFacts, hot_groups
from hlo_lsp.program.instruction_owners import InstructionFacts, InstructionKey, instruction_facts
from hlo_lsp.program.phases import REMATERIALIZED
from hlo_lsp.reports.cost import cost_line, cost_notes, group_cells, has_cost
from hlo_lsp.reports.measured_time import profile_facts
from hlo_lsp.reports.overlap import network_line
from hlo_lsp.reports.summary_text import SummaryLinks, line_uri
from hlo_lsp.text.amounts import format_flops, format_seconds, format_short_bytes
from hlo_lsp.text.inert import markdown_code, markdown_link, markdown_row, markdown_text

_TITLES = {
    InstructionKey.LINE: "Python line",
    InstructionKey.PHASE: "Phase",
    InstructionKey.SCOPE: "Scope",
    InstructionKey.OPCODE: "Opcode",
    InstructionKey.INSTRUCTION: "Instruction",
}


@dataclass(frozen=True, slots=True)
class _Row:
    """Instructions with one key, and what is known of them: their time, their cost, or both."""

    name: str
    time: HotGroup | None
    cost: CostGroup | None

    @property
    def source(self) -> SourceLine | None:
        """The Python line if the name is one."""
        groups = (self.time, self.cost)
        return next((one.source for one in groups if one is not None and one.source), None)

    @property
    def seconds(self) -> float:
        """The measured time of a run, 0 without one."""
        return self.time.seconds if self.time is not None and self.time.is_measured else 0.0


def _flops(row: _Row) -> int:
    return 0 if row.cost is None else row.cost.cost.flops


def _memory_bytes(row: _Row) -> int:
    return 0 if row.cost is None else row.cost.memory_bytes


_AMOUNTS: tuple[tuple[str, Callable[[_Row], Any], Callable[[Any], str]], ...] = (
    ("measured time", lambda row: row.seconds, format_seconds),
    ("FLOPs", _flops, format_flops),
    ("bytes", _memory_bytes, format_short_bytes),
)


def time_summary_markdown(
    dump: Compile, facts: TimeFacts, count: int, links: SummaryLinks | None = None
) -> Iterator[str]:
    """Yield the lines of the summary.

    Args:
        dump: The compile.
        facts: Its times.
        count: The maximum number of rows of a table.
        links: Functions for links, for clients that follow them.
    """
    yield from _TimeSummary(dump, facts, links).lines(count)


class _TimeSummary:
    """The rows of a summary by their key, and its parts as Markdown."""

    def __init__(self, dump: Compile, facts: TimeFacts, links: SummaryLinks | None) -> None:
        self._dump, self._links = dump, links
        self._measured = facts.measured
        self._program = None if facts.cost is None else program_cost(dump, facts.cost.chip)
        names = [one.name for one in facts.hottest()]
        if self._program is not None:
            names += [one.instruction.name for one in self._program.costing]
        known = instruction_facts(dump, names)
        self._rows = {key: self._rows_of(facts, key, known) for key in _TITLES}

    def lines(self, count: int) -> Iterator[str]:
        """Yield the lines; each table has at most ``count`` rows."""
        yield f"# Time of {markdown_code(self._dump.module_name)} ({self._dump.backend.value})"
        yield ""
        yield from (f"- {answer}" for answer in self._answers())
        for key, rows in self._rows.items():
            cells = {row: self._cells(row) for row in rows[:count]}
            if key is not InstructionKey.INSTRUCTION:
                cells = {row: one for row, one in cells.items() if one.get("share") != "0%"}
            if cells:
                yield ""
                yield from self._table(key, cells)
            if len(rows) > len(cells):
                yield from ("", f"{len(rows) - len(cells):,} more.")
        if self._program is not None:
            yield ""
            notes = cost_notes(self._program)
            yield from (f"- {markdown_text(capitalized(note))}" for note in notes)

    def _rows_of(
        self, facts: TimeFacts, key: InstructionKey, known: Mapping[str, InstructionFacts]
    ) -> list[_Row]:
        """Return the groups of a key, those with most measured time first, then by their cost."""
        groups = [] if self._program is None else self._program.groups(key, known)
        costs = {one.name: one for one in groups if has_cost(one)}
        times = {one.name: one for one in hot_groups(self._dump, facts, key, known)}
        names = dict.fromkeys([*(times if self._measured else ()), *costs])
        return [_Row(name, times.get(name), costs.get(name)) for name in names]

    def _answers(self) -> Iterator[str]:
        """Yield the totals, the most expensive lines, recomputation, and communication."""
        program = self._program
        if self._measured is not None:
            headline, *facts = profile_facts(self._measured.program)
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
            for one in time_advice(self._dump, program.chip):
                yield f"**Advice**: {markdown_text(capitalized(one.text))}"

    def _most_expensive_lines(self) -> Iterator[str]:
        """Yield the Python lines with the most measured time, FLOPs, and bytes."""
        rows = self._rows[InstructionKey.LINE]
        lines = [one for one in rows if one.source is not None]
        for title, amount, shown in _AMOUNTS:
            most = max(lines, key=amount, default=None)
            if most is not None and amount(most):
                share = amount(most) / sum(map(amount, rows))
                label = self._label(InstructionKey.LINE, most)
                where = ""
                if amount is _memory_bytes and self._program is not None:
                    where = f" {self._program.memory_title}"
                yield f"**Most {title}{where}**: {label}, {shown(amount(most))} ({share:.0%})"

    def _rematerialization(self) -> str:
        rows = self._rows[InstructionKey.PHASE]
        found = next((one for one in rows if one.name == REMATERIALIZED), None)
        if found is None:
            return "none"
        cells = self._cells(found)
        times = [f"{cells[one]} {one}" for one in ("measured", "least time") if one in cells]
        whole = "the least time" if self._measured is None else "the own times"
        shares = [f"{cells['share']} of {whole}"] if times else []
        amounts = []
        if found.cost is not None and self._program is not None:
            title = self._program.memory_title
            amounts = [cells["FLOPs"], f"{cells[title]} {title}"]
        return ", ".join([*times[:1], *shares, *times[1:], *amounts])

    def _table(self, key: InstructionKey, rows: Mapping[_Row, dict[str, str]]) -> Iterator[str]:
        titles = list(dict.fromkeys(title for cells in rows.values() for title in cells))
        yield markdown_row(_TITLES[key], *map(capitalized, titles))
        yield markdown_row("---", *("---" if title == "bound" else "---:" for title in titles))
        for row, cells in rows.items():
            amounts = (unbroken(cells.get(title, "")) for title in titles)
            yield markdown_row(self._label(key, row), *amounts)

    def _cells(self, row: _Row) -> dict[str, str]:
        """Return the cells of a row by the titles of their columns, without its name."""
        cells = {}
        if row.cost is not None and self._program is not None:
            cells = group_cells(row.cost, self._program)
            del cells["name"]
            if "bound" in cells:  # beside the time, because a narrow window hides the last columns
                time = cells.pop("least time")
                cells = {"least time": time, "bound": cells.pop("bound"), **cells}
        if self._measured is None:
            return cells
        share = 0.0 if row.time is None else row.time.share
        measured = {"measured": format_seconds(row.seconds), "share": f"{share:.0%}"}
        return {
            **measured,
            **cells,
            **measured,
        }  # first, and in place of the share of the least time

    def _label(self, key: InstructionKey, row: _Row) -> str:
        """Return the name of a row as a link to its Python line, or to its main instruction."""
        name = markdown_text(row.name if row.source is None else row.source.short)
        label = (
            name if self._links is None else markdown_link(name, self._uri(key, row, self._links))
        )
        return f"{label} (unknown)" if row.cost is not None and row.cost.unknown else label

    def _uri(self, key: InstructionKey, row: _Row, links: SummaryLinks) -> str | None:
        uri = None if row.source is None else links.source(row.source)
        if uri is not None:
            return uri
        # Also for a Python file that is not on this machine.
        name = row.name if key is InstructionKey.INSTRUCTION else None
        if row.time is not None:
            name = row.time.instructions[0].name
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
