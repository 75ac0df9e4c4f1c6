"""Trees of call stacks and scopes as text and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from hlo_lsp.memory.group_tree import GroupNode
from hlo_lsp.model.display import format_short_bytes

_MIN_SHOWN_BYTES = 1024


def tree_lines(nodes: Sequence[GroupNode], count: int, indent: str = "  ") -> Iterator[str]:
    """Yield a line for each node, with at most ``count`` children of each node.

    A node with all its bytes in one child shares a line with it. Smaller children are one line, so
    that the lines of a level add up to the line above.
    """
    large = [node for node in nodes if node.bytes >= _MIN_SHOWN_BYTES]
    for node in large[:count]:
        names = [short_name(node.name)]
        last = node
        while len(last.children) == 1 and last.children[0].bytes == last.bytes:
            last = last.children[0]
            names.append(short_name(last.name))
        yield f"{indent}{format_short_bytes(node.bytes):>10}  {' > '.join(names)}"
        yield from tree_lines(last.children, count, f"{indent}  ")
        if last.children and last.own_bytes >= _MIN_SHOWN_BYTES:
            yield f"{indent}  {format_short_bytes(last.own_bytes):>10}  here"
    rest = nodes[count:] if len(large) > count else nodes[len(large) :]
    total = sum(node.bytes for node in rest)
    if total >= _MIN_SHOWN_BYTES:
        yield f"{indent}{format_short_bytes(total):>10}  {len(rest):,} more"


def tree_json(nodes: Sequence[GroupNode], count: int) -> list[dict[str, Any]]:
    """Return the largest nodes of each level as JSON."""
    return [
        {
            "name": node.name,
            "bytes": node.bytes,
            "buffers": node.buffers,
            "children": tree_json(node.children, count),
        }
        for node in nodes[:count]
    ]


def short_name(name: str) -> str:
    """Return a frame without the folders of its file; other names are returned unchanged."""
    path, colon, line = name.rpartition(":")
    is_frame = bool(colon) and line.isdecimal()
    return name.replace("\\", "/")[path.replace("\\", "/").rfind("/") + 1 :] if is_frame else name
