"""The outline of a text with out-of-memory messages: messages, their lists, and the buffers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from hlo_lsp.model.display import count_noun
from hlo_lsp.model.out_of_memory import OomEntry, OomMessage

_LABELS = ("Largest program ", "Peak buffers:")
_MAX_LINES_TO_LABEL = 4  # blank lines are between a label and its first entry
_MAX_NAME_LENGTH = 80


class OomNodeKind(Enum):
    """The kind of an outline node."""

    MESSAGE = "message"
    LIST = "list"
    BUFFER = "buffer"


@dataclass(frozen=True, slots=True)
class OomNode:
    """A part of a text; ``first`` and ``last`` are its lines, from 0."""

    kind: OomNodeKind
    name: str
    detail: str
    first: int
    last: int
    children: tuple["OomNode", ...] = ()


def oom_outline(lines: Sequence[str], messages: Iterable[OomMessage]) -> list[OomNode]:
    """Return a node for each message, with its lists and their buffers inside."""
    return [_message_node(lines, message) for message in messages]


def walk_oom_nodes(nodes: Iterable[OomNode]) -> Iterator[OomNode]:
    """Yield nodes and all nodes inside, outermost first."""
    for node in nodes:
        yield node
        yield from walk_oom_nodes(node.children)


def _message_node(lines: Sequence[str], message: OomMessage) -> OomNode:
    # Entries with a label on the line of the message are the message itself.
    listed = [entry for entry in message.entries if entry.first > message.first]
    children = tuple(_list_nodes(lines, listed))
    return OomNode(
        OomNodeKind.MESSAGE,
        _message_name(message),
        message.module or "",
        min([message.first, *(child.first for child in children)]),
        max([message.first, *(child.last for child in children)]),
        children,
    )


def _message_name(message: OomMessage) -> str:
    memory = message.memory or message.kind.value.replace("_", " ")
    if message.needed is None:
        size = message.requirement or message.usage
        return f"{memory}: list of buffers" if size is None else f"{memory}: {size.text}"
    if message.limit is None:
        return f"{memory}: {message.needed.text}"
    limit = f"{message.limit.text}{' free' if message.is_limit_free else ''}"
    return f"{memory}: {message.needed.text} of {limit}"


def _list_nodes(lines: Sequence[str], entries: Iterable[OomEntry]) -> Iterator[OomNode]:
    for section, group in groupby(entries, key=lambda entry: entry.section):
        buffers = tuple(_buffer_node(entry) for entry in group)
        yield OomNode(
            OomNodeKind.LIST,
            section.value,
            count_noun(len(buffers), "buffer"),
            _label_line(lines, buffers[0].first),
            max(buffer.last for buffer in buffers),
            buffers,
        )


def _label_line(lines: Sequence[str], first: int) -> int:
    """Return the line of the label of a list, or its first line if there is none."""
    for line in range(first - 1, max(-1, first - 1 - _MAX_LINES_TO_LABEL), -1):
        if any(label in lines[line] for label in _LABELS):
            return line
    return first


def _buffer_node(entry: OomEntry) -> OomNode:
    size = entry.size.text if entry.size is not None else "unknown size"
    instruction = entry.instruction
    about = instruction.name.text if instruction is not None else entry.op_name or entry.label
    detail = " · ".join(filter(None, (about, entry.shape)))
    return OomNode(
        OomNodeKind.BUFFER,
        f"{entry.rank}. {size}",
        detail if len(detail) <= _MAX_NAME_LENGTH else f"{detail[: _MAX_NAME_LENGTH - 1]}…",
        entry.first,
        entry.last,
    )
