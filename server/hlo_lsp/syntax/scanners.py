"""Scanners that read lines into records, and the fields of a line.

The format of a line determines its rule, so scanners keep no state: a broken header does not
affect the rows below it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from re import Match
from sys import intern
from typing import Any

from hlo_lsp.syntax import memory_records, module_records
from hlo_lsp.syntax.grammar import LineRule, LineRules, load_grammar
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.metadata_text import unescape
from hlo_lsp.syntax.module_records import read_inline_computations, read_members
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Label, Record, UnknownSection
from hlo_lsp.syntax.statements import (
    PLAIN_PREFIXES,
    begins_statement,
    defined_name,
    has_instruction_mark,
    is_dots,
    is_plain_instruction,
    read_statement,
)
from hlo_lsp.syntax.unknown_sections import (
    MAX_KEPT_LENGTH,
    MAX_KEPT_LINES,
    bracketed_section,
    is_indented_more,
)
from hlo_lsp.syntax.used_value import EntryReader, UsedValue

# Characters of a line other than `from instruction`. The longest real ones have 104 000. Longer
# lines occur in broken files only, where backtracking of expressions would take minutes.
MAX_LINE_LENGTH = 1_000_000

_RecordMaker = Callable[[Match[str]], Record]


def _fields(
    kind: Callable[..., Record], **conversions: Callable[[Any], object] | None
) -> _RecordMaker:
    """Return a function that makes a record of groups of a match, converted if necessary.

    The conversion of an optional group receives None if the group is missing.
    """

    def make(match: Match[str]) -> Record:
        return kind(
            *(
                match[group] if convert is None else convert(match[group])
                for group, convert in conversions.items()
            )
        )

    return make


def _optional_int(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _spaced_int(digits: str) -> int:
    return int(digits.replace(" ", ""))


def _parent_frame(number: str | None) -> int | None:
    """Return the number of a parent frame, which XLA prints plus one (ParseStackFramesList)."""
    parent = int(number or 0) - 1
    return parent if parent > 0 else None


# A label is None because it has no fields.
_MEMORY_RULES: dict[str, dict[str, _RecordMaker | None]] = {
    "assignment": {
        "assignment_label": None,
        "allocation_line": _fields(
            memory_records.AllocationLine, ALLOCATION=int, SIZE=int,
            COLOR=lambda digits: int(digits or 0), PARAMETER=_optional_int, PARAMETER_INDEX=None,
            PARAMETER_SHAPE=None, OUTPUT_SHAPE=None, CONSTANT=bool, THREAD_LOCAL=bool,
            MAYBE_LIVE_OUT=bool, PREALLOCATED_TEMP=bool,
        ),
        "assigned_value_line": memory_records.AssignedValue.of,
    },
    "values": {
        "total_line": _fields(memory_records.TotalLine, TOTAL=int, HUMAN=None),
        "used_values_label": None,
    },
    "live_range": {
        "live_range_label": _fields(memory_records.LiveRangeLabel, MAX=int),
        "live_range_missing": None,
        "sequence_label": None,
        "sequence_row": memory_records.SequenceRow.of,
        "ranges_label": None,
        "range_row": memory_records.RangeRow.of,
        "peak_label": _fields(memory_records.PeakLabel, MOMENT=int),
        "peak_missing": None,
        "peak_row": _fields(
            memory_records.PeakRow, NAME=None, INDEX=None, BYTES=int, CUMULATIVE=_optional_int
        ),
        "breakdown_label": None,
        "breakdown_row": _fields(
            memory_records.BreakdownRow, TREE=lambda branches: max(0, len(branches) // 4 - 1),
            TITLE=None, TOTAL=_spaced_int, CURRENT=_spaced_int, REMAINING=_spaced_int,
        ),
    },
    "report": {
        "space_line": _fields(memory_records.SpaceLine, SPACE_NAME=None, COLOR=int),
        "space_total_line": None,
        "table_header": None,
        "table_ruler": None,
        "table_row": _fields(memory_records.TableRow, OFFSET=int, COUNT=int, SHAPES=None),
        "table_rest": None,
        "by_size_label": None,
        "by_size_header": None,
        "by_size_row": _fields(memory_records.ListedAllocation, ALLOCATION=int, HUMAN=None),
        "with_values_label": None,
        "reported_allocation": _fields(
            memory_records.ReportedAllocation, ALLOCATION=int, HUMAN=None
        ),
        "proto_line": None,
    },
}  # fmt: skip


REPORT_RULES = frozenset(_MEMORY_RULES["report"])


class MemoryScanner:
    """A scanner of all memory files and all their versions."""

    def __init__(self) -> None:
        self.lines = LineRules(
            [
                LineRule(load_grammar(name), rule, make or _fields(partial(Label, rule)))
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
        return BlankLine() if line.isspace() else self._unknown_section(lines, at)

    def _unknown_section(self, lines: Sequence[str], at: int) -> Record:
        """Return the unknown section that begins with a line, or the line as a broken record."""
        record = BrokenRecord(lines[at])
        if not _TITLE.fullmatch(lines[at]):
            return record
        extent = bracketed_section(lines, at, partial(self._known_lines, lines, lines[at]))
        if extent.count:
            return UnknownSection(lines[at : at + extent.count])
        record.lookahead = max(extent.seen - 1, 0)
        return record

    def _known_lines(self, lines: Sequence[str], title: str, at: int) -> int:
        """Return 1 if a line does not belong to the section with a title, or 0."""
        line = lines[at]
        found = self._read_line(line)
        if found is not None and found[0].name in _MEMORY_LABELS:
            return 1
        is_known = found is not None or self.entries.is_entry_start(line)
        return int(is_known and line.strip() != "}" and not is_indented_more(line, title))

    def _read_line(self, line: str) -> tuple[LineRule, Match[str]] | None:
        return self.lines.read(line) if len(line) <= MAX_LINE_LENGTH else None


# Before the rows of a section: its words, and an opening bracket.
_TITLE = re.compile(r'\s*(?:["A-Za-z][^:<>{}\[\]]*)?:? ?=? ?[{\[].*')
_MEMORY_LABELS = frozenset(
    {
        *("assignment_label", "total_line", "used_values_label", "live_range_label"),
        *("live_range_missing", "sequence_label", "ranges_label", "peak_label", "peak_missing"),
        *("breakdown_label", "space_line", "by_size_label", "with_values_label"),
    }
)
memory_scanner = cache(MemoryScanner)


_COMPUTATION = _fields(
    module_records.ComputationLine, NAME=None, ENTRY=bool, SIGNATURE=lambda text: text or ""
)
# No line matches two of these rules. The most frequent lines that are not instructions come first.
_MODULE_RULES: dict[str, _RecordMaker] = {
    "computation_end": _fields(module_records.ComputationEnd),
    "computation_line": _COMPUTATION,
    "instruction_line": module_records.InstructionLine.of,
    "module_header": lambda match: module_records.ModuleHeader(match["NAME"], match.string),
    "table_label": _fields(module_records.TableLabel, TABLE=None),
    "name_row": _fields(
        module_records.NameRow, NUMBER=int, STRING=lambda text: unescape(text[1:-1])
    ),
    "location_row": _fields(
        module_records.LocationRow,
        NUMBER=int,
        FILE_NAME_ID=int,
        FUNCTION_NAME_ID=int,
        LINE=int,
        LOCATION_REST=lambda text: intern((text or "").strip()),
    ),
    "frame_row": _fields(
        module_records.FrameRow, NUMBER=int, FILE_LOCATION_ID=int, PARENT_FRAME_ID=_parent_frame
    ),
    "whole_computation": _COMPUTATION,
}
_MULTILINE_RULES = {"instruction_line", "module_header", "whole_computation"}


class ModuleScanner:
    """A scanner of module text."""

    def __init__(self) -> None:
        grammar = load_grammar("module")
        self.lines = LineRules(
            [LineRule(grammar, rule, make) for rule, make in _MODULE_RULES.items()]
        )
        self._instruction = grammar.expression("plain_instruction").match
        # Each line with an open bracket reads those that follow it again.
        self._known_alone = lru_cache(MAX_KEPT_LINES)(self._find_known_alone)

    def read(self, lines: Sequence[str], at: int) -> Record:
        """Return the record that begins on line ``at``."""
        line = lines[at]
        if line.startswith(PLAIN_PREFIXES) and is_plain_instruction(
            line, lines[at + 1] if at + 1 < len(lines) else ""
        ):
            plain = self._instruction(line)  # nearly all lines are plain instructions
            if plain is not None:
                return module_records.InstructionLine.of(plain, "PLAIN_OPERANDS")
        if not line:
            return BlankLine()
        found = self.lines.read(line)
        if found is not None:
            rule, match = found
            if rule.name not in _MULTILINE_RULES:
                return self._with_section(rule.make_record(match), lines, at)
        elif line.isspace():
            return BlankLine()
        elif not begins_statement(line):
            record = BrokenRecord(line, may_be_head=not is_dots(line.strip()))
            return self._with_section(record, lines, at)
        return self._with_section(self._read_statement(lines, at), lines, at)

    def _with_section(self, record: Record, lines: Sequence[str], at: int) -> Record:
        """Return the unknown section in the place of a record that is no known statement."""
        if isinstance(record, module_records.ComputationLine):
            # Up to jax 0.4, XLA prints computations without signatures.
            if record.is_entry or record.signature or record.members or record.is_read_in_part:
                return record
        elif not isinstance(record, BrokenRecord) or has_instruction_mark(record.text):
            return record
        extent = bracketed_section(lines, at, partial(self._known_lines, lines))
        if extent.count:
            return UnknownSection(lines[at : at + extent.count])
        record.lookahead = max(extent.seen - record.line_count, 0)
        return record

    def _known_lines(self, lines: Sequence[str], at: int) -> int:
        """Return how many lines show that a statement of a known form begins on a line, or 0."""
        line = lines[at]
        is_short = len(line) <= MAX_KEPT_LENGTH
        known = self._known_alone(line) if is_short else self._find_known_alone(line)
        if known is not None:
            return known
        count, text = read_statement(lines, at)
        return self._known_statement(text, count + 1)  # the next line ends the statement

    def _find_known_alone(self, line: str) -> int | None:
        """Return 1 if a line begins a statement of a known form, None if that depends on others."""
        if has_instruction_mark(line):
            return 1
        is_read = len(line) <= MAX_LINE_LENGTH and self.lines.read(line) is not None
        if not is_read and defined_name(line) is not None:
            return None
        return self._known_statement(line, 1) if is_read else 0

    def _known_statement(self, text: str, count: int) -> int:
        """Return the number of lines of a text if it is a statement of a known form, else 0."""
        found = self.lines.read(text)
        if found is None or found[0].name in _RULES_IN_SECTIONS:
            return 0
        rule, match = found
        if rule.name in {"computation_line", "whole_computation"}:
            return int(bool(match["ENTRY"] or match["SIGNATURE"]))
        return count if rule.name != "instruction_line" or match["SHAPE"] else 0

    def _read_statement(self, lines: Sequence[str], at: int) -> Record:
        """Return a record that may take several lines."""
        count, text = read_statement(lines, at)
        if text.isspace():
            return module_records.Comment(count)
        found = self.lines.read(text)
        if found is None:
            return BrokenRecord(text, count, may_be_head=defined_name(text) is None)
        rule, match = found
        record = rule.make_record(match)
        if isinstance(record, module_records.InstructionLine):
            record.line_count = count
            read_inline_computations(record, record)
        elif isinstance(record, module_records.ComputationLine):
            record.line_count = count
            if rule.name == "whole_computation":
                read_members(record, text)
                if not _is_computation(record, match["BODY"]):
                    return UnknownSection(lines[at : at + count])
        elif isinstance(record, module_records.ModuleHeader):
            record.line_count = count
        elif count > 1:
            return BrokenRecord(text, count)
        return record


_RULES_IN_SECTIONS = frozenset({"computation_end", "name_row"})
module_scanner = cache(ModuleScanner)


def _is_computation(record: module_records.ComputationLine, body: str) -> bool:
    """Return whether a text in braces is a computation, in which some instruction has a shape."""
    has_shape = any(member.shape for member in record.members)
    is_named = record.is_entry or record.signature or record.is_read_in_part
    return bool(is_named or has_shape or has_instruction_mark(body))


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
                LineRule(grammar, "thunk_row", ThunkRow.of),
                LineRule(grammar, "branch_label", BranchLabel.of),
            ]
        )

    def read(self, lines: Sequence[str], at: int) -> Record:
        """Return the record on line ``at``."""
        line = lines[at]
        if not line or line.isspace():
            return BlankLine()
        found = self.lines.read(line)
        return BrokenRecord(line) if found is None else found[0].make_record(found[1])


thunk_scanner = cache(ThunkScanner)


_GRAMMAR_NAMES = ("assignment", "values", "live_range", "report", "module", "thunks")


@dataclass(frozen=True, slots=True)
class LineField(TextSpan):
    """A field of a line; ``role`` is its terminal in the grammar."""

    role: str


def rule_of(record: Record, line: str) -> str | None:
    """Return the rule of a line of a record, or the most similar rule if the line is broken."""
    if isinstance(record, UsedValue):
        return record.reader.rule_of(line)
    return record.name if isinstance(record, Label) else record.rule or None


def fields_of_line(rule: str, line: str) -> list[LineField]:
    """Return the fields of a line in order; an empty list if the line does not match the rule."""
    grammars = (grammar for grammar in map(load_grammar, _GRAMMAR_NAMES) if grammar.has_rule(rule))
    match = next((grammar.expression(rule).fullmatch(line) for grammar in grammars), None)
    if match is None:
        return []
    found = [
        LineField(*match.span(role), text, role)
        for role, text in match.groupdict().items()
        if text is not None
    ]
    return sorted(found, key=lambda field: field.start)
