"""The tree of the bytes at the peak by call stack (hlo_stack_trace.cc)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from hlo_lsp.hlo.notation import spaced
from hlo_lsp.protos.dataflow import Place, ValueFlow
from hlo_lsp.protos.shapes import decoded, joined

_VARIABLE = re.compile(r"[a-zA-Z_]\w*")
_KEY_OR_ATTRIBUTE = re.compile(r"\['([^']+)'\]|\.(\w+)")
_MAX_TRACES = 10_000  # of one value; more come from a proto that no compiler wrote


@dataclass(slots=True)
class _Node:
    """A node of the tree; its bytes do not include those of its children."""

    own_bytes: int = 0
    total_bytes: int = 0
    children: dict[str, "_Node"] = field(default_factory=dict)

    def add_up(self) -> int:
        """Compute the bytes with those of the children."""
        self.total_bytes = self.own_bytes + sum(one.add_up() for one in self.children.values())
        return self.total_bytes


def stack_trace_lines(
    sized: Sequence[tuple[Place, int]], instructions: dict[int, Any], flow: ValueFlow
) -> Iterator[str]:
    """Yield the lines of the tree, none if a value has too many call stacks.

    ``sized`` are the values at the peak with their bytes, in the order of the list at the peak.
    """
    total = sum(size for _, size in sized)
    tree = _Node()
    for (number, index), size in sized:
        traces = list(islice(_traces(instructions[number], flow, ()), _MAX_TRACES))
        if len(traces) == _MAX_TRACES:
            return
        each, rest = divmod(size, max(len(traces), 1))
        for place, trace in enumerate(traces):
            names = list(trace)
            if index:
                names[-1] += f"{{{joined(index)}}}"
            node = tree
            for name in names:
                node = node.children.setdefault(name, _Node())
            node.own_bytes += each + (place < rest)
    tree.add_up()
    yield f"  Stack trace breakdown for peak usage: {spaced(total)} bytes"
    remaining = total
    for prefix, connector, name, node in _nodes(tree, "  "):
        remaining -= node.own_bytes
        percent = 100 * node.total_bytes / total if total else 0.0
        yield (
            f"{prefix}{connector}{name} ({percent:.1f}%, total: {spaced(node.total_bytes)} bytes,"
            f" current: {spaced(node.own_bytes)} bytes, remaining: {spaced(remaining)} bytes)"
        )


def _traces(one: Any, flow: ValueFlow, inner: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the call stacks of an instruction, the outermost computation first."""
    parent = flow.parent(one.id)
    names = _parts(decoded(one.metadata.op_name) or decoded(one.name))
    path = (flow.computation_name(parent), *names, *inner)
    callers = sorted(flow.callers.get(parent, ()), key=lambda caller: int(caller.id))
    if not callers:
        yield path
    for caller in callers:
        yield from _traces(caller, flow, path)


def _parts(name: str) -> list[str]:
    """Split ``params['layer/fc'].attr`` into its parts; keep any other name whole."""
    start = _VARIABLE.match(name)
    if start is None:
        return [name]
    parts, position, has_keys = [start[0]], start.end(), False
    while found := _KEY_OR_ATTRIBUTE.match(name, position):
        has_keys |= found[1] is not None
        parts += [found[2]] if found[1] is None else found[1].split("/")
        position = found.end()
    return parts if has_keys and position == len(name) else [name]


def _nodes(tree: _Node, prefix: str) -> Iterator[tuple[str, str, str, _Node]]:
    """Yield prefix, connector, name, and node, the largest children first."""
    known = [(name, node) for name, node in tree.children.items() if node.total_bytes]
    known.sort(key=lambda item: (-item[1].total_bytes, item[0]))
    for name, node in known:
        is_last = name == known[-1][0]
        is_top = prefix == "  "
        yield prefix, "  " if is_top else "└── " if is_last else "├── ", name, node
        yield from _nodes(node, prefix + ("    " if is_last else "│   "))
