"""Reads the records of the memory files: one scanner for all their sections and generations.

Every line of them can be told by its shape alone, so the scanner keeps no state: a broken header
does not cost the rows below it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import Match

from hlo_lsp.syntax import memory_records, module_records
from hlo_lsp.syntax.grammar import LineRule, LineRules, Refusal, load
from hlo_lsp.syntax.inner import with_bodies, with_members
from hlo_lsp.syntax.records import Blank, Broken, Label, Record
from hlo_lsp.syntax.statements import PLAIN, begins_statement, is_plain, statement
from hlo_lsp.syntax.used_value import EntryReader

# Characters of a line that is no `from instruction`. The longest real ones have 104 000;
# expressions that give up slowly would take minutes for what only a broken file contains.
LONGEST = 1_000_000

_MAKERS: dict[str, dict[str, Callable[[Match[str]], Record] | None]] = {
    "assignment": {
        "assignment_label": None,
        "allocation_line": memory_records.AllocationLine.of,
        "assigned_value_line": memory_records.AssignedValue.of,
    },
    "values": {"total_line": memory_records.TotalLine.of, "used_values_label": None},
    "live_range": {
        "live_range_label": memory_records.LiveRangeLabel.of,
        "live_range_missing": None,
        "sequence_label": None,
        "sequence_row": memory_records.SequenceRow.of,
        "ranges_label": None,
        "range_row": memory_records.RangeRow.of,
        "peak_label": memory_records.PeakLabel.of,
        "peak_missing": None,
        "peak_row": memory_records.PeakRow.of,
        "breakdown_label": None,
        "breakdown_row": memory_records.BreakdownRow.of,
    },
    "report": {
        "space_line": memory_records.SpaceLine.of,
        "space_total_line": None,
        "table_header": None,
        "table_ruler": None,
        "table_row": memory_records.TableRow.of,
        "table_rest": None,
        "by_size_label": None,
        "by_size_header": None,
        "by_size_row": memory_records.ListedAllocation.of,
        "with_values_label": None,
        "reported_allocation": memory_records.ReportedAllocation.of,
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


_MODULE_SCANNER_MAKERS = {
    "instruction_line": module_records.InstructionLine.of,
    "module_header": module_records.ModuleHeader.of,
    "table_label": module_records.TableLabel.of,
    "name_row": module_records.NameRow.of,
    "location_row": module_records.LocationRow.of,
    "frame_row": module_records.FrameRow.of,
    "computation_line": module_records.ComputationLine.of,
    "whole_computation": module_records.ComputationLine.of,
    "computation_end": module_records.ComputationEnd.of,
}
_BREAKABLE = {"instruction_line", "module_header", "whole_computation"}


class ModuleScanner:
    """Reads one record of module text at a time."""

    def __init__(self) -> None:
        grammar = load("module")
        self.lines = LineRules(
            [LineRule.of(grammar, rule, make) for rule, make in _MODULE_SCANNER_MAKERS.items()]
        )
        self._instruction = grammar.expression("plain_instruction").match

    def read(self, lines: Sequence[str], at: int) -> Record:
        """The record that begins on line ``at``."""
        line = lines[at]
        if line.startswith(PLAIN) and is_plain(line, lines[at + 1] if at + 1 < len(lines) else ""):
            plain = self._instruction(line)  # nearly all lines: no other rule need be tried
            if plain is not None:
                return module_records.InstructionLine.of_plain(plain)
        if not line:
            return Blank()
        found = self.lines.read(line)
        if found is not None:
            rule, match = found
            if rule.name not in _BREAKABLE:
                return rule.make(match)
        elif line.isspace():
            return Blank()
        elif not begins_statement(line):
            return Broken(line)
        return self._statement(lines, at)

    def explain(self, text: str) -> Refusal:
        """Why a text is no record."""
        return self.lines.explain(text)

    def _statement(self, lines: Sequence[str], at: int) -> Record:
        """A record that may take several lines."""
        count, text = statement(lines, at)
        if text.isspace():
            return module_records.Comment(count)
        found = self.lines.read(text)
        if found is None:
            return Broken(text, count)
        rule, match = found
        record = rule.make(match)
        if isinstance(record, module_records.InstructionLine):
            record.line_count = count
            with_bodies(record, record)
        elif isinstance(record, module_records.ComputationLine):
            record.line_count = count
            if rule.name == "whole_computation":
                with_members(record, text)
        elif isinstance(record, module_records.ModuleHeader):
            record.line_count = count
        elif count > 1:
            return Broken(text, count)
        return record


@lru_cache(maxsize=1)
def module_scanner() -> ModuleScanner:
    """The scanner, made at the first call."""
    return ModuleScanner()


_ANNOTATION = re.compile(r"profile_annotation = ([\w.\-]+)")
_KERNEL = re.compile(r"kernel = ([\w.\-]+)")
_KERNEL_FIRST = re.compile(r"([\w.\-]+) grid: ")


@dataclass(slots=True, eq=False)
class ThunkRow(Record):
    """A thunk. ``depth`` counts levels of four blanks; ``id`` is None in jaxlib up to 0.7.

    ``kernel`` is the name of a kernel as printed: dots of the instruction's name have become
    ``_`` and equal kernels are shared. ``annotation`` is the instruction, where the line says it.
    """

    rule = "thunk_row"
    depth: int
    id: int | None
    kind: str
    kernel: str | None
    annotation: str | None

    @classmethod
    def of(cls, match: Match[str]) -> "ThunkRow":
        """Read from a match of the rule."""
        detail = (match["DETAIL"] or "").lstrip()
        annotation = _ANNOTATION.search(detail)
        kernel = _KERNEL.search(detail) or _KERNEL_FIRST.match(detail)
        return cls(
            len(match["INDENT"] or "") // 4,
            None if match["THUNK"] is None else int(match["THUNK"]),
            match["KIND"],
            None if kernel is None else kernel[1],
            None if annotation is None else annotation[1],
        )


@dataclass(slots=True, eq=False)
class BranchLabel(Record):
    """``condition:``, ``body:``, ``branch_0:``: what of a loop or conditional follows.

    ``depth`` is that of the loop or conditional, or None for ``condition:``, which stands at the
    left edge whatever the depth is.
    """

    rule = "branch_label"
    name: str
    depth: int | None

    @classmethod
    def of(cls, match: Match[str]) -> "BranchLabel":
        """Read from a match of the rule."""
        indent = match["INDENT"]
        return cls(match["BRANCH"], None if indent is None else len(indent) // 4)


class ThunkScanner:
    """Reads one line of a thunk sequence at a time."""

    def __init__(self) -> None:
        grammar = load("thunks")
        self.lines = LineRules(
            [
                LineRule.of(grammar, "thunk_row", ThunkRow.of),
                LineRule.of(grammar, "branch_label", BranchLabel.of),
            ]
        )

    def read(self, lines: Sequence[str], at: int) -> Record:
        """The record on line ``at``."""
        line = lines[at]
        if not line or line.isspace():
            return Blank()
        found = self.lines.read(line)
        return Broken(line) if found is None else found[0].make(found[1])

    def explain(self, line: str) -> Refusal:
        """Why a line is no record."""
        return self.lines.explain(line)


@lru_cache(maxsize=1)
def thunk_scanner() -> ThunkScanner:
    """The scanner, made at the first call."""
    return ThunkScanner()
