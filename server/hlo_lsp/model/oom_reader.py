"""The reader of out-of-memory messages in logs."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from re import Match

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.oom_entries import EntryBuilder
from hlo_lsp.model.oom_message import (
    EntryList,
    OomEntry,
    OomKind,
    OomMessage,
    PrintedSize,
    UsageRow,
)
from hlo_lsp.model.oom_repetitions import without_repetitions
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.log_lines import LogLine, log_lines
from hlo_lsp.syntax.oom_lines import (
    MAX_OOM_LINE_LENGTH,
    Sentence,
    begins_header,
    contains_list_line,
    find_header,
    find_rule,
    is_unread_row,
    message_start,
    read_line,
    read_usage_row,
)

_KINDS = {
    "cores_exceeded": OomKind.HBM,
    "sparse_core_exceeded": OomKind.SPARSE_CORE,
    "on_chip_exceeded": OomKind.GPU_KERNEL,
    "memory_exceeded": OomKind.ALLOCATION,
    "cpu_exhausted": OomKind.CPU,
    "device_exhausted": OomKind.GPU,
    "host_exhausted": OomKind.HOST,
    "host_driver_exhausted": OomKind.HOST,
    "budget_exceeded": OomKind.GPU,
    "pool_exhausted": OomKind.GPU,
    "allocator_exhausted": OomKind.GPU,
    "free_exceeded": OomKind.ALLOCATION,
    "free_unknown": OomKind.ALLOCATION,
    "request_exceeded": OomKind.GPU,
    "driver_exhausted": OomKind.GPU,
    "region_exceeded": OomKind.ALLOCATION,
    "rematerialization_exceeded": OomKind.REMATERIALIZATION,
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
# Memory spaces of SparseCore programs (docs/errors/error_3000.md of XLA).
_SPARSE_CORE_MEMORIES = {
    "0": "smem",
    "201": "tile_spmem",
    "202": "spmem",
    "203": "hbm",
    "204": "sflag",
}
_WORD_BYTES = 4
_TENSOR_COLUMN_BYTES = 128 * 4  # a column of tensor memory has 128 lanes
_ATTEMPT_RULES = frozenset({"driver_exhausted", "host_driver_exhausted", "pool_exhausted"})
_MAX_SMEM_BYTES = 1 << 20  # of all chips
_WITH_FREE_MEMORY = frozenset({"free_exceeded", "region_exceeded"})
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\+'")  # in the repr of a sentence
_BEGIN = "Ran out of"  # of a sentence that never goes on after another one
# Lines that begin a message without a first sentence, such as a file of a dump.
_PART_RULES = frozenset(
    {"usage_line", "requirement_line", "allocations_label", "peak_buffers_label"}
    | {"output_line", "capacity_line", "persistent_label"}
)
# Lines of an entry, and those that occur in no other text.
_ENTRY_RULES = frozenset(
    {"size_line", "operator_line", "shape_line", "parameter_shape_line"}
    | {"unpadded_line", "padding_line", "label_line", "type_line"}
)
_DECISIVE_RULES = frozenset({"parameter_shape_line", "padding_line", "label_line"})
_ENTRY_BEGINS = frozenset({"entry_line", "buffer_line"})
_MAX_ENTRY_LINES = 20  # of an entry whose beginning is missing
_GPU_STARTS = ("Buffer ", "XLA Label:", "Entry Parameter Subshape:")
_NAME = re.compile(r"%?[A-Za-z_][\w.\-]*")
_BROKEN_NAME = re.compile(r"%?[A-Za-z_][\w.\-]* [\w.\-]+")  # by the end of a line
_ROUNDED_TO = 256  # bytes: the unit of the allocator for GPUs (bfc_allocator.cc)
_INTERFACE_LABELS = ("Argument ", "Output index ")
_MAX_HEADERS_IN_LINE = 4
_LONGEST_START = 30  # characters of the first words of a sentence


def read_oom_messages(lines: Iterable[str]) -> list[OomMessage]:
    """Return the messages in a text, repetitions counted; the time is linear in the text."""
    reader = _Reader()
    for line in log_lines(lines, message_start):
        if len(line.raw) <= MAX_OOM_LINE_LENGTH:
            reader.read(line)
    return without_repetitions(reader.messages())


@dataclass(slots=True)
class _Builder:
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
        if self.entry is not None:
            entry = self.entry.build()
            if self.is_headless and (entry.label or "").startswith(_INTERFACE_LABELS):
                entry = replace(entry, section=EntryList.INTERFACE)
            self.entries.append(entry)
            self.entry = None

    def build(self) -> OomMessage:
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


class _Reader:
    def __init__(self) -> None:
        self._builders: list[_Builder] = []
        self._open: dict[str, _Builder] = {}  # by source of the lines
        self._sentences: dict[str, Sentence] = {}
        self._codes: dict[str, tuple[int, str]] = {}  # with the number of the line
        self._last = ""
        self._previous: dict[str, LogLine] = {}
        # Lines of an entry whose beginning is missing.
        self._rest: dict[str, list[tuple[LogLine, str, Match[str]]]] = {}

    def messages(self) -> list[OomMessage]:
        for source, sentence in self._sentences.items():
            self._end_sentence(source, sentence)
        built = [(builder, builder.build()) for builder in self._builders]
        return [
            message
            for builder, message in built
            if not builder.is_headless or any(map(_is_described, message.entries))
        ]

    def read(self, line: LogLine) -> None:
        source = line.source
        if not source and source not in self._open and source not in self._sentences:
            source = self._last
        if source in self._sentences and self._continues_sentence(source, line):
            return
        builder = self._open.get(source)
        found = read_line(line.text)
        if builder is not None and self._read_part(builder, line, found):
            return
        if found is not None and found[0] in _PART_RULES:
            memory = _memory(found[1].groupdict().get("MEMORY"))
            is_gpu = found[0] == "peak_buffers_label"
            kind = OomKind.GPU if is_gpu else _kind_of_memory(memory)
            builder = self._begin(source, OomMessage(kind, memory, first=line.line))
            self._read_part(builder, line, found)
            return
        if self._read_headless(source, line, found):
            return
        previous = self._previous.get(source)
        self._previous[source] = line
        if line.text.endswith(":") and (code := find_rule("code_label", line.text)):
            self._codes[source] = (line.line, code["CODE"])
        if begins_header(line.text) or find_header(line.text) is not None:
            self._begin_sentence(source, Sentence(line))
        elif self._builders and contains_list_line(line.text):
            last = self._builders[-1]
            last.message = replace(last.message, unread_lines=last.message.unread_lines + 1)
        elif previous is not None:
            # A line break may be inside of the first words of a sentence.
            end, start = previous.text[-_LONGEST_START:], line.text[:_LONGEST_START]
            if begins_header(end + start) or begins_header(f"{end} {start}"):
                self._begin_sentence(source, Sentence(previous, line))

    def _begin_sentence(self, source: str, sentence: Sentence) -> None:
        self._last = source
        if sentence.is_complete:
            self._end_sentence(source, sentence)
        else:
            self._sentences[source] = sentence

    def _continues_sentence(self, source: str, line: LogLine) -> bool:
        """Add a line to an incomplete sentence; return whether it belongs to it."""
        sentence = self._sentences[source]
        before = sentence.header
        is_other = not line.text or _BEGIN in line.text or read_line(line.text) is not None
        if is_other or sentence.is_full:
            self._end_sentence(source, self._sentences.pop(source))
            return False
        sentence.add(line)
        if not sentence.is_complete:
            return True
        self._end_sentence(source, self._sentences.pop(source))
        after = sentence.header
        return before is None or after is None or before[1][0] != after[1][0]

    def _end_sentence(self, source: str, sentence: Sentence) -> None:
        text, header = sentence.text, sentence.header
        for _ in range(_MAX_HEADERS_IN_LINE):
            if header is None:
                break
            self._begin_header(source, sentence.lines[0], text, header)
            text = text[header[1].end() :]
            header = find_header(text)
            if header is not None and header[0] == "space_exhausted":
                break

    def _begin(self, source: str, message: OomMessage) -> _Builder:
        builder = self._open[source] = _Builder(message)
        self._builders.append(builder)
        self._last = source
        return builder

    def _read_headless(
        self, source: str, line: LogLine, found: tuple[str, Match[str]] | None
    ) -> bool:
        """Begin a list whose label is missing; return whether a line belongs to one."""
        rest = self._rest.setdefault(source, [])
        if found is None:
            if not line.text:
                rest.clear()
            return False
        rule, match = found
        if rule in _ENTRY_RULES:
            rest.append((line, rule, match))
            del rest[:-_MAX_ENTRY_LINES]
            return False
        is_entry = rule in _ENTRY_BEGINS
        if not is_entry and not (rule == "ruler_line" and any(map(_is_decisive, rest))):
            return False
        section = _section_of([*(known for known, _, _ in rest), line])
        builder = self._open.get(source)
        if builder is None:
            kind = OomKind.GPU if section is EntryList.PEAK_BUFFERS else OomKind.HBM
            first = line if is_entry else rest[0][0]
            builder = self._begin(source, OomMessage(kind, first=first.line))
            builder.is_headless = True
        builder.section = section
        if not is_entry:
            builder.entry = EntryBuilder(0, section, rest[0][0].line)
            for known in rest:
                builder.entry.read(known[1], known[2], known[0])
        rest.clear()
        self._read_entry_line(builder, line, rule, match)
        return True

    def _begin_header(
        self, source: str, line: LogLine, text: str, header: tuple[str, Match[str]]
    ) -> None:
        rule, match = header
        fields = match.groupdict()
        program = find_rule("program_label", text) or find_rule("executable_label", text)
        memory = _memory(fields.get("MEMORY"))
        stack = find_rule("stack_label", line.text)
        is_stack = rule == "stack_exceeded" or (rule == "space_exhausted" and stack is not None)
        kind = _KINDS.get(rule) or _kind_of_memory(memory, is_scoped=is_stack)
        if rule == "allocator_exhausted" and "host" in fields["DEVICE"]:
            kind = OomKind.HOST
        if kind is OomKind.ALLOCATION and (program is not None or fields.get("PLACE")):
            kind = OomKind.PROGRAM_LOAD
        needed = _exact_size(_size(fields.get("NEEDED")), fields.get("EXACT"))
        limit = _size(fields.get("RESERVABLE") or fields.get("CONTIGUOUS") or fields.get("LIMIT"))
        allocation = capacity = None
        if rule == "sparse_core_exceeded":
            memory = _SPARSE_CORE_MEMORIES.get(fields["SPACE"])
            allocation = _in_units(_size(fields["PART"]), "words", _WORD_BYTES)
            needed = _in_units(needed, "words", _WORD_BYTES)
            limit = _in_units(limit, "words", _WORD_BYTES)
        elif rule == "on_chip_exceeded":
            memory = fields["ON_CHIP"].lower()
            if memory == "tensor":
                needed = _in_units(needed, "columns", _TENSOR_COLUMN_BYTES)
                limit = _in_units(limit, "columns", _TENSOR_COLUMN_BYTES)
        elif rule == "budget_exceeded":
            limit, capacity = _difference(limit, _size(fields["IN_USE"])), limit
        elif rule == "memory_exceeded":
            found = find_rule("allocation_detail", text)
            memory = None if found is None else _memory(found["MEMORY"])
        cores = _size(fields.get("SPARSE_CORE"))
        if needed is not None and cores is not None:
            total = needed.bytes + cores.bytes
            needed = PrintedSize(f"{needed.text} + {cores.text}", total, needed.error + cores.error)
        message = OomMessage(
            kind,
            memory,
            fields.get("MODULE") or (None if program is None else program["MODULE"]),
            needed,
            limit,
            _size(fields.get("EXCESS")),
            fields.get("WHAT"),
            rule in {"free_exceeded", "free_unknown", "region_exceeded", "budget_exceeded"},
            fields.get("CONTIGUOUS") is not None,
            line.line,
            free=_size(fields.get("LIMIT")) if rule in _WITH_FREE_MEMORY else None,
            capacity=capacity,
            is_attempt=rule in _ATTEMPT_RULES or find_rule("attempt_label", text) is not None,
            sparse_core=cores,
            allocation=allocation,
            in_use=_size(fields.get("IN_USE")),
            code=_printed_code(text) or self._previous_code(source, line),
        )
        builder = self._begin(source, message)
        entry = _entry_of_header(rule, match, text, message)
        if rule == "space_exhausted" and stack is not None:
            entry = _stack_entry(line.text[stack.end() :], message)
        if entry is not None:
            builder.entries.append(entry)

    def _previous_code(self, source: str, line: LogLine) -> str | None:
        """Return the code of the error that the line before a sentence prints."""
        number, code = self._codes.get(source, (-1, ""))
        return code if number in {line.line - 1, line.line} and code else None

    def _read_part(
        self, builder: _Builder, line: LogLine, found: tuple[str, Match[str]] | None
    ) -> bool:
        """Read a line of a table or list; return whether it was one."""
        if found is None:
            return self._read_row_or_note(builder, line)
        rule, match = found
        fields = match.groupdict()
        size = _size(fields.get("BYTES"))
        message = builder.message
        table: list[UsageRow] | None = None
        if rule == "usage_line":
            builder.message, table = replace(message, usage=size), builder.usage_rows
        elif rule == "requirement_line":
            builder.message, table = replace(message, requirement=size), builder.requirement_rows
        elif rule == "capacity_line":
            builder.message, table = replace(message, capacity=size), []
        elif rule == "heap_label":
            table = []  # free memory of the heap is not a part of a total
        elif rule == "persistent_label":
            table = builder.persistent_rows
        elif rule == "statistics_label":
            table = builder.statistics
        elif rule == "output_line":
            shared = _size(fields.get("SHARED"))
            builder.message = replace(message, output=size, shared=shared)
        elif rule == "pool_row":
            builder.message = _with_pool(message, fields)
        elif rule in _LISTS:
            builder.close_entry()
            builder.section = _LISTS[rule]
        elif builder.section is None:
            return False
        else:
            self._read_entry_line(builder, line, rule, match)
        builder.table = table
        return True

    def _read_entry_line(
        self, builder: _Builder, line: LogLine, rule: str, match: Match[str]
    ) -> None:
        assert builder.section is not None
        entry = builder.entry
        begins = rule in _ENTRY_BEGINS
        if rule == "buffer_line":
            builder.section = EntryList.PEAK_BUFFERS
        unnumbered = rule == "label_line" and (entry is None or entry.label is not None)
        if begins or (unnumbered and entry is None) or (unnumbered and entry and not entry.size):
            builder.close_entry()
            rank = int(match["RANK"]) if begins else len(builder.entries) + 1
            entry = builder.entry = EntryBuilder(rank, builder.section, line.line)
        if entry is None:
            return
        entry.read(rule, match, line)
        if rule == "ruler_line":
            builder.close_entry()

    def _read_row_or_note(self, builder: _Builder, line: LogLine) -> bool:
        text = line.text
        if builder.entry is not None and builder.entry.continues(line):
            return True
        if builder.table is not None and text:
            row = read_usage_row(" ".join(text.split()))
            if row is not None:
                detail = row["DETAIL"] or ""
                builder.table.append(UsageRow(row["ROW"], _size(row["BYTES"]), detail))
                return True
            if text.endswith(":"):
                builder.table = None  # the label of an unknown table
            elif line.is_indented and is_unread_row(text):
                builder.table.append(UsageRow(text, None, ""))
                return True
        if builder.message.module is None and builder.message.needed is not None:
            executable = find_rule("executable_label", text)
            if executable is not None:
                builder.message = replace(builder.message, module=executable["MODULE"])
        if builder.message.code is None and "error_" in text:
            builder.message = replace(builder.message, code=_printed_code(text))
        return False


_LISTS = {
    "allocations_label": EntryList.ALLOCATIONS,
    "interface_label": EntryList.INTERFACE,
    "peak_buffers_label": EntryList.PEAK_BUFFERS,
}


def _size(text: str | None) -> PrintedSize | None:
    return None if text is None else PrintedSize.of(text)


def _memory(printed: str | None) -> str | None:
    return None if printed is None else printed.lower()


def _in_units(size: PrintedSize | None, unit: str, unit_bytes: int) -> PrintedSize | None:
    """Return the size that a number of words or columns means."""
    return None if size is None else PrintedSize(f"{size.text} {unit}", size.bytes * unit_bytes, 0)


def _printed_code(text: str) -> str | None:
    """Return the code of the error that a text names."""
    code, page = find_rule("code_label", text), find_rule("page_label", text)
    if code is not None:
        return code["CODE"]
    return None if page is None else f"E{page['PAGE']}"


def _with_pool(message: OomMessage, fields: dict[str, str | None]) -> OomMessage:
    """Add a row of the statistics of an allocator, which follow a failed allocation."""
    size = _size(fields["INT"])
    is_pool = message.kind in {OomKind.GPU, OomKind.HOST} and not message.statistics
    if not is_pool or size is None or not size.bytes:
        return message  # a pool without a limit prints 0
    if fields["ROW_NAME"] == "Limit":
        return replace(message, capacity=size)
    if fields["ROW_NAME"] == "InUse" and message.capacity is not None:
        free = _difference(message.capacity, size)
        return replace(message, in_use=size, limit=free, free=free, is_limit_free=True)
    if message.in_use is not None:
        return replace(message, limit=size, is_limit_contiguous=True)  # the largest free block
    return message


def _difference(size: PrintedSize | None, part: PrintedSize | None) -> PrintedSize | None:
    """Return what is left of a size."""
    if size is None or part is None:
        return None
    return PrintedSize.of(f"{max(0, size.bytes - part.bytes)}")


def _is_all_scoped(entries: Sequence[OomEntry]) -> bool:
    return bool(entries) and all(entry.is_scoped for entry in entries)


def _exact_size(printed: PrintedSize | None, exact: str | None) -> PrintedSize | None:
    """Return a printed size with the number of bytes that the message also prints."""
    size = _size(exact)
    if printed is None or size is None or not printed.matches_within(size.bytes, _ROUNDED_TO):
        return printed
    return PrintedSize(printed.text, size.bytes, 0)


def _is_decisive(known: tuple[LogLine, str, Match[str]]) -> bool:
    """Return True if a line can only be a part of a listed buffer."""
    _, rule, match = known
    return rule in _DECISIVE_RULES or (rule == "operator_line" and "op_name=" in match[0])


def _is_described(entry: OomEntry) -> bool:
    """Return True if an entry describes a buffer."""
    return bool(entry.shape or entry.label or entry.operator)


def _section_of(lines: Iterable[LogLine]) -> EntryList:
    """Return the list that entries without its label belong to."""
    if any(line.text.startswith(_GPU_STARTS) for line in lines):
        return EntryList.PEAK_BUFFERS
    return EntryList.ALLOCATIONS


def _kind_of_memory(memory: str | None, *, is_scoped: bool = False) -> OomKind:
    if memory == "vmem":
        return OomKind.SCOPED_VMEM if is_scoped else OomKind.VMEM
    return OomKind.HBM if memory in {None, "hbm"} else OomKind.MEMORY_SPACE


def _entry_of_header(
    rule: str, match: Match[str], text: str, message: OomMessage
) -> OomEntry | None:
    """Return the buffer that a first sentence describes, if it describes one."""
    shape = label = allocation_type = None
    operator: dict[str, str] = {}
    if rule == "stack_exceeded":
        found = find_rule("stack_label", text)
        if found is None:
            return None
        allocation_type = "scoped"
        label = text[found.end() : match.start()].strip().removesuffix(".")
        instruction = parse_instruction(label)
        name = _NAME.match(label)
        if instruction is not None:
            shape, operator = instruction.shape.text, dict(instruction.metadata)
        elif _BROKEN_NAME.fullmatch(label) is not None:
            label = label.replace(" ", "")
        elif name is not None:
            label = name[0]  # the prefix of the next line may follow
    elif rule == "memory_exceeded":
        found = find_rule("allocation_detail", _ESCAPED_QUOTE.sub("'", text))
        if found is None:
            return None
        shape, label = found["SHAPE"], found["TAG"]
        is_scoped = found["SCOPED"] is not None or find_rule("scoped_label", label) is not None
        allocation_type = "scoped" if is_scoped else None
    elif rule == "on_chip_exceeded" and match["CONTEXT"] is not None:
        label = match["CONTEXT"]
    else:
        return None
    return OomEntry(
        1, EntryList.ALLOCATIONS, message.needed, shape, None, operator, label, allocation_type,
        False, (), message.first, message.first,
    )  # fmt: skip


def _stack_entry(label: str, message: OomMessage) -> OomEntry:
    """Return the instruction of a sentence without sizes."""
    instruction = parse_instruction(label)
    shape = None if instruction is None else instruction.shape.text
    operator = {} if instruction is None else dict(instruction.metadata)
    return OomEntry(
        1, EntryList.ALLOCATIONS, None, shape, None, operator, label, "scoped",
        False, (), message.first, message.first,
    )  # fmt: skip


@query
def oom_messages_of(file: DumpFile) -> tuple[OomMessage, ...]:
    """Return the messages in a document."""
    file.depend_on_text()
    return tuple(read_oom_messages(file.lines))
