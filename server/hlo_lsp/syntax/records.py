"""Records: the parsed lines of a file, one object for each line or group of lines.

Records are immutable except for their position, which changes with edits above them.
"""

from collections.abc import Sequence
from typing import ClassVar


class RecordBlock:
    """A run of adjacent records and the line (from 0) on which it begins.

    ``heads`` are the head records, which begin at ``head_starts`` in the block. ``above`` is the
    nearest earlier block with heads. ``seen`` is the number of lines, from the first line of the
    block, that its records depend on. ``forms`` keeps what the model finds unknown in them.
    """

    __slots__ = (
        *("above", "first_line", "forms", "head_starts", "heads", "line_count", "number"),
        *("records", "seen"),
    )

    def __init__(self, records: "list[Record]") -> None:
        self.records = records
        self.number = 0
        self.first_line = 0
        self.above: RecordBlock | None = None
        self.forms: object = None
        start = seen = 0
        for record in records:
            record.block = self
            record.start = start
            start += record.line_count
            if record.lookahead:
                seen = max(seen, start + record.lookahead)
        self.line_count = start
        self.seen = seen
        self.heads = [record for record in records if record.is_head]
        self.head_starts = [record.start for record in self.heads]


class Record:
    """A line, or ``line_count`` lines that belong together."""

    __slots__ = ("block", "start")

    block: RecordBlock
    start: int
    line_count: int = 1
    lookahead: int = 0  # lines after it that decide what it is, beyond those of two records
    rule: ClassVar[str] = ""
    is_head: bool = False  # the records after a head belong to it

    @property
    def line(self) -> int:
        """The line of the file, from 0, on which the record begins now."""
        return self.block.first_line + self.start

    @property
    def shares_lines(self) -> bool:
        """True if the first or the last line also contains a part of another record."""
        return False

    def statement_rows(self, row: int) -> range:  # noqa: ARG002
        """Return the rows, from 0, that are read as one text together with ``row``.

        These are all rows of the record, unless it consists of rows of different kinds.
        """
        return range(self.line_count)


class BlankLine(Record):
    """A blank line."""

    __slots__ = ()


class BrokenRecord(Record):
    """A line or a statement of several lines that no rule matches.

    A broken line without indentation counts as a head, unless ``may_be_head`` is false: the records
    after it do not belong to the head above.
    """

    __slots__ = ("is_head", "line_count", "lookahead", "text")

    def __init__(self, text: str, line_count: int = 1, *, may_be_head: bool = True) -> None:
        self.text = text
        self.line_count = line_count
        self.lookahead = 0
        self.is_head = may_be_head and not text[:1].isspace()


class UnknownSection(Record):
    """Lines of an unknown section, from its title to its last bracket or row."""

    __slots__ = ("line_count", "text")

    def __init__(self, lines: Sequence[str]) -> None:
        self.text = "\n".join(lines)
        self.line_count = len(lines)


class Label(Record):
    """A line that introduces the next lines; ``name`` is its rule."""

    __slots__ = ("name",)
    is_head = True

    def __init__(self, name: str) -> None:
        self.name = name
