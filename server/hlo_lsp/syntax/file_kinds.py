"""The kind of a dump file, detected from its first lines and never from its name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.statements import has_instruction_mark

_DETECTION_LINES = 60
_MAX_LINES_BEFORE_SECTION = 20_000  # other output before the first section: about 1 ms
DECISIVE_LINES = _MAX_LINES_BEFORE_SECTION  # the kind does not depend on the lines after these
_MAX_LINES_BEFORE_SPLIT = 2_000  # of a module text, which is detected again after each edit
# Between the modules of a test of XLA (hlo-opt --split-input-file).
_is_split_marker = re.compile(r"// -----\s*").fullmatch


class FileKind(Enum):
    """The kinds of dump files; the value is the name in the user interface."""

    ASSIGNMENT = "buffer-assignment"
    VALUES = "buffer-assignment-values"
    LIVE_RANGE = "live-range"
    REPORT = "memory-usage-report"
    MODULE = "module"
    THUNKS = "thunk-sequence"
    STDOUT_DUMP = "stdout-dump"
    EMBEDDED = "embedded-hlo"
    OOM = "xla-oom"
    OTHER = "other"

    @property
    def is_memory(self) -> bool:
        """True for the four memory files, which share one scanner."""
        return self in _MEMORY_KINDS

    @property
    def has_records(self) -> bool:
        """True for a single dump file, False for a stdout dump, a message, and other text."""
        return self.is_dump and self is not FileKind.STDOUT_DUMP

    @property
    def has_sections(self) -> bool:
        """True for a text that consists of several files."""
        return self is FileKind.STDOUT_DUMP or self is FileKind.EMBEDDED

    @property
    def is_dump(self) -> bool:
        """True for what XLA dumps; other texts may contain a message or HLO."""
        return self not in _OTHER_TEXTS


_MEMORY_KINDS = frozenset(
    {FileKind.ASSIGNMENT, FileKind.VALUES, FileKind.LIVE_RANGE, FileKind.REPORT}
)
_OTHER_TEXTS = frozenset({FileKind.OTHER, FileKind.OOM, FileKind.EMBEDDED})

# The first line of an intact file.
_FIRST_LINE_PATTERNS = (
    (re.compile(r"BufferAssignment:"), FileKind.ASSIGNMENT),
    (re.compile(r"Used values:"), FileKind.VALUES),
    (re.compile(r"HloLiveRange "), FileKind.LIVE_RANGE),
    (re.compile(r"Memory Space: |Allocations sorted by size|memory_space_allocation_entries"),
     FileKind.REPORT),
    (re.compile(r"HloModule [%A-Za-z_]"), FileKind.MODULE),
    (re.compile(r"(?:\d{3,}: )?k[A-Z]\w+(?: *\t| +\[(?:source|prev=))"), FileKind.THUNKS),
)  # fmt: skip
# A later line, for files whose first line is missing or broken.
_LATER_LINE_PATTERNS = (
    (re.compile(r"allocation \d+: size \d+[,:]| value: <\d+ "), FileKind.ASSIGNMENT),
    (re.compile(r"<\d+ [\w.\-]+(?:\{[\d,]*\})?(?: \(phi\))?(?: @\d+)?>$| positions:$"),
     FileKind.VALUES),
    (re.compile(r"  InstructionSequence:$|  BufferLiveRange:$| {4}[\w.\-]+\{[\d,]*\}:\d+-\d+$"),
     FileKind.LIVE_RANGE),
    (re.compile(r"[ \t]+cumulative_size; +size; +offset;"), FileKind.REPORT),
    (re.compile(r" *(?:\d{3,}: )k[A-Z]\w+(?: *\t| +\[(?:source|prev=))| *k[A-Z]\w+ *\t"),
     FileKind.THUNKS),
    (re.compile(r"\s*HloModule\s+[%A-Za-z_]|\s*ENTRY\s+%?[A-Za-z_][\w.\-]*\s*[({]|"
                r"%[A-Za-z_][\w.\-]* (?:\((?=.*\) -> ).* )?\{$|"
                r"[A-Za-z_][\w.\-]* \((?=.*\) -> ).* \{$|"
                r" *(?:ROOT )?%?[A-Za-z_][\w.\-]* = "
                r"\(*(?:pred|token|opaque|bf16|[sufc]\d\w*)\[[0-9,<=?]*\]"),
     FileKind.MODULE),
)  # fmt: skip
_FENCE = "```"  # before an example in Markdown; never in a dump
_is_module_header = re.compile(r"HloModule %?[A-Za-z_][\w.\-]*(?:, [a-z_]+=|$)").match
_TOTAL_LINE = re.compile(r"Total bytes used: ")


def detect_file_kind(lines: Sequence[str]) -> FileKind:
    """Return the kind of a text, OTHER if it is not a supported dump."""
    if any(map(_begun_section, islice(lines, _DETECTION_LINES))):
        return FileKind.STDOUT_DUMP  # checked first, as the sections have the other kinds
    filled = [line[:400] for line in islice(lines, _DETECTION_LINES) if line and not line.isspace()]
    kind = _kind_of_lines(filled) if filled else FileKind.OTHER
    if kind is FileKind.MODULE and any(
        _is_split_marker(line) for line in islice(lines, _MAX_LINES_BEFORE_SPLIT)
    ):
        return FileKind.STDOUT_DUMP
    if kind is FileKind.OTHER and any(
        map(_begun_section, islice(lines, _DETECTION_LINES, _MAX_LINES_BEFORE_SECTION))
    ):
        return FileKind.STDOUT_DUMP
    if kind is FileKind.OTHER and _has_oom_message(lines):
        return FileKind.OOM
    # A module text without a header is detected again after each edit.
    end = _MAX_LINES_BEFORE_SPLIT if kind is FileKind.MODULE else _MAX_LINES_BEFORE_SECTION
    if kind in {FileKind.MODULE, FileKind.OTHER} and _is_log_with_modules(lines, end):
        return FileKind.STDOUT_DUMP
    return kind


def _has_oom_message(lines: Sequence[str]) -> bool:
    from hlo_lsp.syntax.oom_lines import begins_oom_message  # noqa: PLC0415  # not for a dump

    return any(map(begins_oom_message, islice(lines, _MAX_LINES_BEFORE_SECTION)))


def _is_log_with_modules(lines: Sequence[str], end: int = _MAX_LINES_BEFORE_SECTION) -> bool:
    """Return whether modules that a program has printed follow other output, before a line."""
    for before, line in enumerate(islice(lines, end)):
        if line.startswith(_FENCE):
            return False
        if _is_module_header(line):
            return before > _DETECTION_LINES or _has_log_prefix(lines[:before])
    return False


def _has_log_prefix(lines: Sequence[str]) -> bool:
    if not lines:
        return False
    from hlo_lsp.syntax.log_lines import begins_with_prefix  # noqa: PLC0415  # not for a dump

    return any(map(begins_with_prefix, lines))


def _kind_of_lines(filled: list[str]) -> FileKind:
    first = filled[0]
    for expression, kind in _FIRST_LINE_PATTERNS:
        if expression.match(first):
            return kind
    if _TOTAL_LINE.match(first):
        report = any(line.startswith("Allocations sorted by size") for line in filled[1:3])
        return FileKind.REPORT if report else FileKind.VALUES
    for number, line in enumerate(filled):
        if number and line.startswith(_FENCE):
            return FileKind.OTHER  # prose with examples
        for expression, kind in (*_FIRST_LINE_PATTERNS[:3], *_LATER_LINE_PATTERNS):
            if expression.match(line):
                return kind
    return FileKind.OTHER


@dataclass(frozen=True, slots=True)
class SectionRange:
    """The lines of a section of a stdout dump: ``count`` lines from line ``first`` (from 0).

    If ``is_whole``, the lines are the text that XLA would have written into the file; otherwise the
    section is truncated or interrupted by other output. ``name`` is as printed; in a file name,
    blanks and brackets are ``_``. The first line begins at column ``start``, and the last one ends
    at column ``end`` (code points), or at its own end if that is None.
    """

    name: str
    first: int
    count: int
    is_whole: bool
    start: int = 0
    end: int | None = None

    def text(self, lines: Sequence[str]) -> list[str]:
        """Return the lines of the section, with blanks before its first column."""
        text = list(lines[self.first : self.first + self.count]) or [""]
        if self.end is not None:
            text[-1] = text[-1][: self.end]
        text[0] = " " * self.start + text[0][self.start :]
        return text

    def contains(self, line: int, column: int | None) -> bool:
        """Return whether a position is in the section; any column of a line if it is None."""
        last = self.first + self.count - 1
        if not self.first <= line <= last:
            return False
        return column is None or not (
            (line == self.first and column < self.start)
            or (line == last and self.end is not None and column > self.end)
        )


def split_sections(lines: Sequence[str]) -> list[SectionRange]:
    """Return the sections of a text in order; an empty list if it is not a stdout dump.

    A section ends at the next begin or end line, and is whole if that line is its own end line.
    Interleaved output of two libraries (jaxlib and libtpu hold a lock each) therefore affects only
    the mixed sections. An end line without a begin line is ordinary text. Other output may precede
    a begin marker on the same line.

    In a test of XLA, the sections are the modules between the lines with ``// -----``, and in a log
    those that a program has printed, each up to the last brace.
    """
    found: list[SectionRange] = []
    open_names: list[str] = []  # begun and not ended; text belongs to the last one
    start: int | None = None  # the first line of that text
    for number, line in enumerate(lines):
        if not line.endswith(" ***"):
            continue
        ended = _section_name("section_end", line, 0) if line.startswith("*** End ") else None
        begun = None if ended else _begun_section(line)
        if begun is None and (ended is None or ended not in open_names):
            continue
        if start is not None:
            name = open_names[-1]
            found.append(SectionRange(name, start, number - start, ended == name))
            start = None
        if begun is not None:
            open_names.append(begun)
            start = number + 1
        elif ended is not None:
            open_names.remove(ended)
    if start is not None:
        found.append(SectionRange(open_names[-1], start, len(lines) - start, is_whole=False))
    return found or _split_modules(lines)


def _split_modules(lines: Sequence[str]) -> list[SectionRange]:
    marked = [number for number, line in enumerate(lines) if _is_split_marker(line)]
    starts, ends = [0, *(number + 1 for number in marked)], [*marked, len(lines)]
    if not marked:
        if not _is_log_with_modules(lines):
            return []
        starts = [number for number, line in enumerate(lines) if _is_module_header(line)]
        ends = [*starts[1:], len(lines)]
        ends = [_end_of_module(lines, *span) for span in zip(starts, ends, strict=True)]
    return [
        SectionRange(f"module {count}.hlo", start, end - start, is_whole=True)
        for count, (start, end) in enumerate(zip(starts, ends, strict=True), 1)
    ]


def _end_of_module(lines: Sequence[str], start: int, end: int) -> int:
    """Return where other output follows a module: after its last brace, unless it is cut off."""
    for last in range(end, start, -1):
        if lines[last - 1].startswith("}"):
            return last
        if has_instruction_mark(lines[last - 1]):
            return end
    return end


def _begun_section(line: str) -> str | None:
    """Return the name of the section that begins after this line, or None."""
    if not line.endswith(" ***"):
        return None
    return _section_name("section_begin", line, line.find("*** Begin "))


def _section_name(rule: str, line: str, column: int) -> str | None:
    if column < 0:
        return None
    match = load_grammar("stdout_dump").expression(rule).fullmatch(line, column)
    return None if match is None else match["FILE"]
