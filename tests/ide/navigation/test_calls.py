"""The call hierarchy of computations and instructions."""

from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.navigation.call_hierarchy import (
    CallEdge,
    CallNode,
    CallNodeKey,
    call_node_at,
    find_node,
    incoming_calls,
    node_end,
    node_key,
    outgoing_calls,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, Place
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk
from marked_dump import split

CallTexts = list[tuple[str, list[str]]]

WRITTEN = """\
HloModule m

cond (s: f32[]) -> pred[] {
  s = f32[] parameter(0)
  ROOT lt = pred[] compare(s, s), direction=LT
}

body (t: f32[]) -> f32[] {
  t = f32[] parameter(0)
  ROOT n = f32[] negate(t)
}

ENTRY main (x: f32[], y: f32[8]) -> f32[] {
  x = f32[] parameter(0)
  y = f32[8]{0} parameter(1), metadata={op_name="é"}
  first = f32[] while(x), condition=cond,
    body=body
  branch = f32[] conditional(x, x, first),
    branch_computations={body, body}, metadata={op_name="calls=cond"}
  sum = f32[] reduce(y,
    branch), dimensions={0}, to_apply={
      left = f32[] parameter(0)
      right = f32[] parameter(1)
      ROOT both = f32[] add(left, right)
    }
  ROOT twice = f32[] multiply(sum, sum), control-predecessors={first}
}
"""


def at(file: DumpFile, line: str, word: str) -> CallNode:
    """Return the node of a word in the first line with this prefix."""
    number = next(n for n, text in enumerate(file.lines) if text.lstrip().startswith(line))
    found = cursor_target_at(file, number, file.lines[number].index(word))
    assert found is not None
    node = call_node_at(Compile([file]), found)
    assert node is not None
    return node


def text(place: Place) -> str:
    return place.file.lines[place.line][place.start : place.end]


def call_texts(calls: list[CallEdge]) -> CallTexts:
    """Return the other ends with their places: line, column, and text."""
    return [
        (call.node.record.name, [f"{p.line + 1}:{p.start} {text(p)}" for p in call.places])
        for call in calls
    ]


@pytest.fixture(scope="module")
def written() -> DumpFile:
    return DumpFile.of_text(WRITTEN)


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        ("fusion-line", "fusion"), ("x.1-in-fusion", "x.1"), ("fused-call", "fused"),
        ("region-line", "region"), ("region-call", "region"), ("fusion-before", "fusion"),
        ("fusion0-entry", "fusion"), ("fusion-use", "get-tuple-element"), ("x.1-range", "x.1"),
        ("fusion1-peak", "fusion"), ("negate.7-value", "negate.7"),
        ("gte-step", "get-tuple-element"),
    ],
)  # fmt: skip
def test_every_mention_resolves_to_module_text(mark: str, name: str) -> None:
    dump = split()
    node = call_node_at(dump.dump, dump.target(mark))
    assert node is not None
    assert dump.mark_at(node.name_place) == f"{name.replace('get-tuple-element', 'gte')}-line"


@pytest.mark.parametrize("mark", ["allocation-1", "allocation-4"])
def test_allocation_is_no_call_node(mark: str) -> None:
    dump = split()
    assert call_node_at(dump.dump, dump.target(mark)) is None


def test_incoming_calls_of_computation(written: DumpFile) -> None:
    assert call_texts(incoming_calls(at(written, "body (", "body"))) == [
        ("main", ["17:9 body", "19:25 body", "19:31 body"])
    ]
    assert call_texts(incoming_calls(at(written, "cond (", "cond"))) == [("main", ["16:36 cond"])]
    assert call_texts(incoming_calls(at(written, "ENTRY", "main"))) == []


def test_outgoing_calls_of_computation(written: DumpFile) -> None:
    assert call_texts(outgoing_calls(at(written, "ENTRY", "main"))) == [
        ("cond", ["16:36 cond"]),
        ("body", ["17:9 body", "19:25 body", "19:31 body"]),
        ("sum.to_apply", ["20:2 sum"]),
    ]
    assert call_texts(outgoing_calls(at(written, "body (", "body"))) == []


