"""The outline of a text with out-of-memory messages: messages, their lists, and the buffers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from hlo_lsp.ide.navigation.outline import OutlineNode, OutlineNodeKind
from hlo_lsp.model.display import count_noun
from hlo_lsp.model.out_of_memory import OomEntry, OomMessage

_LABELS = ("Largest program ", "Peak buffers:")
_MAX_LINES_TO_LABEL = 4  # blank lines are between a label and its first entry
_MAX_NAME_LENGTH = 80


def oom_outline(lines: Sequence[str], messages: Iterable[OomMessage]) -> list[OutlineNode]:
    """Return a node for each message, with its lists and their buffers inside."""
    return [_message_node(lines, message) for message in messages]


def _message_node(lines: Sequence[str], message: OomMessage) -> OutlineNode:
    # Entries with a label on the line of the message are the message itself.
    listed = [entry for entry in message.entries if entry.first > message.first]
    children = list(_list_nodes(lines, listed))
    first = min([message.first, *(child.line for child in children)])
    end = max([message.first + 1, *(child.line + child.line_count for child in children)])
    name, module = _message_name(message), message.module or ""
    return OutlineNode(OutlineNodeKind.MESSAGE, name, module, first, end - first, children=children)


def _message_name(message: OomMessage) -> str:
    memory = message.memory or message.kind.value.replace("_", " ")
    if message.needed is None:
        size = message.requirement or message.usage
        return f"{memory}: list of buffers" if size is None else f"{memory}: {size.text}"
    if message.limit is None:
        return f"{memory}: {message.needed.text}"
    limit = f"{message.limit.text}{' free' if message.is_limit_free else ''}"
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
