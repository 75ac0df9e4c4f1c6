"""Live buffers as a tree: of Python call stacks, scopes in operation names, or arguments."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, argument_path, scope_path, stack_path
from hlo_lsp.model.compile import Compile

_PATHS = {
    GroupKey.STACK: stack_path,
    GroupKey.SCOPE: scope_path,
    GroupKey.ARGUMENT: argument_path,
}
TREE_KEYS = frozenset(_PATHS)
_MAIN_SHARE = 0.9  # of the bytes: an argument that has nearly all of them is shown by its parts
_MAX_PARTS = 8


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
    dump: Compile, buffers: Iterable[OwnedBuffer], key: GroupKey
) -> tuple[GroupNode, ...]:
    """Return the roots of the tree of stacks, scopes, or arguments, the largest first."""
    path_of = _PATHS[key]
    return _nodes([(path_of(dump, owned), owned.buffer.bytes) for owned in buffers], 0)


def argument_groups(dump: Compile, buffers: Iterable[OwnedBuffer]) -> tuple[GroupNode, ...]:
    """Return the arguments by the first levels of their pytree, such as parameters and moments.

    An argument with nearly all bytes, such as a training state, is replaced by its named parts.
    """
    nodes = group_tree(dump, (one for one in buffers if one.is_argument), GroupKey.ARGUMENT)
    total = sum(node.bytes for node in nodes)
    while nodes and nodes[0].bytes > _MAIN_SHARE * total:
        parts = nodes[0].children
        is_sequence = any(one.name[1:-1].isdecimal() for one in parts)
        if is_sequence or not 0 < len(parts) <= _MAX_PARTS or nodes[0].own_bytes:
            break
        name = nodes[0].name
        named = [replace(one, name=f"{name}{one.name}") for one in parts]
        nodes = tuple(sorted([*named, *nodes[1:]], key=lambda node: (-node.bytes, node.name)))
    return nodes


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
