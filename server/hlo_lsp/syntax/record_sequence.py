"""The records of a file in order, and their update after an edit.

Positions are relative to a block of records, so an edit updates a few hundred records at most.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.syntax.records import BrokenRecord, Record, RecordBlock
from hlo_lsp.text.document import LineChange

# An edit updates one block and all block positions. Python shares integers up to 256, and most
# positions in a block are not larger.
_RECORDS_PER_BLOCK = 256
_LOOKAHEAD_RECORDS = 2  # records after which a change can affect where a record ends
_RECORDS_PER_CHECKPOINT = 100  # less than 1 ms, or 2 ms of entries of a values file


class Scanner(Protocol):
    """A reader of one record at a time.

    It reads the lines of the record, at most two lines after them, and ``lookahead`` lines.
    """

    def read(self, lines: Sequence[str], at: int) -> Record:
        """Return the record that begins on line ``at``."""


@dataclass(frozen=True, slots=True)
class RecordDelta:
    """The records that an edit removed and added."""

    removed: list[Record]
    added: list[Record]


class RecordSequence:
    """Records that cover all lines of a file without gaps."""

    def __init__(self) -> None:
        self._blocks: list[RecordBlock] = []
        self._firsts: list[int] = []

    def __iter__(self) -> Iterator[Record]:
        for block in self._blocks:
            yield from block.records

    @property
    def blocks(self) -> Sequence[RecordBlock]:
        """The records in runs; an edit replaces only the runs that it changes."""
        return self._blocks

    def at(self, line: int) -> Record | None:
        """Return the record that contains this line (from 0)."""
        place = self._position(line)
        return None if place is None else self._blocks[place[0]].records[place[1]]

    def beginning_at(self, line: int) -> Iterator[Record]:
        """Yield all records, starting at this line and wrapping around at the end."""
        number, index = self._position(line) or (0, 0)
        first, *others = [*self._blocks[number:], *self._blocks[:number]] or [RecordBlock([])]
        yield from first.records[index:]
        for block in others:
            yield from block.records
        yield from first.records[:index]

    def after(self, record: Record) -> Iterator[Record]:
        """Yield the records after this one in order."""
        block = record.block
        yield from block.records[_record_index(block, record.start) + 1 :]
        for later in self._blocks[block.number + 1 :]:
            yield from later.records

    def head_of(self, record: Record) -> Record | None:
        """Return the head of a record: the record itself or the nearest head above."""
        block: RecordBlock | None = record.block
        place = bisect_right(record.block.head_starts, record.start) - 1
        if place < 0:  # the last head of the block above
            block = record.block.above
        return None if block is None else block.heads[place]

    def readable_head_of(self, record: Record) -> Record | None:
        """Return the head of a record, or the nearest head above it if that is a broken line."""
        head = self.head_of(record)
        while isinstance(head, BrokenRecord):
            above = self.at(head.line - 1) if head.line > 0 else None
            head = None if above is None else self.head_of(above)
        return head

    def head_after(self, record: Record | None) -> Record | None:
        """Return the first head after a record, or the first head of all."""
        block = self._blocks[0] if record is None else record.block
        place = 0
        if record is not None:
            place = bisect_right(block.head_starts, record.start)
        while place >= len(block.heads):
            if block.number + 1 >= len(self._blocks):
                return None
            block, place = self._blocks[block.number + 1], 0
        return block.heads[place]

    def members(self, head: Record) -> list[Record]:
        """Return the records after a head, up to the next head."""
        following = self.head_after(head)
        block, first = head.block, _record_index(head.block, head.start) + 1
        found: list[Record] = []
        while following is None or block is not following.block:
            found += block.records[first:]
            if block.number + 1 >= len(self._blocks):
                return found
            block, first = self._blocks[block.number + 1], 0
        found += block.records[first : _record_index(block, following.start)]
        return found

    def update(self, scanner: Scanner, lines: Sequence[str], change: LineChange) -> RecordDelta:
        """Scan from the changed lines until an old record starts where a new one ends.

        Scanners keep no state between records, so the records after that line are unchanged. The
        sequence changes only at the end, so the work can be cancelled at a checkpoint.
        """
        start = self._first_dependent(change.first)
        at = 0 if start is None else self._blocks[start[0]].records[start[1]].line
        places = self._places(*(start or (0, 0)))
        place, old = next(places)
        first = place  # the first position that changes
        # The last record is scanned again, so that an old record remains to splice at.
        last_line = self._firsts[-1] + self._blocks[-1].line_count - 1 if self._blocks else 0
        unchanged_end = min(change.first, last_line)
        shift = change.new_count - change.old_count
        changed_end = change.first + change.new_count
        added: list[Record] = []
        removed: list[Record] = []
        while at < len(lines):
            if at >= changed_end:
                while old is not None and old.line + shift < at:
                    removed.append(old)
                    place, old = next(places)
                if old is not None and old.line + shift == at:
                    break
            record = scanner.read(lines, at)
            at += record.line_count
            is_unchanged = at <= unchanged_end and not added
            if is_unchanged and old is not None and _has_same_extent(old, record):
                place, old = next(places)
                first = place
                continue
            added.append(record)
            if len(added) % _RECORDS_PER_CHECKPOINT == 0:
                checkpoint()
        else:
            while old is not None:
                removed.append(old)
                place, old = next(places)
        self._splice(first, place, added)
        return RecordDelta(removed, added)

    def _places(self, number: int, index: int) -> Iterator[tuple[tuple[int, int], Record | None]]:
        """Yield the records from a position on, each with its position; None marks the end."""
        for block in self._blocks[number:]:
            for place in range(index, len(block.records)):
                yield (block.number, place), block.records[place]
            index = 0
        yield (len(self._blocks), 0), None

    def _position(self, line: int) -> tuple[int, int] | None:
        number = bisect_right(self._firsts, line) - 1
        if number < 0:
            return None
        block = self._blocks[number]
        return number, _record_index(block, line - block.first_line)

    def _position_before(self, line: int) -> tuple[int, int] | None:
        """Return the position two records before ``line``: the change may extend these records."""
        place = self._position(line)
        for _ in range(_LOOKAHEAD_RECORDS):
            if place is None or place == (0, 0):
                return place
            number, index = place
            if index > 0:
                place = number, index - 1
            else:
                place = number - 1, len(self._blocks[number - 1].records) - 1
        return place

    def _first_dependent(self, line: int) -> tuple[int, int] | None:
        """Return the position of the first record that a change of ``line`` can affect."""
        found = self._position_before(line)
        for block in self._blocks[: found[0] + 1] if found else ():
            if block.first_line + block.seen < line:
                continue
            for index, record in enumerate(block.records):
                end = record.line + record.line_count + record.lookahead
                if record.lookahead and end >= line:
                    return min((block.number, index), found or (0, 0))
        return found

    def _splice(self, start: tuple[int, int], end: tuple[int, int], added: list[Record]) -> None:
        head = self._blocks[start[0]].records[: start[1]] if self._blocks else []
        last = end[0]
        tail = self._blocks[last].records[end[1] :] if last < len(self._blocks) else []
        records = [*head, *added, *tail]
        for old in self._blocks[start[0] : last + 1]:
            old.records, old.heads = [], []  # breaks the reference cycle with removed records
        self._blocks[start[0] : last + 1] = _split_into_blocks(records)
        line = 0
        above = None
        self._firsts = []
        for number, block in enumerate(self._blocks):
            block.number = number
            block.first_line = line
            block.above = above
            if block.heads:
                above = block
            self._firsts.append(line)
            line += block.line_count


def _has_same_extent(one: Record, other: Record) -> bool:
    """Return whether two records at the same line of the same text are the same."""
    is_apart = not one.shares_lines and not other.shares_lines
    extents = [(type(each), each.line_count, each.lookahead) for each in (one, other)]
    return is_apart and extents[0] == extents[1]


def _split_into_blocks(records: list[Record]) -> list[RecordBlock]:
    """Split records into blocks of about equal size, so that edits leave no tiny blocks."""
    parts = max(1, round(len(records) / _RECORDS_PER_BLOCK))
    size = max(1, -(-len(records) // parts))
    return [RecordBlock(records[i : i + size]) for i in range(0, len(records), size)]


def _record_index(block: RecordBlock, start: int) -> int:
    return bisect_right(block.records, start, key=attrgetter("start")) - 1
