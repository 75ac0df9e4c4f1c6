"""The outline of texts with out-of-memory messages."""

import pytest

from hlo_lsp.ide.navigation.outline import OutlineNode, OutlineNodeKind, walk_nodes
from hlo_lsp.ide.oom_text import oom_outline
from oom_messages import DUMP, GPU, LONG, NAMES, PROGRAM_LOAD, SHORT, messages, text_of


def outline(text: str) -> list[OutlineNode]:
    return oom_outline(text.split("\n"), messages(text))


def test_message_contains_lists_and_buffers() -> None:
    (node,) = outline(text_of(LONG))
    assert node.name == "hbm: 15.75G of 15.75G"
    allocations, interface = node.children
    assert (allocations.name, allocations.detail) == ("program allocations", "6 buffers")
    assert (interface.name, interface.detail) == ("arguments and outputs", "8 buffers")
    first = allocations.children[0]
    assert (first.name, first.detail) == (
        "1. 6.75G",
        "fusion.4 · f32[27,8192,8192]{2,1,0:T(8,128)}",
    )


def test_lists_begin_at_their_labels() -> None:
    text = text_of(LONG)
    (node,) = outline(text)
    assert [text.split("\n")[child.line].split()[0] for child in node.children] == ["Largest"] * 2


def test_log_has_a_node_per_message() -> None:
    log = "\n".join(["starting", text_of(SHORT), "retry", GPU, PROGRAM_LOAD])
    assert [(node.name, node.detail) for node in outline(log)] == [
        ("hbm: 18.19G of 15.75G", "jit_train_step"),
        ("gpu: 6291456", ""),
        ("program load: 1.13G of 528.72M free", "jit__forward"),
    ]


@pytest.mark.parametrize(
    ("ending", "name", "lists"),
    [
        (".oom_top_memory_consuming_instructions", "hbm: 6.75G", 2),
        (".peak_memory_tensors.txt", "hbm: list of buffers", 1),
    ],
)
def test_file_of_lists_has_one_node(ending: str, name: str, lists: int) -> None:
    (path,) = DUMP.glob(f"*{ending}")
    (node,) = outline(path.read_text("utf-8"))
    assert (node.name, len(node.children)) == (name, lists)


@pytest.mark.parametrize("name", NAMES)
def test_nodes_lie_inside_their_parents(name: str) -> None:
    text = text_of(name)
    nodes = outline(text)
    assert all(node.kind is OutlineNodeKind.MESSAGE for node in nodes)
    for node in walk_nodes(nodes):
        end = node.line + node.line_count
        assert 0 <= node.line < end <= len(text.split("\n"))
        for child in node.children:
            assert node.line <= child.line < child.line + child.line_count <= end


@pytest.mark.parametrize(
    ("name", "title", "buffers"),
    [
        ("gpu_without_head", "gpu: list of buffers", ["13. 96.00MiB", "14. 96.00MiB"]),
        ("tpu_reservable", "program load: 11.35G of 10.52G reservable", []),
        ("tpu_heap_allocations", "program load: 3.95G of 1.92G free", []),
        ("gpu_request", "gpu: 256.00MiB", []),
    ],
)
def test_public_report_has_one_node(name: str, title: str, buffers: list[str]) -> None:
    (node,) = outline(text_of(name))
    assert node.name == title
    assert [buffer.name for part in node.children for buffer in part.children] == buffers
