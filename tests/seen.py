"""What the cursor is on, for every column of a mark."""

from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.cursor.targets import TargetEntity
from hlo_lsp.model.dump_file import DumpFile
from marks import Marked, mark


class Seen:
    """A text with marks, asked by the name of a mark."""

    def __init__(self, block: str) -> None:
        self.marked: Marked = mark(block)
        self.file = DumpFile.of_text(self.marked.text)

    def __getitem__(self, name: str) -> tuple[TargetEntity, str] | None:
        """The subject, and the text that it is said to stand on; the same all over the mark."""
        place = self.marked[name]
        answers = {self.at(place.line, column) for column in range(place.start, place.end)}
        assert len(answers) == 1, answers
        return answers.pop()

    def at(self, line: int, column: int) -> tuple[TargetEntity, str] | None:
        """The same at a line and column."""
        found = cursor_target_at(self.file, line, column)
        if found is None:
            return None
        place = found.place
        assert (place.file, place.line) == (self.file, line)
        return found.entity, self.file.lines[line][place.start : place.end]
