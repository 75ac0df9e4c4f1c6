"""Trees of call stacks and scopes."""

from hlo_lsp.memory.group_tree import GroupNode, group_tree
from hlo_lsp.memory.grouping import GroupKey, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.reports.summary import SpaceSummary
from hlo_lsp.reports.summary_text import tree_json, tree_lines
from reports.example import BYTES, PEAK_STEP, example


def _tree(key: GroupKey) -> tuple[GroupNode, ...]:
    dump = example()
    return group_tree(dump, owned_buffers(dump, live_buffers(dump, 0, PEAK_STEP)), key)


def test_stack_tree_adds_up() -> None:
    roots = _tree(GroupKey.STACK)
    assert sum(root.bytes for root in roots) == BYTES[PEAK_STEP]
    model = roots[0]
    assert (model.name, model.bytes) == ("/home/user/model.py:7", 4096)
    assert [(child.name, child.bytes) for child in model.children] == [
        ("/home/user/model.py:3", 2048)
    ]
    assert model.own_bytes == 2048


def test_scope_tree_has_scopes_without_operation() -> None:
    roots = _tree(GroupKey.SCOPE)
    assert [(root.name, root.bytes) for root in roots] == [("jit(f)", 4096), ("arguments", 1024)]
    assert [child.name for child in roots[0].children] == ["jvp()"]


def test_lines_show_own_bytes_of_a_node() -> None:
    space = SpaceSummary(0, "HBM", BYTES[PEAK_STEP])
    assert list(tree_lines(space, _tree(GroupKey.STACK), 5)) == [
        "     4.0 KiB  model.py:7",
        "       2.0 KiB  model.py:3",
        "       2.0 KiB  here",
        "     1.0 KiB  arguments",
    ]


def test_json_has_at_most_the_wanted_nodes() -> None:
    (node,) = tree_json(_tree(GroupKey.SCOPE), 1)
    assert (node["name"], node["bytes"], node["buffers"]) == ("jit(f)", 4096, 3)
