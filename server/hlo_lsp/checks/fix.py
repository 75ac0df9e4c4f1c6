"""Fixes of findings: edits that a user can apply."""

from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of a range of a file, from one (line, code point) to another."""

    file: DumpFile
    start: Position
    end: Position
    text: str

    @classmethod
    def put(cls, place: Place, text: str) -> "Edit":
        """Return an edit that replaces the text at a place."""
        return cls(place.file, (place.line, place.start), (place.line, place.end), text)

    @classmethod
    def drop(cls, file: DumpFile, first: int, count: int) -> "Edit":
        """Return an edit that removes lines, including the newline of the last one."""
        lines = file.lines
        end = first + count
        if end < len(lines):
            return cls(file, (first, 0), (end, 0), "")
        last = len(lines) - 1, len(lines[-1])
        start = (first - 1, len(lines[first - 1])) if first else (0, 0)
        return cls(file, start, last, "")

    def meets(self, other: "Edit") -> bool:
        """Return True if the edits overlap, so that only one of them can be applied."""
        return self.file is other.file and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that are applied together. The title is an instruction: ``Change to `512```.

    A fix with ``is_sure`` follows from the rest of the dump. Any other fix may remove correct text
    and requires review.
    """

    title: str
    edits: tuple[Edit, ...]
    is_sure: bool = True

    @property
    def drops(self) -> bool:
        """True if the fix only removes text."""
        return not any(edit.text for edit in self.edits)

    @classmethod
    def put(cls, place: Place, text: str, *, is_sure: bool = True) -> "Fix":
        """Return a fix that replaces the text at a place."""
        return cls(f"Change to `{text}`", (Edit.put(place, text),), is_sure)

    @classmethod
    def drop(cls, file: DumpFile, first: int, count: int) -> "Fix":
        """Return a fix that removes lines."""
        title = "Remove this line" if count == 1 else f"Remove these {count:,} lines"
        return cls(title, (Edit.drop(file, first, count),), is_sure=False)


def together(fixes: "list[Fix]") -> tuple[Edit, ...]:
    """Return the edits of all fixes, without the fixes that overlap an earlier one."""
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
