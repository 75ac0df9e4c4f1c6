"""What puts a finding right, where a rule knows it."""

from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of a file, from one (line, code point) to another, and what is to stand there."""

    file: DumpFile
    start: Position
    end: Position
    text: str

    @classmethod
    def put(cls, place: Place, text: str) -> "Edit":
        """Other text at a place."""
        return cls(place.file, (place.line, place.start), (place.line, place.end), text)

    @classmethod
    def drop(cls, file: DumpFile, first: int, count: int) -> "Edit":
        """No longer these lines, nor the end of the last."""
        lines = file.lines
        end = first + count
        if end < len(lines):
            return cls(file, (first, 0), (end, 0), "")
        last = len(lines) - 1, len(lines[-1])
        start = (first - 1, len(lines[first - 1])) if first else (0, 0)
        return cls(file, start, last, "")

    def meets(self, other: "Edit") -> bool:
        """Whether both cannot be made at once."""
        return self.file is other.file and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together; ``title`` tells somebody to make them: ``Put 512``.

    One that ``is_sure`` follows from the rest of the dump. One that is not may take away what was
    right, and wants somebody who looks at it.
    """

    title: str
    edits: tuple[Edit, ...]
    is_sure: bool = True

    @property
    def drops(self) -> bool:
        """Whether nothing is put in the place of what it takes away."""
        return not any(edit.text for edit in self.edits)

    @classmethod
    def put(cls, place: Place, text: str, *, is_sure: bool = True) -> "Fix":
        """Other text at a place."""
        return cls(f"Put `{text}`", (Edit.put(place, text),), is_sure)

    @classmethod
    def drop(cls, file: DumpFile, first: int, count: int) -> "Fix":
        """No longer these lines."""
        title = "Remove this line" if count == 1 else f"Remove these {count:,} lines"
        return cls(title, (Edit.drop(file, first, count),), is_sure=False)


def together(fixes: "list[Fix]") -> tuple[Edit, ...]:
    """The edits of fixes that can be made at once, the first of those that cannot."""
    made: dict[tuple[int, int], list[Edit]] = {}  # by file and line: few edits share one
    found: list[Edit] = []
    for fix in fixes:
        near = [made.get(key, []) for edit in fix.edits for key in _keys(edit)]
        known = [edit for edits in near for edit in edits]
        if any(edit.meets(other) for edit in fix.edits for other in known):
            continue
        for edit in fix.edits:
            found.append(edit)
            for key in _keys(edit):
                made.setdefault(key, []).append(edit)
    return tuple(found)


def _keys(edit: Edit) -> list[tuple[int, int]]:
    return [(id(edit.file), line) for line in range(edit.start[0], edit.end[0] + 1)]
