"""What kind of file a text is, by its first lines and never by its name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from hlo_lsp.syntax.grammar import load

_SNIFFED = 60  # lines
_LOGGED = 20_000  # lines of other output in which the first section is looked for: about 1 ms


class FileKind(Enum):
    """The kinds of dump files; the value is the name that users see."""

    ASSIGNMENT = "buffer-assignment"
    VALUES = "buffer-assignment-values"
    LIVE_RANGE = "live-range"
    REPORT = "memory-usage-report"
    MODULE = "module"
    THUNKS = "thunk-sequence"
    BUNDLE = "stdout-dump"
    OTHER = "other"

    @property
    def is_memory(self) -> bool:
        """Whether it is one of the four memory files, which share one scanner."""
        return self in _MEMORY

    @property
    def has_records(self) -> bool:
        """Whether the text says something itself: it is a dump, and not several in a row."""
        return self is not FileKind.OTHER and self is not FileKind.BUNDLE


_MEMORY = frozenset({FileKind.ASSIGNMENT, FileKind.VALUES, FileKind.LIVE_RANGE, FileKind.REPORT})

# The first line of an intact file.
_FIRST = (
    (re.compile(r"BufferAssignment:"), FileKind.ASSIGNMENT),
    (re.compile(r"Used values:"), FileKind.VALUES),
    (re.compile(r"HloLiveRange "), FileKind.LIVE_RANGE),
    (re.compile(r"Memory Space: |Allocations sorted by size|memory_space_allocation_entries"),
     FileKind.REPORT),
    (re.compile(r"HloModule [%A-Za-z_]"), FileKind.MODULE),
    (re.compile(r"(?:\d{3,}: )?k[A-Z]\w+(?: *\t| +\[(?:source|prev=))"), FileKind.THUNKS),
)  # fmt: skip
# A line further down, which tells what a file is whose first line is gone or broken.
_LATER = (
    (re.compile(r"allocation \d+: size \d+[,:]| value: <\d+ "), FileKind.ASSIGNMENT),
    (re.compile(r"<\d+ [\w.\-]+(?:\{[\d,]*\})?(?: \(phi\))?(?: @\d+)?>$| positions:$"),
     FileKind.VALUES),
    (re.compile(r"  InstructionSequence:$|  BufferLiveRange:$| {4}[\w.\-]+\{[\d,]*\}:\d+-\d+$"),
     FileKind.LIVE_RANGE),
    (re.compile(r"[ \t]+cumulative_size; +size; +offset;"), FileKind.REPORT),
    (re.compile(r" *(?:\d{3,}: )k[A-Z]\w+(?: *\t| +\[(?:source|prev=))| *k[A-Z]\w+ *\t"),
     FileKind.THUNKS),
    (re.compile(r"\s*HloModule\s+[%A-Za-z_]|\s*ENTRY\s+%?[A-Za-z_][\w.\-]*\s*[({]|"
                r"%[A-Za-z_][\w.\-]* (?:\(.*\) -> .* )?\{$|"
                r"[A-Za-z_][\w.\-]* \(.*\) -> .* \{$|"
                r" *(?:ROOT )?%?[A-Za-z_][\w.\-]* = "
                r"\(*(?:pred|token|opaque|bf16|[sufc]\d+\w*)\[[0-9,<=?]*\]"),
     FileKind.MODULE),
)  # fmt: skip
_TOTAL = re.compile(r"Total bytes used: ")


def sniff(lines: Sequence[str]) -> FileKind:
    """The kind of a text; OTHER for whatever is no dump of ours."""
    if any(map(begins_section, islice(lines, _SNIFFED))):
        return FileKind.BUNDLE  # before others: what stands in the sections is of these kinds
    filled = [line[:400] for line in islice(lines, _SNIFFED) if line and not line.isspace()]
    kind = _sniffed(filled) if filled else FileKind.OTHER
    if kind is FileKind.OTHER and any(map(begins_section, islice(lines, _SNIFFED, _LOGGED))):
        return FileKind.BUNDLE
    return kind


def _sniffed(filled: list[str]) -> FileKind:
    first = filled[0]
    for expression, kind in _FIRST:
        if expression.match(first):
            return kind
    if _TOTAL.match(first):
        report = any(line.startswith("Allocations sorted by size") for line in filled[1:3])
        return FileKind.REPORT if report else FileKind.VALUES
    for line in filled:
        for expression, kind in (*_FIRST[:3], *_LATER):
            if expression.match(line):
                return kind
    return FileKind.OTHER


_BEGIN = "*** Begin "
_END = "*** End "
_CLOSE = " ***"


@dataclass(frozen=True, slots=True)
class Section:
    """A file in a longer text: its lines are ``first`` (from 0) to ``first + count - 1``.

    Joined by line ends these lines are the text that XLA would have written into the file, if
    ``is_whole``; else it was cut off, or other output came in between. ``name`` is as printed: in
    a file name blanks and brackets would be ``_``.
    """

    name: str
    first: int
    count: int
    is_whole: bool


def sections(lines: Sequence[str]) -> list[Section]:
    """The sections of a text, in its order; none for a text that is no such output.

    A section ends at the next line that begins or ends one. It is whole if that line is its own
    end. So output of two libraries that write at the same time (jaxlib and libtpu hold a lock
    each) costs the sections that were mixed and no other. A line that ends a section which was
    never begun is text like any other. Before a begin a line may hold other output.
    """
    found: list[Section] = []
    open_names: list[str] = []  # begun and not ended; text is only of the last
    start: int | None = None  # of the text of the last
    for number, line in enumerate(lines):
        if not line.endswith(_CLOSE):
            continue
        ended = _marker("section_end", line, 0) if line.startswith(_END) else None
        begun = None if ended else _marker("section_begin", line, line.find(_BEGIN))
        if begun is None and (ended is None or ended not in open_names):
            continue
        if start is not None:
            name = open_names[-1]
            found.append(Section(name, start, number - start, ended == name))
            start = None
        if begun is not None:
            open_names.append(begun)
            start = number + 1
        elif ended is not None:
            open_names.remove(ended)
    if start is not None:
        found.append(Section(open_names[-1], start, len(lines) - start, is_whole=False))
    return found


def begins_section(line: str) -> bool:
    """Whether a section begins behind this line."""
    return line.endswith(_CLOSE) and _marker("section_begin", line, line.find(_BEGIN)) is not None


def _marker(rule: str, line: str, column: int) -> str | None:
    if column < 0:
        return None
    match = load("bundle").expression(rule).fullmatch(line, column)
    return None if match is None else match["FILE"]
