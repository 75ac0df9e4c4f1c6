"""The cursor targets of a marked text."""

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import TargetEntity
from hlo_lsp.model.dump_file import DumpFile
from marks import Marked, mark


class CursorTargets:
    """The cursor targets of a text, by the names of its marks."""

    def __init__(self, block: str) -> None:
        self.marked: Marked = mark(block)
        self.file = DumpFile.of_text(self.marked.text)

    def __getitem__(self, name: str) -> tuple[TargetEntity, str] | None:
        """Return the entity and its text, which are the same in every column of the mark."""
        place = self.marked[name]
        targets = {self.at(place.line, column) for column in range(place.start, place.end)}
        assert len(targets) == 1, targets
        return targets.pop()

    def entity(self, name: str) -> TargetEntity | None:
        """Return the entity alone."""
        found = self[name]
        return None if found is None else found[0]

    def at(self, line: int, column: int) -> tuple[TargetEntity, str] | None:
        """Return the entity at a line and column, and its text."""
        target = cursor_target_at(self.file, line, column)
        if target is None:
            return None
        place = target.place
        assert (place.file, place.line) == (self.file, line)
        return target.entity, self.file.lines[line][place.start : place.end]
