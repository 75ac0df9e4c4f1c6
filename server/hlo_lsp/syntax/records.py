"""Records: what the lines of a file say, one object for each line or group of lines.

A record is made once, from text, and never changes; only its place moves when lines are
inserted or removed above it. The place is kept relative to a block of neighbours, so that an
edit moves a few hundred records at most.
"""

from typing import ClassVar


class Block:
    """A run of neighbouring records and the line (from 0) on which it begins.

    ``heads`` are the places of those records that others belong to.
    """

    __slots__ = ("first_line", "heads", "line_count", "number", "records")

    def __init__(self, records: "list[Record]") -> None:
        self.records = records
        self.number = 0
        self.first_line = 0
        start = 0
        for record in records:
            record.block = self
            record.start = start
            start += record.line_count
        self.line_count = start
        self.heads = [place for place, record in enumerate(records) if record.is_head]


class Record:
    """A line, or several that belong together. ``line_count`` says how many."""

    __slots__ = ("block", "start")

    block: Block
    start: int
    line_count: int = 1
    rule: ClassVar[str] = ""
    is_head: bool = False  # whether the records behind it belong to it

    @property
    def line(self) -> int:
        """The line of the file, from 0, on which the record begins now."""
        return self.block.first_line + self.start

    def statement_rows(self, row: int) -> range:  # noqa: ARG002
        """Return the rows, from 0, that are read as one text together with ``row``.

        These are all rows of the record, unless it consists of rows of different kinds.
        """
        return range(self.line_count)


class Blank(Record):
    """A line without a sign on it."""

    __slots__ = ()


class Broken(Record):
    """A line, or a statement of several, that no rule reads.

    Whatever stands at the left edge was a head: the records behind it belong to nobody now,
    rather than to the head above.
    """

    __slots__ = ("is_head", "line_count", "text")

    def __init__(self, text: str, line_count: int = 1) -> None:
        self.text = text
        self.line_count = line_count
        self.is_head = not text[:1].isspace()


class Label(Record):
    """A line that only says what comes next; ``name`` is its rule."""

    __slots__ = ("name",)
    is_head = True

    def __init__(self, name: str) -> None:
        self.name = name
