"""Findings, which are inconsistencies in dumps or advice on programs, and their fixes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

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
    def put(cls, place: Place, text: str) -> "Fix":
        """Return a fix that replaces the text at a place."""
        return cls(f"Change to `{text}`", (Edit.put(place, text),))

    @classmethod
    def drop(cls, file: DumpFile, first: int, count: int) -> "Fix":
        """Return a fix that removes lines."""
        title = "Remove this line" if count == 1 else f"Remove these {count:,} lines"
        return cls(title, (Edit.drop(file, first, count),), is_sure=False)


def together(fixes: Iterable[Fix]) -> tuple[Edit, ...]:
    """Return the edits of all fixes, without the fixes that overlap an earlier one."""
    found: list[Edit] = []
    by_line: defaultdict[tuple[DumpFile, int], list[Edit]] = defaultdict(list)
    for fix in fixes:
        keyed = [
            ((edit.file, line), edit)
            for edit in fix.edits
            for line in range(edit.start[0], edit.end[0] + 1)
        ]
        if not any(edit.meets(other) for key, edit in keyed for other in by_line[key]):
            found += fix.edits
            for key, edit in keyed:
                by_line[key].append(edit)
    return tuple(found)


class Severity(Enum):
    """The severity of a finding. The values are the names in JSON output."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """The rank of the severity, 0 for the most severe."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding refers to."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a place. The message states the actual and the expected number.

    ``fixes`` are alternatives, each of which resolves the finding.
    """

    code: str
    severity: Severity
    place: Place
    message: str
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def fixed(self, *fixes: Fix) -> "Finding":
        """Return the finding with additional fixes, the best first."""
        return replace(self, fixes=(*self.fixes, *fixes))

    def put(self, text: str) -> "Finding":
        """Return the finding with a fix that replaces the text at its place."""
        return self.fixed(Fix.put(self.place, text))
