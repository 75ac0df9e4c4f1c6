"""Live buffers as a tree: of Python call stacks, or of the scopes in operation names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, scope_path, stack_path
from hlo_lsp.model.dump_set import DumpSet

TREE_KEYS = frozenset({GroupKey.STACK, GroupKey.SCOPE})


@dataclass(frozen=True, slots=True)
class GroupNode:
    """A frame or a scope with all buffers in it.

    Attributes:
        name: The frame, such as ``train.py:27``, or the scope.
        bytes: The bytes of the buffers in this node and below it.
        children: The nodes inside of this one, the largest first. Buffers in none of them belong to
            the node itself.
    """

    name: str
    bytes: int
    buffers: int
    children: tuple["GroupNode", ...]

    @property
    def own_bytes(self) -> int:
        """The bytes of the buffers that are in no child."""
        return self.bytes - sum(child.bytes for child in self.children)


def group_tree(
    dump: DumpSet, buffers: Iterable[OwnedBuffer], key: GroupKey
) -> tuple[GroupNode, ...]:
    """Return the roots of the tree of stacks or of scopes, the largest first."""
    path_of = stack_path if key is GroupKey.STACK else scope_path
    return _nodes([(path_of(dump, owned), owned.buffer.bytes) for owned in buffers], 0)


def _nodes(paths: Sequence[tuple[tuple[str, ...], int]], depth: int) -> tuple[GroupNode, ...]:
    by_name: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for path, size in paths:
        if len(path) > depth:
            by_name.setdefault(path[depth], []).append((path, size))
    found = [
        GroupNode(name, sum(size for _, size in inside), len(inside), _nodes(inside, depth + 1))
        for name, inside in by_name.items()
    ]
    return tuple(sorted(found, key=lambda node: (-node.bytes, node.name)))
