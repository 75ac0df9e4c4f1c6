"""What an editor shows of a file while it is looked at again."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hlo_lsp.features.wire import Json


@dataclass(slots=True)
class Shown:
    """The diagnostics of the last look that came to its end, and those that were sent last.

    ``lines`` is the text that the look was at: of the lines with diagnostics, by number.
    """

    whole: list[Json] = field(default_factory=list)
    lines: dict[int, str] = field(default_factory=dict)
    count: int = 0
    sent: list[Json] = field(default_factory=list)

    def complete(self, found: list[Json], lines: list[str]) -> None:
        """A look has come to its end."""
        self.whole = found
        self.count = len(lines)
        rows = {_line(one) for one in found}
        self.lines = {row: lines[row] for row in rows if row < len(lines)}

    def left(self, pending: frozenset[str] | None, lines: list[str]) -> Iterator[Json]:
        """Those of the last look that may still be true, where they are now.

        They are of codes that are still ``pending`` (None: all are), and their line is as it was,
        as far from the beginning or from the end of the text as before: an edit in one place moves
        them with it.
        """
        for one in self.whole:
            if pending is not None and one["code"] not in pending:
                continue
            row = _line(one)
            for moved in (row, row + len(lines) - self.count):
                if 0 <= moved < len(lines) and lines[moved] == self.lines.get(row):
                    yield _on_line(one, moved)
                    break


def _line(diagnostic: Json) -> int:
    line: int = diagnostic["range"]["start"]["line"]
    return line


def _on_line(diagnostic: Json, line: int) -> Json:
    span = diagnostic["range"]
    return {**diagnostic, "range": {end: {**span[end], "line": line} for end in ("start", "end")}}
