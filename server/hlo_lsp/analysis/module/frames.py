"""The tables of source locations as a reader of ids sees them."""

from collections.abc import Sequence
from functools import cached_property

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    FrameRow,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Broken

_Row = NameRow | LocationRow | FrameRow


class Table:
    """The rows of a table in order. ``is_whole`` is whether all lines of the tables were read.

    ``misnumbered`` is the first row whose number is not its place, counted from 1; None where a
    line is broken.
    """

    def __init__(self, rows: Sequence[_Row], is_whole: bool) -> None:
        self.rows = rows
        self._highest = max(len(rows), *(row.number for row in rows)) if rows else 0
        self.is_whole = is_whole
        numbered = enumerate(rows if is_whole else (), 1)
        self.misnumbered = next((row for place, row in numbered if row.number != place), None)

    def may_hold(self, number: int) -> bool:
        """Whether there is such a row.

        Ids count rows from 1; but where a row is gone, those behind it keep the numbers that they
        were printed with, so the highest of those counts too.
        """
        return not self.is_whole or 0 < number <= self._highest


class Tables:
    """The tables at the head of a module, by their names."""

    def __init__(self, file: DumpFile) -> None:
        rows: dict[str, list[_Row]] = {}
        label = ""
        whole = True
        for record in file.records:
            if isinstance(record, TableLabel):
                label = record.table
                rows.setdefault(label, [])
            elif isinstance(record, NameRow | LocationRow | FrameRow):
                rows.setdefault(label, []).append(record)
            elif isinstance(record, ComputationLine):
                break
            whole = whole and not isinstance(record, Broken)
        self._tables = {name: Table(found, whole) for name, found in rows.items()}
        self.frames = [row for found in rows.values() for row in found if isinstance(row, FrameRow)]

    def table(self, name: str) -> Table | None:
        """The table of this name, or None if the module has none."""
        return self._tables.get(name)

    @cached_property
    def circles(self) -> dict[FrameRow, list[FrameRow]]:
        """The frames that are their own callers, each circle under its row with the highest id.

        A frame comes in front of its caller; the last one is called by the first. None are known
        where a row is gone, or is there twice: the ids behind it mean other rows than they did.
        """
        table = self._tables.get("StackFrames")
        if table is None or not table.is_whole or table.misnumbered is not None:
            return {}
        walks = [0] * (len(self.frames) + 1)  # which walk came to a frame first, by its start
        found: dict[FrameRow, list[FrameRow]] = {}
        for start in range(1, len(walks)):
            at: int | None = start
            path: list[int] = []
            while at is not None and at < len(walks) and not walks[at]:
                walks[at] = start
                path.append(at)
                at = self.frames[at - 1].parent
            if at is not None and at < len(walks) and walks[at] == start:
                circle = path[path.index(at) :]
                turn = circle.index(max(circle))
                rows = [self.frames[number - 1] for number in circle[turn:] + circle[:turn]]
                found[rows[0]] = rows
        return found
