"""Hover, definition, links, and outline of a text that contains out-of-memory messages."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.ide.hover.shapes import shape_card
from hlo_lsp.ide.navigation.outline import OutlineNode, OutlineNodeKind
from hlo_lsp.ide.navigation.source_links import SourceLink
from hlo_lsp.memory.oom_advice import padding_of
from hlo_lsp.memory.oom_join import JoinedEntry, JoinedMessage
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.oom_message import EntryList, OomEntry, OomKind, OomMessage, PrintedSize
from hlo_lsp.model.padded_sizes import Target
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.text.amounts import format_bytes

_SIZE = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:[KMGTPE]i?B?|B)(?!\w)")
_SOURCE = re.compile(r'source_file="([^"\\]+)"(?: source_line=([0-9]{1,9}))?')
_OP_NAME = re.compile(r'op_name="[^"]*"(?: stack_frame_id=[0-9]+)?')
_MAX_LINE_LENGTH = 20_000  # a whole message in one line has no places


def joined_entry_at(messages: Iterable[JoinedMessage], line: int) -> JoinedEntry | None:
    """Return the entry that a line belongs to; None if several entries share the line."""
    found = [
        entry
        for joined in messages
        for entry in joined.entries
        if entry.entry.first <= line <= entry.entry.last
    ]
    return found[0] if len(found) == 1 else None


def oom_card(text: str, line: int, column: int, messages: Sequence[JoinedMessage]) -> Card | None:
    """Return the hover at a column of a line: of a shape, a listed buffer, or a size."""
    entry = joined_entry_at(messages, line)
    shape = _shape_at(text, column)
    if shape is not None:
        is_gpu = entry is not None and entry.entry.section is EntryList.PEAK_BUFFERS
        return shape_card(shape, None if is_gpu else Target(Backend.TPU))
    if entry is not None:
        title = f"buffer {entry.entry.rank} of the {entry.entry.section.value}"
        return Card(title, tuple(_entry_facts(entry)))
    return _size_card(text, column)


def _shape_at(text: str, column: int) -> str | None:
    if len(text) > _MAX_LINE_LENGTH:
        return None
    for match in load_grammar("lexemes").expression("lexeme").finditer(text):
        if match.start() <= column <= match.end() and match["ARRAY"] is not None:
            return match[0]
    return None


def _size_card(text: str, column: int) -> Card | None:
    for match in _SIZE.finditer(text[:_MAX_LINE_LENGTH]):
        size = PrintedSize.of(match[0])
        if size is not None and match.start() <= column <= match.end():
            error = f", rounded by at most {format_bytes(size.error)}" if size.error else ""
            return Card(f"`{match[0]}`", (Fact("size", f"{format_bytes(size.bytes)}{error}"),))
    return None


def _entry_facts(joined: JoinedEntry) -> Iterator[Fact]:
    entry, origin = joined.entry, joined.origin
    if joined.bytes is not None:
        note = "" if joined.value is not None else ", as printed"
        yield Fact("size", f"{format_bytes(joined.bytes)}{note}")
    if entry.unpadded is not None and joined.bytes is not None:
        padding = joined.bytes - entry.unpadded.bytes
        padded = padding_of(entry)
        causes = "; ".join(map(str, padded.padding)) if padded is not None else ""
        if padding > 0:
            yield Fact("padding", f"{format_bytes(padding)}{': ' + causes if causes else ''}")
    if entry.allocation_type is not None:
        yield Fact("type", entry.allocation_type)
    if joined.instruction is not None:
        yield Fact("instruction", f"`{joined.instruction.record.name}`")
    if joined.value is not None and joined.allocation is not None:
        value, allocation = joined.value.record, joined.allocation.record
        place = f"allocation {allocation.number}, offset {value.offset:,}"
        yield Fact("value", f"{value.id}, `{value.key}`, in {place}")
    if origin is not None and origin.argument is not None:
        yield Fact("holds", f"argument `{origin.argument}`")
    elif origin is not None and origin.via:
        yield Fact("origin", f"`{origin.instruction.record.name}`")
    if joined.op_name is not None:
        yield Fact("operation", f"`{joined.op_name}`")
    if joined.source is not None:
        yield Fact("source", f"{joined.source}{joined.saving}", joined.source)
    yield from (Fact("note", note) for note in entry.notes)


def oom_definitions(messages: Iterable[JoinedMessage], line: int) -> Iterator[Place]:
    """Yield the instruction and the value of the buffer on a line."""
    entry = joined_entry_at(messages, line)
    if entry is None:
        return
    if entry.instruction is not None:
        yield entry.instruction.name_place
    if entry.value is not None:
        yield entry.value.name_place


def oom_links(lines: Sequence[str], messages: Iterable[JoinedMessage]) -> Iterator[SourceLink]:
    """Yield the printed Python lines of listed buffers, and those that their dump knows."""
    for joined in messages:
        for entry in joined.entries:
            for number in range(entry.entry.first, entry.entry.last + 1):
                text = lines[number][:_MAX_LINE_LENGTH]
                match = _SOURCE.search(text)
                if match is not None:
                    source = SourceLine(match[1], int(match[2] or 1))
                    yield SourceLink(number, *match.span(), source)
                    continue
                match = _OP_NAME.search(text) if "Operator:" in text else None
                if match is not None and entry.source is not None:
                    yield SourceLink(number, *match.span(), entry.source)


_LABELS = ("Largest program ", "Peak buffers:")
_MAX_LINES_TO_LABEL = 4  # blank lines are between a label and its first entry
_MAX_NAME_LENGTH = 80
_NAMED_BY_MEMORY = frozenset(
    {OomKind.HBM, OomKind.VMEM, OomKind.SCOPED_VMEM, OomKind.MEMORY_SPACE, OomKind.SPARSE_CORE}
    | {OomKind.GPU_KERNEL}
)


def oom_outline(lines: Sequence[str], messages: Iterable[OomMessage]) -> list[OutlineNode]:
    """Return a node for each message, with its lists and their buffers inside."""
    return [_message_node(lines, message) for message in messages]


def _message_node(lines: Sequence[str], message: OomMessage) -> OutlineNode:
    # An entry on the line of the first sentence is the message itself.
    is_list = message.needed is None
    listed = [entry for entry in message.entries if is_list or entry.first > message.first]
    children = list(_list_nodes(lines, listed))
    first = min([message.first, *(child.line for child in children)])
    end = max([message.first + 1, *(child.line + child.line_count for child in children)])
    name, module = _message_name(message), message.module or ""
    return OutlineNode(OutlineNodeKind.MESSAGE, name, module, first, end - first, children=children)


def _message_name(message: OomMessage) -> str:
    memory = message.memory if message.kind in _NAMED_BY_MEMORY else None
    memory = memory or message.kind.value.replace("_", " ")
    if message.needed is None:
        size = message.requirement or message.usage
        return f"{memory}: list of buffers" if size is None else f"{memory}: {size.text}"
    if message.limit is None:
        return f"{memory}: {message.needed.text}"
    limit = (
        f"{message.limit.text} {message.limit_name}"
        if message.is_limit_free
        else message.limit.text
    )
    return f"{memory}: {message.needed.text} of {limit}"


def _list_nodes(lines: Sequence[str], entries: Iterable[OomEntry]) -> Iterator[OutlineNode]:
    for section, group in groupby(entries, key=lambda entry: entry.section):
        buffers = [_buffer_node(entry) for entry in group]
        first = _label_line(lines, buffers[0].line)
        count = max(buffer.line + buffer.line_count for buffer in buffers) - first
        name, detail = section.value, count_noun(len(buffers), "buffer")
        yield OutlineNode(OutlineNodeKind.LIST, name, detail, first, count, children=buffers)


def _label_line(lines: Sequence[str], first: int) -> int:
    """Return the line of the label of a list, or its first line if there is none."""
    for line in range(first - 1, max(-1, first - 1 - _MAX_LINES_TO_LABEL), -1):
        if any(label in lines[line] for label in _LABELS):
            return line
    return first


def _buffer_node(entry: OomEntry) -> OutlineNode:
    size = entry.size.text if entry.size is not None else "unknown size"
    instruction = entry.instruction
    about = instruction.name.text if instruction is not None else entry.op_name or entry.label
    detail = " · ".join(filter(None, (about, entry.shape)))
    return OutlineNode(
        OutlineNodeKind.BUFFER,
        f"{entry.rank}. {size}",
        detail if len(detail) <= _MAX_NAME_LENGTH else f"{detail[: _MAX_NAME_LENGTH - 1]}…",
        entry.first,
        entry.last - entry.first + 1,
    )
