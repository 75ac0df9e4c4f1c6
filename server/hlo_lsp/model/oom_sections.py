"""The tables, lists, and entries of an out-of-memory message, after its first sentence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from re import Match

from hlo_lsp.model.oom_headers import printed_code
from hlo_lsp.model.oom_message import (
    EntryList,
    OomEntry,
    OomKind,
    OomMessage,
    PrintedSize,
    UsageRow,
    printed_size,
)
from hlo_lsp.syntax.log_lines import LogLine
from hlo_lsp.syntax.metadata_text import listed_fields
from hlo_lsp.syntax.oom_lines import (
    find_rule,
    is_unread_row,
    read_usage_row,
)
from hlo_lsp.syntax.statements import is_balanced

_MAX_WRAPPED_LENGTH = 20_000
_MAX_WRAPPED_LINES = 200
_MAX_NOTES = 20
_WRAPPED_FIELDS = ("source_file=", "source_line=", "stack_frame_id=", "op_name=", "op_type=")


# A blank was at a line break after these characters; other lines are broken inside of a word.
_ENDS_WORD = re.compile(r"[^0-9],$| =$|[)}\"]$")


class EntryBuilder:
    """An entry that is being read."""

    def __init__(self, rank: int, section: EntryList, line: int) -> None:
        self.size: PrintedSize | None = None
        self._rank = rank
        self._section = section
        self._first = self._last = line
        self.texts: dict[str, str] = {}
        self._unpadded: PrintedSize | None = None
        self._notes: list[str] = []
        self._wrapped: str | None = None  # the rule of the last text, which may go on
        self._wrapped_lines = 0
        self._is_indented = False
        self._is_ended = False

    def read(self, rule: str, match: Match[str], line: LogLine) -> None:
        """Read a line that a rule matches."""
        fields = match.groupdict()
        self._last = line.line
        self._is_indented = line.is_indented
        self._wrapped = None
        if rule in {"entry_line", "size_line"}:
            self.size = PrintedSize.of(fields["BYTES"])
        elif rule == "unpadded_line":
            self._unpadded = PrintedSize.of(fields["BYTES"])
        elif fields.get("TEXT") is not None:
            self.texts[rule] = fields["TEXT"]
            self._wrapped = rule
            self._wrapped_lines = 0

    def continues(self, line: LogLine) -> bool:
        """Add a line that no rule matches: the rest of a wrapped line, or a note."""
        text = line.text
        if not text:
            self._is_ended = True
            return False
        # A terminal breaks lines without indentation.
        is_broken = self._is_indented and not line.is_indented
        if self._wrapped is not None and self._append(self._wrapped, text, is_broken):
            self._last = line.line
            return True
        if self._is_ended or len(self._notes) == _MAX_NOTES:
            return False
        self._notes.append(text)
        self._last = line.line
        return True

    def build(self) -> OomEntry:
        """Return the entry."""
        texts = self.texts
        shape = texts.get("shape_line") or texts.get("parameter_shape_line")
        operator = listed_fields(texts.get("operator_line", ""))
        return OomEntry(
            self._rank,
            self._section,
            self.size,
            shape,
            self._unpadded,
            {one.name: one.value for one in operator},
            texts.get("label_line"),
            texts.get("type_line"),
            "parameter_shape_line" in texts,
            tuple(self._notes),
            self._first,
            self._last,
        )

    def _append(self, rule: str, text: str, is_broken: bool) -> bool:
        """Append the rest of a wrapped line; return whether the text is one."""
        known = self.texts[rule]
        self._wrapped_lines += 1
        is_long = len(known) + len(text) > _MAX_WRAPPED_LENGTH
        if is_long or self._wrapped_lines > _MAX_WRAPPED_LINES:
            return False
        is_field = rule == "operator_line" and text.startswith(_WRAPPED_FIELDS)
        if not is_broken and not is_field and is_balanced(known, 0):
            return False
        blank = " " if is_field or _ENDS_WORD.search(known) else ""
        self.texts[rule] = known + blank + text
        return True


_LISTS = {
    "allocations_label": EntryList.ALLOCATIONS,
    "interface_label": EntryList.INTERFACE,
    "peak_buffers_label": EntryList.PEAK_BUFFERS,
}
# The memory that a kind of message is about, unless it prints another one.
_MEMORIES = {
    OomKind.HBM: "hbm",
    OomKind.ALLOCATION: "hbm",
    OomKind.PROGRAM_LOAD: "hbm",
    OomKind.GPU: "device",
    OomKind.CPU: "main",
    OomKind.HOST: "host",
}
ENTRY_BEGINS = frozenset({"entry_line", "buffer_line"})
_INTERFACE_LABELS = ("Argument ", "Output index ")
_MAX_SMEM_BYTES = 1 << 20  # of all chips


@dataclass(slots=True)
class MessageBuilder:
    """A message that is being read."""

    message: OomMessage
    section: EntryList | None = None
    table: list[UsageRow] | None = None
    entry: EntryBuilder | None = None
    entries: list[OomEntry] = field(default_factory=list)
    usage_rows: list[UsageRow] = field(default_factory=list)
    requirement_rows: list[UsageRow] = field(default_factory=list)
    statistics: list[UsageRow] = field(default_factory=list)
    persistent_rows: list[UsageRow] = field(default_factory=list)
    is_headless: bool = False

    def close_entry(self) -> None:
        """End the entry that is being read."""
        if self.entry is not None:
            entry = self.entry.build()
            if self.is_headless and (entry.label or "").startswith(_INTERFACE_LABELS):
                entry = replace(entry, section=EntryList.INTERFACE)
            self.entries.append(entry)
            self.entry = None

    def build(self) -> OomMessage:
        """Return the message with its tables and lists."""
        self.close_entry()
        entries = self.entries
        if entries and not entries[0].rank:  # the line with its number is missing
            rank = entries[1].rank - 1 if entries[1:] else 1
            entries = [replace(entries[0], rank=max(1, rank)), *entries[1:]]
        message = self.message
        if self.is_headless and message.kind is OomKind.HBM and _is_all_scoped(entries):
            largest = max(entry.size.bytes if entry.size else 0 for entry in entries)
            if largest > _MAX_SMEM_BYTES:
                message = replace(message, kind=OomKind.VMEM, memory="vmem")
            else:
                message = replace(message, kind=OomKind.MEMORY_SPACE)
        return replace(
            message,
            memory=message.memory or _MEMORIES.get(message.kind),
            entries=tuple(entries),
            persistent_rows=tuple(self.persistent_rows),
            usage_rows=tuple(self.usage_rows),
            requirement_rows=tuple(self.requirement_rows),
            statistics=tuple(self.statistics),
        )

    def read(self, line: LogLine, found: tuple[str, Match[str]] | None) -> bool:
        """Read a line of a table or list; return whether it was one."""
        if found is None:
            return self._read_row_or_note(line)
        rule, match = found
        fields = match.groupdict()
        size = printed_size(fields.get("BYTES"))
        message = self.message
        table: list[UsageRow] | None = None
        if rule == "usage_line":
            self.message, table = replace(message, usage=size), self.usage_rows
        elif rule == "requirement_line":
            self.message, table = replace(message, requirement=size), self.requirement_rows
        elif rule == "capacity_line":
            self.message, table = replace(message, capacity=size), []
        elif rule == "heap_label":
            table = []  # free memory of the heap is not a part of a total
        elif rule == "persistent_label":
            table = self.persistent_rows
        elif rule == "statistics_label":
            table = self.statistics
        elif rule == "output_line":
            shared = printed_size(fields.get("SHARED"))
            self.message = replace(message, output=size, shared=shared)
        elif rule == "pool_row":
            self.message = _with_pool(message, fields)
        elif rule in _LISTS:
            self.close_entry()
            self.section = _LISTS[rule]
        elif self.section is None:
            return False
        else:
            self.read_entry_line(line, rule, match)
        self.table = table
        return True

    def read_entry_line(self, line: LogLine, rule: str, match: Match[str]) -> None:
        """Read a line of a listed buffer."""
        assert self.section is not None
        entry = self.entry
        begins = rule in ENTRY_BEGINS
        if rule == "buffer_line":
            self.section = EntryList.PEAK_BUFFERS
        unnumbered = rule == "label_line" and (entry is None or rule in entry.texts)
        if begins or (unnumbered and entry is None) or (unnumbered and entry and not entry.size):
            self.close_entry()
            rank = int(match["RANK"]) if begins else len(self.entries) + 1
            entry = self.entry = EntryBuilder(rank, self.section, line.line)
        if entry is None:
            return
        entry.read(rule, match, line)
        if rule == "ruler_line":
            self.close_entry()

    def _read_row_or_note(self, line: LogLine) -> bool:
        text = line.text
        if self.entry is not None and self.entry.continues(line):
            return True
        if self.table is not None and text:
            row = read_usage_row(" ".join(text.split()))
            if row is not None:
                self.table.append(UsageRow(row["ROW"], printed_size(row["BYTES"])))
                return True
            if text.endswith(":"):
                self.table = None  # the label of an unknown table
            elif line.is_indented and is_unread_row(text):
                self.table.append(UsageRow(text, None))
                return True
        if self.message.module is None and self.message.needed is not None:
            executable = find_rule("executable_label", text)
            if executable is not None:
                self.message = replace(self.message, module=executable["MODULE"])
        if self.message.code is None and "error_" in text:
            self.message = replace(self.message, code=printed_code(text))
        return False


def _with_pool(message: OomMessage, fields: dict[str, str | None]) -> OomMessage:
    """Add a row of the statistics of an allocator, which follow a failed allocation."""
    size = printed_size(fields["INT"])
    is_pool = message.kind in {OomKind.GPU, OomKind.HOST} and not message.statistics
    if not is_pool or size is None or not size.bytes:
        return message  # a pool without a limit prints 0
    if fields["ROW_NAME"] == "Limit":
        return replace(message, capacity=size)
    if fields["ROW_NAME"] == "InUse" and message.capacity is not None:
        free = message.capacity.without(size)
        return replace(message, in_use=size, limit=free, free=free, is_limit_free=True)
    if message.in_use is not None:
        return replace(message, limit=size, is_limit_contiguous=True)  # the largest free block
    return message


def _is_all_scoped(entries: Sequence[OomEntry]) -> bool:
    return bool(entries) and all(entry.is_scoped for entry in entries)
