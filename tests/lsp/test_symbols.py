"""Tests for document symbols as a tree or a list."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.symbols import document_symbols
from hlo_lsp.text.document import Encoding
from lsp.opened import DUMP, context

Json = dict[str, Any]


def tree_lines(symbols: list[Json], indent: int = 0) -> list[str]:
    """Return a tree as text: name and detail, with children indented."""
    lines = []
    for symbol in symbols:
        lines.append(f"{'  ' * indent}{symbol['name']} ({symbol.get('detail', '')})")
        lines += tree_lines(symbol.get("children", []), indent + 1)
    return lines


def flatten(symbols: list[Json]) -> Iterator[Json]:
    for symbol in symbols:
        yield symbol
        yield from flatten(symbol.get("children", []))


def range_text(text: str, span: Json) -> str:
    """Return the text in a range within one line."""
    start, end = span["start"], span["end"]
    assert start["line"] == end["line"]
    line: str = text.split("\n")[start["line"]]
    return line[start["character"] : end["character"]]


async def test_kinds_distinguish_allocations_values_steps_and_ranges() -> None:
    kinds = {s["name"]: s["kind"] for s in flatten(document_symbols(await context()))}
    kind = types.SymbolKind
    assert kinds["BufferAssignment"] == kind.Namespace.value
    assert kinds["allocation 0"] == kind.Array.value
    assert kinds["1 x"] == kind.Variable.value
    assert kinds["x"] == kind.Event.value
    assert kinds["x{}"] == kind.Field.value


async def test_symbol_selects_its_name() -> None:
    symbols = {s["name"]: s for s in flatten(document_symbols(await context()))}
    selected = {name: range_text(DUMP, s["selectionRange"]) for name, s in symbols.items()}
    assert selected["2 add"] == "<2 add @1>"
    assert selected["add"] == "add"
    assert selected["add{}"] == "add{}"
    assert selected["Used values"] == "Used values:"
    assert selected["allocation 0"].startswith("allocation 0: size 512")


async def test_entry_spans_its_lines() -> None:
    symbols = {s["name"]: s for s in flatten(document_symbols(await context()))}
    lines = DUMP.split("\n")
    entry = next(s["range"] for s in flatten([symbols["Used values"]]) if s["name"] == "2 add")
    assert lines[entry["start"]["line"]] == "<2 add @1>"
    last = lines[entry["end"]["line"]]
    assert last.startswith(" from instruction: %add")
    assert entry["end"]["character"] == len(last)


@pytest.mark.parametrize(
    ("encoding", "length"), [(Encoding.UTF8, 81), (Encoding.UTF16, 75), (Encoding.UTF32, 75)]
)
async def test_range_ends_after_a_box_drawing_line(encoding: Encoding, length: int) -> None:
    symbols = document_symbols(await context(client=Client(encoding)))
    (peak,) = (s for s in flatten(symbols) if s["name"] == "Stack trace breakdown")
    assert peak["range"]["end"]["character"] == length


async def test_client_without_nested_symbols_gets_a_list() -> None:
    request = await context(client=replace(Client(), can_nest_symbols=False))
    tree = document_symbols(await context())
    flat = document_symbols(request)
    assert [symbol["name"] for symbol in flat] == [symbol["name"] for symbol in flatten(tree)]
    assert {frozenset(symbol) for symbol in flat} == {frozenset({"name", "kind", "location"})}
    assert {symbol["location"]["uri"] for symbol in flat} == {request.file.uri}
    ranges = [symbol["location"]["range"] for symbol in flat]
    assert ranges == [symbol["selectionRange"] for symbol in flatten(tree)]


async def test_names_are_never_empty() -> None:
    text = DUMP.replace("<2 add @1>\n", "<\n").replace("%x = ", "").replace("    1:add", "    1:")
    found = document_symbols(await context(text))
    assert all(symbol["name"].strip() for symbol in flatten(found))
    assert "3 mul" in [symbol["name"] for symbol in flatten(found)]