def test_inline_computation(written: DumpFile) -> None:
    inline = outgoing_calls(at(written, "ENTRY", "main"))[2].node
    assert text(inline.name_place) == "to_apply"
    assert call_texts(incoming_calls(inline)) == [("main", ["20:2 sum"])]
    assert call_texts(incoming_calls(at(written, "ROOT both", "both"))) == [
        ("left", ["22:6 left"]), ("right", ["23:6 right"])
    ]  # fmt: skip


def test_incoming_calls_of_instruction_are_operands(written: DumpFile) -> None:
    assert call_texts(incoming_calls(at(written, "branch =", "branch"))) == [
        ("x", ["14:2 x"]), ("first", ["16:2 first"])
    ]  # fmt: skip
    assert call_texts(incoming_calls(at(written, "branch)", "branch"))) == call_texts(
        incoming_calls(at(written, "branch =", "branch"))
    )
    assert call_texts(incoming_calls(at(written, "x =", "x"))) == []


def test_outgoing_calls_of_instruction_are_users(written: DumpFile) -> None:
    assert call_texts(outgoing_calls(at(written, "x =", "x"))) == [
        ("first", ["16:22 x"]), ("branch", ["18:29 x", "18:32 x"])
    ]  # fmt: skip
    assert call_texts(outgoing_calls(at(written, "branch =", "branch"))) == [
        ("sum", ["21:4 branch"])
    ]
    assert call_texts(outgoing_calls(at(written, "sum =", "sum"))) == [
        ("twice", ["26:30 sum", "26:35 sum"])
    ]
    assert call_texts(outgoing_calls(at(written, "first =", "first"))) == [
        ("branch", ["18:35 first"])
    ]
    assert call_texts(outgoing_calls(at(written, "ROOT twice", "twice"))) == []


@pytest.mark.parametrize(
    ("line", "word", "last"),
    [
        ("body (", "body", "}"), ("first =", "first", "    body=body"),
        ("ENTRY", "main", "}"), ("ROOT both", "both", "      ROOT both = f32[] add(left, right)"),
        ("sum =", "sum", "    }"),
    ],
)  # fmt: skip
def test_node_ends_after_last_character(written: DumpFile, line: str, word: str, last: str) -> None:
    node = at(written, line, word)
    number, column = node_end(node)
    assert (written.lines[number], column) == (last, len(last))


def test_node_is_found_by_its_key(written: DumpFile) -> None:
    twice = DumpFile.of_text(WRITTEN.replace("body (t", "other (t").replace("  t =", "  s ="))
    assert node_key(at(written, "ROOT n", "n")) == CallNodeKey("n", "body", is_computation=False)
    assert node_key(at(written, "body (", "body")) == CallNodeKey("body", None, is_computation=True)

    def line(name: str, home: str | None, *, is_computation: bool = False) -> int | None:
        node = find_node(twice, CallNodeKey(name, home, is_computation))
        return None if node is None else node.line + 1

    assert line("n", "body") == 10  # its computation has another name, and no other has its own
    assert line("s", "cond") == 4
    assert line("s", "other") == 9
    assert line("s", "body") is None  # which of the two?
    assert line("gone", "cond") is None
    assert line("body", None, is_computation=True) is None
    assert line("other", None, is_computation=True) == 8


@pytest.mark.corpus
def test_incoming_and_outgoing_calls_agree(corpus_small: Path) -> None:
    folder = corpus_small / "tpu_v5e"
    seen = 0
    for path in files_of(folder, FileKind.MODULE)[::8]:
        file = DumpFile.of_text(disk.read_document(path).text)
        module = file.module
        heads: list[CallNode] = [LocatedRecord(file, head) for head in module.all_computations()]
        records: list[CallNode] = [
            LocatedRecord(file, record) for record in module.instructions.records()
        ]
        for nodes in (heads, records):
            forth = {(node_key(n), node_key(c.node)) for n in nodes for c in outgoing_calls(n)}
            back = {(node_key(c.node), node_key(n)) for n in nodes for c in incoming_calls(n)}
            assert forth == back
            seen += len(forth)
            for node in nodes:
                assert find_node(file, node_key(node)) == node
                for call in outgoing_calls(node):
                    name = node.record.name if nodes is records else call.node.record.name
                    assert {text(place) for place in call.places} == {name}
                for call in incoming_calls(node):
                    name = call.node.record.name if nodes is records else node.record.name
                    assert {text(place) for place in call.places} == {name}
    assert seen > 1000
