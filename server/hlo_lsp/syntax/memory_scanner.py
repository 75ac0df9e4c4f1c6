"""Reads the records of the memory files: one scanner for all their sections and generations.

Every line of them can be told by its shape alone, so the scanner keeps no state: a broken header
does not cost the rows below it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from re import Match

from hlo_lsp.syntax import memory_records as records
from hlo_lsp.syntax.grammar import Refusal, load
from hlo_lsp.syntax.line_rules import LineRule, LineRules
from hlo_lsp.syntax.records import Blank, Broken, Label, Record
from hlo_lsp.syntax.used_value import EntryReader

# Characters of a line that is no `from instruction`. The longest real ones have 104 000;
# expressions that give up slowly would take minutes for what only a broken file contains.
LONGEST = 1_000_000

_MAKERS: dict[str, dict[str, Callable[[Match[str]], Record] | None]] = {
    "assignment": {
        "assignment_label": None,
        "allocation_line": records.AllocationLine.of,
        "assigned_value_line": records.AssignedValue.of,
    },
    "values": {"total_line": records.TotalLine.of, "used_values_label": None},
    "live_range": {
        "live_range_label": records.LiveRangeLabel.of,
        "live_range_missing": None,
        "sequence_label": None,
        "sequence_row": records.SequenceRow.of,
        "ranges_label": None,
        "range_row": records.RangeRow.of,
        "peak_label": records.PeakLabel.of,
        "peak_missing": None,
        "peak_row": records.PeakRow.of,
        "breakdown_label": None,
        "breakdown_row": records.BreakdownRow.of,
    },
    "report": {
        "space_line": records.SpaceLine.of,
        "space_total_line": None,
        "table_header": None,
        "table_ruler": None,
        "table_row": records.TableRow.of,
        "table_rest": None,
        "by_size_label": None,
        "by_size_header": None,
        "by_size_row": records.ListedAllocation.of,
        "with_values_label": None,
        "reported_allocation": records.ReportedAllocation.of,
        "proto_line": None,
    },
}


class MemoryScanner:
    """Reads one record of a memory file at a time."""

    def __init__(self) -> None:
        self.lines = LineRules(
            [
                LineRule.of(load(name), rule, make or _label(rule))
                for name, makers in _MAKERS.items()
                for rule, make in makers.items()
            ]
        )
        self.entries = EntryReader(load("values"), lambda line: self._read_line(line) is not None)

    def read(self, lines: Sequence[str], at: int) -> Record:
        """The record that begins on line ``at``."""
        line = lines[at]
        if not line:
            return Blank()
        if self.entries.begins(line):
            return self.entries.read(lines, at)
        found = self._read_line(line)
        if found is not None:
            rule, match = found
            return rule.make(match)
        if self.entries.is_row(line):
            return self.entries.read(lines, at)
        return Blank() if line.isspace() else Broken(line)

    def _read_line(self, line: str) -> tuple[LineRule, Match[str]] | None:
        return self.lines.read(line) if len(line) <= LONGEST else None

    def explain(self, line: str) -> Refusal:
        """Why a line is no record."""
        return self.lines.explain(line)


@lru_cache(maxsize=1)
def memory_scanner() -> MemoryScanner:
    """The scanner, made at the first call."""
    return MemoryScanner()


def _label(rule: str) -> Callable[[Match[str]], Record]:
    return lambda _: Label(rule)
