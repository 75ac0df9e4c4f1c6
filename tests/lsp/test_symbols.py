"""The outline as a tree of symbols, or as a list for clients that know no trees."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.symbols import document_symbols
from hlo_lsp.text.document import Encoding
from lsp.opened import DUMP, context

Json = dict[str, Any]


def drawn(symbols: list[Json], indent: int = 0) -> list[str]:
    """Return a tree as text: name and detail, with children indented."""
    lines = []
    for symbol in symbols:
        lines.append(f"{'  ' * indent}{symbol['name']} ({symbol.get('detail', '')})")
        lines += drawn(symbol.get("children", []), indent + 1)
    return lines


def walked(symbols: list[Json]) -> Iterator[Json]:
    for symbol in symbols:
        yield symbol
        yield from walked(symbol.get("children", []))


def covered(text: str, span: Json) -> str:
    """Return the text in a range within one line."""
    start, end = span["start"], span["end"]
    assert start["line"] == end["line"]
    line: str = text.split("\n")[start["line"]]
    return line[start["character"] : end["character"]]


async def test_tree_has_sections_and_their_content() -> None:
    assert drawn(await document_symbols(await context())) == [
        "BufferAssignment ()",
        "  allocation 0 (512 B)",
        "    1 x (f32[4]{0:T(128)})",
        "  allocation 1 (512 B)",
        "    3 mul (f32[4]{0:T(128)})",
        "  allocation 2 (1.0 KiB)",
        "    2 add (f32[4]{0:T(128)S(1)})",
        "Total bytes used (2.0 KiB)",
        "Used values ()",
        "  1 x ()",
        "  2 add ()",
        "  3 mul ()",
        "HloLiveRange (3 steps)",
        "  InstructionSequence ()",
        "    x (0)",
        "    add (1)",
        "    mul (2)",
        "  BufferLiveRange ()",
        "    x{} (0-3)",
        "    add{} (1-2)",
        "    mul{} (2-3)",
        "  Peak (step 2)",
        "    add{} (16 B)",
        "    mul{} (16 B)",
        "    x{} (16 B)",
        "  Stack trace breakdown ()",
    ]


async def test_kinds_tell_allocations_values_steps_and_ranges_apart() -> None:
    kinds = {s["name"]: s["kind"] for s in walked(await document_symbols(await context()))}
    kind = types.SymbolKind
    assert kinds["BufferAssignment"] == kind.Namespace.value
    assert kinds["allocation 0"] == kind.Array.value
    assert kinds["1 x"] == kind.Variable.value
    assert kinds["x"] == kind.Event.value
    assert kinds["x{}"] == kind.Field.value


async def test_a_symbol_selects_its_name() -> None:
    symbols = {s["name"]: s for s in walked(await document_symbols(await context()))}
    selected = {name: covered(DUMP, s["selectionRange"]) for name, s in symbols.items()}
    assert selected["2 add"] == "<2 add @1>"
    assert selected["add"] == "add"
    assert selected["add{}"] == "add{}"
    assert selected["Used values"] == "Used values:"
    assert selected["allocation 0"].startswith("allocation 0: size 512")


async def test_every_symbol_holds_its_name_and_its_children() -> None:
    def inside(inner: Json, outer: Json) -> bool:
        def key(position: Json) -> tuple[int, int]:
            return position["line"], position["character"]

        return key(outer["start"]) <= key(inner["start"]) <= key(inner["end"]) <= key(outer["end"])

    for symbol in walked(await document_symbols(await context())):
        assert inside(symbol["selectionRange"], symbol["range"])
        children = symbol.get("children", [])
        assert all(inside(child["range"], symbol["range"]) for child in children)
        for before, after in pairwise(children):
            assert before["range"]["end"]["line"] < after["range"]["start"]["line"]


async def test_an_entry_spans_its_lines() -> None:
    symbols = {s["name"]: s for s in walked(await document_symbols(await context()))}
    lines = DUMP.split("\n")
    entry = next(s["range"] for s in walked([symbols["Used values"]]) if s["name"] == "2 add")
    assert lines[entry["start"]["line"]] == "<2 add @1>"
    last = lines[entry["end"]["line"]]
    assert last.startswith(" from instruction: %add")
    assert entry["end"]["character"] == len(last)


@pytest.mark.parametrize(
    ("encoding", "length"), [(Encoding.UTF8, 81), (Encoding.UTF16, 75), (Encoding.UTF32, 75)]
)
async def test_symbol_ends_after_its_box_drawing_line(encoding: Encoding, length: int) -> None:
    symbols = await document_symbols(await context(client=Client(encoding)))
    (peak,) = (s for s in walked(symbols) if s["name"] == "Stack trace breakdown")
    assert peak["range"]["end"]["character"] == length


async def test_a_client_without_trees_gets_a_list() -> None:
    found = await context(client=replace(Client(), can_nest_symbols=False))
    tree = await document_symbols(await context())
    flat = await document_symbols(found)
    assert [symbol["name"] for symbol in flat] == [symbol["name"] for symbol in walked(tree)]
    assert {frozenset(symbol) for symbol in flat} == {frozenset({"name", "kind", "location"})}
    assert {symbol["location"]["uri"] for symbol in flat} == {found.file.uri}
    ranges = [symbol["location"]["range"] for symbol in flat]
    assert ranges == [symbol["selectionRange"] for symbol in walked(tree)]


async def test_names_are_never_empty() -> None:
    text = DUMP.replace("<2 add @1>\n", "<\n").replace("%x = ", "").replace("    1:add", "    1:")
    found = await document_symbols(await context(text))
    assert all(symbol["name"].strip() for symbol in walked(found))
    assert "3 mul" in [symbol["name"] for symbol in walked(found)]
