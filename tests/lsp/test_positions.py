"""Tests for positions in the three encodings of the protocol."""

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.text.document import Encoding
from marks import mark

BREAKDOWN = mark(
    """
      Stack trace breakdown for peak usage: 32 bytes
        main (100.0%, total: 32 bytes, current: 0 bytes, remaining: 32 bytes)
          ├── jit(f)/𝔸é (50.0%, total: 16 bytes, current: 16 bytes, remaining: 16 bytes)
              ^^^^^^^^^ title
          │   └── x (50.0%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)
                  ^ leaf
    """
)
# The start and end columns of each mark in units of the encoding.
COLUMNS = {
    (Encoding.UTF8, "title"): (10 + 6, 10 + 6 + 13),
    (Encoding.UTF16, "title"): (10, 10 + 10),
    (Encoding.UTF32, "title"): (10, 10 + 9),
    (Encoding.UTF8, "leaf"): (14 + 8, 15 + 8),
    (Encoding.UTF16, "leaf"): (14, 15),
    (Encoding.UTF32, "leaf"): (14, 15),
}


@pytest.fixture
def file() -> DumpFile:
    return DumpFile.of_text(BREAKDOWN.text)


@pytest.mark.parametrize(("encoding", "name"), COLUMNS, ids=str)
def test_box_drawing_lines_have_columns_by_encoding(
    file: DumpFile, encoding: Encoding, name: str
) -> None:
    span = BREAKDOWN[name]
    start, end = COLUMNS[encoding, name]
    client = Client(encoding)
    found = client.range(Place(file, span.line, span.start, span.end))
    assert found == types.Range(types.Position(span.line, start), types.Position(span.line, end))
    assert client.place_range_json(Place(file, span.line, span.start, span.end)) == {
        "start": {"line": span.line, "character": start},
        "end": {"line": span.line, "character": end},
    }
    assert client.point(file, found.start) == span.position
    assert client.point(file, found.end) == (span.line, span.end)


@pytest.mark.parametrize("encoding", Encoding)
def test_columns_survive_a_round_trip(file: DumpFile, encoding: Encoding) -> None:
    client = Client(encoding)
    for number, line in enumerate(file.lines):
        for column in range(len(line) + 1):
            start = client.range(Place(file, number, column, column)).start
            assert client.point(file, start) == (number, column)


@pytest.mark.parametrize("encoding", Encoding)
@pytest.mark.parametrize(
    ("position", "nearest"),
    [
        ((0, 999), (0, 48)),
        ((2, 999), (2, 84)),
        ((4, 0), (4, 0)),
        ((4, 7), (4, 0)),
        ((5, 0), (4, 0)),
        ((2**31 - 1, 2**31 - 1), (4, 0)),
    ],
)
def test_positions_outside_the_text_are_clamped(
    file: DumpFile, encoding: Encoding, position: tuple[int, int], nearest: tuple[int, int]
) -> None:
    assert [len(line) for line in file.lines[:3]] == [48, 73, 84]
    assert Client(encoding).point(file, types.Position(*position)) == nearest


@pytest.mark.parametrize(
    ("encoding", "end"), [(Encoding.UTF8, 23), (Encoding.UTF16, 15), (Encoding.UTF32, 15)]
)
def test_line_range_ends_after_the_last_character(encoding: Encoding, end: int) -> None:
    file = DumpFile.of_text("HloLiveRange (max 3):\n      │   └── x\nnext")
    lines = Client(encoding).lines_range(file, 0, 2)
    assert lines["end"] == {"line": 1, "character": end}


def test_line_range_ends_with_the_text(file: DumpFile) -> None:
    lines = Client(Encoding.UTF16).lines_range(file, 3, 100)
    assert lines["end"] == {"line": 4, "character": 0}
