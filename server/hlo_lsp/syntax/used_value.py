"""Entries of ``Used values:``: a value with its positions, uses and defining instruction."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from re import Match
from sys import intern

from hlo_lsp.syntax.grammar import Grammar
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction
from hlo_lsp.syntax.records import Record

_INSTRUCTION = " from instruction:"
_DICTIONARY_LINE_STARTS = ('"', "}")  # in the metadata of a kernel, with a key on each line
_LABEL_RULES = {
    " positions:": "positions_label",
    " uses:": "uses_label",
    _INSTRUCTION: "instruction_line",
}
_LABELS = tuple(_LABEL_RULES)
_ENTRY_RULES = (
    "used_value_line",
    *_LABEL_RULES.values(),
    *("position_row", "use_row", "no_uses_row"),
)
_ENTRY_STARTS = ("<", *_LABELS, "  (none)")


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a value: an instruction and a shape index."""

    name: str
    index: str | None
    row: int  # counts lines of the entry from 0


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a value: an instruction, an operand number, and a shape index of the operand."""

    name: str
    operand: int
    index: str | None
    row: int  # counts lines of the entry from 0


class UsedValue(Record):
    """An entry, stored as lines and parsed on access.

    ``id`` and ``name`` are None if the header is missing or broken. The last item of ``lines`` is
    the whole instruction, including line breaks in the text of a kernel.

    Up to jax 0.4.35, a header follows the previous instruction on the same line at ``column``.
    That line is the first one of the record; ``line_count`` of the previous record excludes it.
    """

    __slots__ = (
        *("color", "column", "id", "index", "line_count", "lines"),
        *("name", "phi", "reader", "whole"),
    )
    rule = "used_value_head"

    def __init__(
        self,
        lines: Sequence[str],
        line_count: int,
        header: Match[str] | None,
        *,
        column: int,
        whole: bool,
        reader: "EntryReader",
    ) -> None:
        self.lines = lines
        self.line_count = line_count
        self.column = column
        self.whole = whole
        self.reader = reader
        self.id: int | None = None
        self.name: str | None = None
        self.index: str | None = None
        self.phi = False
        self.color: int | None = None
        if header is not None:
            self.id = int(header[1])
            self.name = intern(header[2])
            self.index = None if header[3] is None else intern(header[3])
            self.phi = header[4] is not None
            self.color = None if header[5] is None else int(header[5])

    def statement_rows(self, row: int) -> range:
        """Return ``row`` alone, or all rows of the instruction if ``row`` is one of them."""
        last = len(self.lines) - 1
        if row < last:
            return range(row, row + 1)
        return range(last, len(self.lines) + self.lines[-1].count("\n"))

    @property
    def key(self) -> str | None:
        """Name and index in the notation of live ranges: ``fusion.40{0}``, ``add.3{}``."""
        return None if self.name is None else self.name + (self.index or "{}")

    @property
    def label(self) -> str:
        """Name and index for display, without the index of a whole array."""
        return (self.name or "") + (self.index or "")

    @property
    def shares_lines(self) -> bool:
        """True if the first or the last line also contains a part of another entry."""
        return self.column > 0 or self.line_count < len(self.lines)

    @property
    def positions(self) -> Iterator[Position]:
        """The positions of the value; the first one is the defining instruction."""
        for row, line in enumerate(self.lines):
            if match := self.reader.position.fullmatch(line):
                yield Position(match[1], match[2], row)

    def has_position(self, name: str, index: str | None) -> bool:
        """Return whether the value is at an index of a result; ``{}`` and None are the whole."""
        rows = {f"  {name} {index or '{}'}"}
        if index in {None, "{}"}:
            rows.add(f"  {name}")
        end = self.lines.index(" uses:") if self.whole else len(self.lines)
        return not rows.isdisjoint(self.lines[1:end])

    @property
    def uses(self) -> Iterator[Use]:
        """The uses of the value."""
        for row, line in enumerate(self.lines):
            if match := self.reader.use.fullmatch(line):
                yield Use(match[1], int(match[2]), match[3], row)

    def row_names(self) -> tuple[set[str], set[str]]:
        """Return the instructions of positions and of uses, without a full parse of rows."""
        if not self.whole:
            return {row.name for row in self.positions}, {row.name for row in self.uses}
        label = self.lines.index(" uses:")
        positions, uses = self.lines[2:label], self.lines[label + 1 : -1]
        return (
            {intern(row[2:].partition(" ")[0]) for row in positions},
            {intern(row[2:].partition(",")[0]) for row in uses if ", " in row},
        )

    @property
    def instruction(self) -> str | None:
        """The text of the defining instruction."""
        match = self.reader.instruction_of(self.lines[-1])
        return None if match is None else self.lines[-1][match.start(1) :].lstrip()

    def problems(self) -> Iterator[tuple[int, int, str]]:
        """Yield (row, column, sentence) of the first problem of the entry, if any."""
        if self.whole:
            return
        if not self.lines[0].startswith("<"):
            yield 0, 0, "the row has no value: expected `<ID NAME ...>` above it"
            return
        for row, line in enumerate(self.lines):
            refusal = self.reader.grammar.parse_failure(self.reader.rule_of(line), line)
            if refusal is not None:
                yield row, refusal.column, str(refusal)
                return
        for label in _LABEL_RULES:
            if not any(line.startswith(label) for line in self.lines):
                yield 0, self.column, f"the entry has no `{label.strip()}`"
                return
        yield 0, self.column, "the rows of the entry are out of order"


class EntryReader:
    """A reader of entries, created once from the grammar.

    ``is_record`` returns True for lines of other records.
    """

    def __init__(self, grammar: Grammar, is_record: Callable[[str], bool]) -> None:
        self.grammar = grammar
        self.head = grammar.expression("used_value_head")
        self.header = grammar.expression("value_name")
        self.position = grammar.expression("position_row")
        self.use = grammar.expression("use_row")
        self.instruction = grammar.expression("instruction_line")
        self._none = grammar.expression("no_uses_row")
        self._rules = [grammar.expression(rule) for rule in _ENTRY_RULES]
        self._is_record = is_record

    def is_entry_start(self, line: str) -> bool:
        """Return True if an entry, perhaps without its header, begins with this line."""
        return line.startswith(_ENTRY_STARTS) or (
            line.endswith(">") and self.header_column(line) > 0
        )

    def header_column(self, line: str) -> int:
        """Return the column of a header that follows an instruction on its line, else 0."""
        if not line.endswith(">") or not line.startswith((_INSTRUCTION, *_DICTIONARY_LINE_STARTS)):
            return 0
        return max(line.rfind("<"), 0)

    def is_known(self, line: str) -> bool:
        """Return True if a line matches a rule of entries."""
        return any(rule.fullmatch(line) for rule in self._rules)

    def is_row(self, line: str) -> bool:
        """Return True if a line is a position or a use."""
        return bool(self.position.fullmatch(line) or self.use.fullmatch(line))

    def read(self, lines: Sequence[str], at: int) -> UsedValue:
        """Return the entry that begins on line ``at``; read at most two lines after it."""
        column = self.header_column(lines[at])
        rows = [lines[at][column:]]
        end = at
        last = len(lines) - 1
        while not rows[-1].startswith(_INSTRUCTION):
            if end == last or not (
                _is_entry_line(lines[end + 1]) or self._may_be_damaged(lines, end + 1)
            ):
                return self._make_entry(rows, column, end + 1 - at, closed=False)
            end += 1
            rows.append(lines[end])
        if lines[end].endswith("{"):
            while end + 1 < len(lines) and lines[end + 1].startswith(_DICTIONARY_LINE_STARTS):
                end += 1
                rows[-1] += "\n" + lines[end]
        next_column = self.header_column(lines[end])
        if not next_column:
            return self._make_entry(rows, column, end + 1 - at, closed=True)
        rows[-1] = rows[-1][: next_column - len(lines[end])]
        return self._make_entry(rows, column, end - at, closed=True)

    def instruction_of(self, text: str) -> Match[str] | None:
        """Match the first line of a defining instruction."""
        return self.instruction.fullmatch(text.partition("\n")[0])

    def rule_of(self, line: str) -> str:
        """Return the rule of a line of an entry, or the most similar rule if the line is broken."""
        if line.startswith("<") or self.header_column(line):
            return "used_value_line"
        if line.startswith(_DICTIONARY_LINE_STARTS):
            return "instruction_line"
        for label, rule in _LABEL_RULES.items():
            if line.startswith(label):
                return rule
        if self._none.fullmatch(line):
            return "no_uses_row"
        if line[1:2] not in {" ", ""}:  # one blank of indentation: a damaged label
            return _LABEL_RULES[max(_LABEL_RULES, key=lambda label: _similarity(label, line))]
        if self.position.fullmatch(line):
            return "position_row"
        return "use_row" if "," in line else "position_row"

    def _make_entry(
        self, entry: Sequence[str], column: int, line_count: int, *, closed: bool
    ) -> UsedValue:
        head = self.head.fullmatch("\n".join(entry[:-1])) if closed else None
        whole = head is not None and self.instruction_of(entry[-1]) is not None
        header = head or self.header.fullmatch(entry[0])
        return UsedValue(tuple(entry), line_count, header, column=column, whole=whole, reader=self)

    def _may_be_damaged(self, lines: Sequence[str], at: int) -> bool:
        """Return True if line ``at``, neither a row nor a label, belongs to the entry before it.

        An unrecognized line is a damaged row of the entry if the next line is a row.
        """
        line = lines[at]
        if line.startswith(" ") and line[1:2] != " " and not self._is_record(line):
            return True  # a damaged label
        if line.startswith("<") or at + 1 >= len(lines) or not _is_entry_line(lines[at + 1]):
            return False
        return not line or not self._is_record(line)


def _similarity(label: str, line: str) -> float:
    return SequenceMatcher(None, label, line[: len(label)]).ratio()


def instruction_column(line: str) -> int:
    """Return the column of the text after ``from instruction:``; 0 for other lines."""
    match = _BEFORE_INSTRUCTION.match(line)
    return 0 if match is None else match.end()


_BEFORE_INSTRUCTION = re.compile(rf"{_INSTRUCTION}\s*")


def defining_text(entry: UsedValue) -> InstructionText | None:
    """Parse the text after ``from instruction:`` of an entry; columns are those of its line."""
    line = entry.lines[-1]
    column = instruction_column(line)
    return parse_instruction(line, column) if column else None


def _is_entry_line(line: str) -> bool:
    """Return True if a line looks like a row of an entry: two blanks and a name, or a label."""
    return line[2:3] not in {" ", ""} if line.startswith("  ") else line.startswith(_LABELS)
