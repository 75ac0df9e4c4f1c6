"""Scanners that read lines into records.

The format of a line determines its rule, so scanners keep no state: a broken header does not
affect the rows below it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import Match

from hlo_lsp.syntax import memory_records, module_records
from hlo_lsp.syntax.grammar import LineRule, LineRules, ParseFailure, load_grammar
from hlo_lsp.syntax.module_records import read_inline_computations, read_members
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Label, Record
from hlo_lsp.syntax.statements import (
    PLAIN_PREFIXES,
    begins_statement,
    is_plain_instruction,
    read_statement,
)
from hlo_lsp.syntax.used_value import EntryReader

# Characters of a line other than `from instruction`. The longest real ones have 104 000. Longer
# lines occur in broken files only, where backtracking of expressions would take minutes.
MAX_LINE_LENGTH = 1_000_000

_MEMORY_RULES: dict[str, dict[str, Callable[[Match[str]], Record] | None]] = {
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
    """A scanner of all memory files and all their versions."""

    def __init__(self) -> None:
        self.lines = LineRules(
            [
                LineRule.of(load_grammar(name), rule, make or _label_factory(rule))
                for name, makers in _MEMORY_RULES.items()
                for rule, make in makers.items()
            ]
        )
        self.entries = EntryReader(
            load_grammar("values"), lambda line: self._read_line(line) is not None
        )

    def read(self, lines: Sequence[str], at: int) -> Record:
        """Return the record that begins on line ``at``."""
        line = lines[at]
        if not line:
            return BlankLine()
        if self.entries.is_entry_start(line):
            return self.entries.read(lines, at)
        found = self._read_line(line)
        if found is not None:
            rule, match = found
            return rule.make_record(match)
        if self.entries.is_row(line):
            return self.entries.read(lines, at)
        return BlankLine() if line.isspace() else BrokenRecord(line)

    def _read_line(self, line: str) -> tuple[LineRule, Match[str]] | None:
        return self.lines.read(line) if len(line) <= MAX_LINE_LENGTH else None

    def explain(self, line: str) -> ParseFailure:
        """Return why no rule matches a line."""
        return self.lines.explain(line)


@lru_cache(maxsize=1)
def memory_scanner() -> MemoryScanner:
    """Return the scanner, created at the first call."""
    return MemoryScanner()


def _label_factory(rule: str) -> Callable[[Match[str]], Record]:
    return lambda _: Label(rule)


_MODULE_RULES = {
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
_MULTILINE_RULES = {"instruction_line", "module_header", "whole_computation"}


class ModuleScanner:
    """A scanner of module text."""

    def __init__(self) -> None:
        grammar = load_grammar("module")
        self.lines = LineRules(
            [LineRule.of(grammar, rule, make) for rule, make in _MODULE_RULES.items()]
        )
        self._instruction = grammar.expression("plain_instruction").match

    def read(self, lines: Sequence[str], at: int) -> Record:
        """Return the record that begins on line ``at``."""
        line = lines[at]
        if line.startswith(PLAIN_PREFIXES) and is_plain_instruction(
            line, lines[at + 1] if at + 1 < len(lines) else ""
        ):
            plain = self._instruction(line)  # nearly all lines are plain instructions
            if plain is not None:
                return module_records.InstructionLine.of_plain(plain)
        if not line:
            return BlankLine()
        found = self.lines.read(line)
        if found is not None:
            rule, match = found
            if rule.name not in _MULTILINE_RULES:
                return rule.make_record(match)
        elif line.isspace():
            return BlankLine()
        elif not begins_statement(line):
            return BrokenRecord(line)
        return self._read_statement(lines, at)

    def explain(self, text: str) -> ParseFailure:
        """Return why no rule matches a text."""
        return self.lines.explain(text)

    def _read_statement(self, lines: Sequence[str], at: int) -> Record:
        """Return a record that may take several lines."""
        count, text = read_statement(lines, at)
        if text.isspace():
            return module_records.Comment(count)
        found = self.lines.read(text)
        if found is None:
            return BrokenRecord(text, count)
        rule, match = found
        record = rule.make_record(match)
        if isinstance(record, module_records.InstructionLine):
            record.line_count = count
            read_inline_computations(record, record)
        elif isinstance(record, module_records.ComputationLine):
            record.line_count = count
            if rule.name == "whole_computation":
                read_members(record, text)
        elif isinstance(record, module_records.ModuleHeader):
            record.line_count = count
        elif count > 1:
            return BrokenRecord(text, count)
        return record


@lru_cache(maxsize=1)
def module_scanner() -> ModuleScanner:
    """Return the scanner, created at the first call."""
    return ModuleScanner()


_PROFILE_ANNOTATION = re.compile(r"profile_annotation = ([\w.\-]+)")
_KERNEL_NAME = re.compile(r"kernel = ([\w.\-]+)")
_KERNEL_NAME_BEFORE_GRID = re.compile(r"([\w.\-]+) grid: ")


@dataclass(slots=True, eq=False)
class ThunkRow(Record):
    """A thunk; ``depth`` counts levels of four blanks, and ``id`` is None in jaxlib up to 0.7.

    ``kernel`` is the name of a kernel as printed: XLA replaces dots of the instruction name by
    ``_`` and shares equal kernels. ``annotation`` is the instruction in ``profile_annotation``.
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
        annotation = _PROFILE_ANNOTATION.search(detail)
        kernel = _KERNEL_NAME.search(detail) or _KERNEL_NAME_BEFORE_GRID.match(detail)
        return cls(
            len(match["INDENT"] or "") // 4,
            None if match["THUNK"] is None else int(match["THUNK"]),
            match["KIND"],
            None if kernel is None else kernel[1],
            None if annotation is None else annotation[1],
        )


@dataclass(slots=True, eq=False)
class BranchLabel(Record):
    """``condition:``, ``body:``, ``branch_0:``: the label of a part of a loop or conditional.

    ``depth`` is that of the loop or conditional, None for ``condition:``, which has no indentation.
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
    """A scanner of thunk sequences."""

    def __init__(self) -> None:
        grammar = load_grammar("thunks")
        self.lines = LineRules(
            [
                LineRule.of(grammar, "thunk_row", ThunkRow.of),
                LineRule.of(grammar, "branch_label", BranchLabel.of),
            ]
        )

    def read(self, lines: Sequence[str], at: int) -> Record:
        """Return the record on line ``at``."""
        line = lines[at]
        if not line or line.isspace():
            return BlankLine()
        found = self.lines.read(line)
        return BrokenRecord(line) if found is None else found[0].make_record(found[1])

    def explain(self, line: str) -> ParseFailure:
        """Return why no rule matches a line."""
        return self.lines.explain(line)


@lru_cache(maxsize=1)
def thunk_scanner() -> ThunkScanner:
    """Return the scanner, created at the first call."""
    return ThunkScanner()
