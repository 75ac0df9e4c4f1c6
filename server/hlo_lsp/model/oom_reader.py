"""The reader of out-of-memory messages in logs, where hosts or exceptions repeat them."""

from collections.abc import Iterable
from dataclasses import replace
from re import Match

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.oom_headers import kind_of_memory, memory_space, read_header
from hlo_lsp.model.oom_message import EntryList, OomEntry, OomKind, OomMessage
from hlo_lsp.model.oom_sections import ENTRY_BEGINS, EntryBuilder, MessageBuilder
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.log_lines import LogLine, log_lines
from hlo_lsp.syntax.oom_lines import (
    MAX_OOM_LINE_LENGTH,
    Sentence,
    begins_header,
    contains_list_line,
    find_header,
    find_rule,
    message_start,
    read_line,
)

_MAX_COMPARED_MESSAGES = 20  # repetitions of a message are close to each other


def without_repetitions(messages: list[OomMessage]) -> list[OomMessage]:
    """Merge messages that a log contains several times."""
    found: list[OomMessage] = []
    for message in messages:
        for place in range(max(0, len(found) - _MAX_COMPARED_MESSAGES), len(found)):
            merged = _merged(found[place], message)
            if merged is not None:
                found[place] = merged
                break
        else:
            found.append(message)
    return found


def _merged(one: OomMessage, other: OomMessage) -> OomMessage | None:
    """Return one message for two with the same first sentence, or None."""
    # The allocator names the memory; the exception that follows may not.
    kinds = {one.kind, other.kind}
    is_host = kinds == {OomKind.HOST, OomKind.GPU} and OomKind.HOST is one.kind
    is_same = (len(kinds) == 1 or is_host) and one.module in {None, other.module, one.module}
    if not is_same or (one.module and other.module and one.module != other.module):
        return None
    if is_host:
        needed = [size.bytes for size in (one.needed, other.needed) if size is not None]
        is_equal = len(needed) == 2 and needed[0] == needed[1]
        return one if is_equal and not other.entries else None
    sizes = ((one.needed, other.needed), (one.limit, other.limit))
    if any((a is None) != (b is None) for a, b in sizes):
        return None
    if any(
        a is not None and b is not None and abs(a.bytes - b.bytes) > max(a.error, b.error)
        for a, b in sizes
    ):
        return None
    if one.needed is None and (one.entries or other.entries):
        return None
    if one.entries and other.entries and _shapes(one) != _shapes(other):
        return None
    best = max(one, other, key=lambda each: (len(each.entries), len(each.usage_rows)))
    module = one.module or other.module
    return replace(best, module=module, first=one.first)


def _shapes(message: OomMessage) -> list[tuple[int, str | None]]:
    return [(entry.rank, entry.shape) for entry in message.entries]


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
_MAX_ENTRY_LINES = 20  # of an entry whose beginning is missing
_GPU_STARTS = ("Buffer ", "XLA Label:", "Entry Parameter Subshape:")
_MAX_HEADERS_IN_LINE = 4
_LONGEST_START = 30  # characters of the first words of a sentence


def read_oom_messages(lines: Iterable[str]) -> list[OomMessage]:
    """Return the messages in a text, repetitions counted; the time is linear in the text."""
    reader = _Reader()
    for line in log_lines(lines, message_start):
        if len(line.raw) <= MAX_OOM_LINE_LENGTH:
            reader.read(line)
    return without_repetitions(reader.messages())


class _Reader:
    def __init__(self) -> None:
        self._builders: list[MessageBuilder] = []
        self._open: dict[str, MessageBuilder] = {}  # by source of the lines
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
        if builder is not None and builder.read(line, found):
            return
        if found is not None and found[0] in _PART_RULES:
            memory = memory_space(found[1].groupdict().get("MEMORY"))
            is_gpu = found[0] == "peak_buffers_label"
            kind = OomKind.GPU if is_gpu else kind_of_memory(memory)
            builder = self._begin(source, OomMessage(kind, memory, first=line.line))
            builder.read(line, found)
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

    def _begin(self, source: str, message: OomMessage) -> MessageBuilder:
        builder = self._open[source] = MessageBuilder(message)
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
        is_entry = rule in ENTRY_BEGINS
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
        builder.read_entry_line(line, rule, match)
        return True

    def _begin_header(
        self, source: str, line: LogLine, text: str, header: tuple[str, Match[str]]
    ) -> None:
        message, entry = read_header(line, text, header, self._previous_code(source, line))
        builder = self._begin(source, message)
        if entry is not None:
            builder.entries.append(entry)

    def _previous_code(self, source: str, line: LogLine) -> str | None:
        """Return the code of the error that the line before a sentence prints."""
        number, code = self._codes.get(source, (-1, ""))
        return code if number in {line.line - 1, line.line} and code else None


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


@query
def oom_messages_of(file: DumpFile) -> tuple[OomMessage, ...]:
    """Return the messages in a document."""
    file.depend_on_text()
    return tuple(read_oom_messages(file.lines))
