"""Tests for the instruction in the text of the previous or next pass."""

from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.custom_requests import AdjacentPassParams, Direction
from hlo_lsp.lsp.previous_and_next_pass import answer_adjacent_pass
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from pass_texts import line_of, written


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    return written(tmp_path)


async def go_to_adjacent_pass(path: Path, text: str, direction: Direction) -> Json:
    line = line_of(path, f"%{text}")
    character = path.read_text("utf-8").split("\n")[line].index(f"%{text}") + 1
    position = types.Position(line, character)
    params = AdjacentPassParams(path.as_uri(), position, direction)
    return await answer_adjacent_pass(Session(), params)


def uri_and_line(answer: Json) -> tuple[str, int]:
    location = answer["location"]
    return location["uri"], location["range"]["start"]["line"]


@pytest.mark.parametrize(
    ("start", "direction", "end"), [(1, "next", 2), (1, "previous", 0), (2, "next", 3)]
)
async def test_instruction_of_same_name_is_preferred(
    texts: list[Path], start: int, direction: Direction, end: int
) -> None:
    answer = await go_to_adjacent_pass(texts[start], "x = ", direction)
    assert uri_and_line(answer) == (texts[end].as_uri(), line_of(texts[end], "%x = "))
    assert answer["message"] is None


async def test_same_operation_replaces_a_removed_name(texts: list[Path]) -> None:
    answer = await go_to_adjacent_pass(texts[1], "r = ", "next")
    assert uri_and_line(answer) == (texts[2].as_uri(), line_of(texts[2], "%add.9 = "))
    assert answer["message"] == ("fusing > fusion: removed `r`; `add.9` has the same operation")


@pytest.mark.parametrize(
    ("number", "text", "direction", "message"),
    [
        (0, "c = ", "next", "simplify > algsimp: removed `c`"),
        (2, "p = ", "previous", "fusing > fusion: created `p`"),
        (0, "x = ", "previous", "this is the first text of the compile"),
        (3, "x = ", "next", "this is the last text of the compile"),
        (2, "fused (", "previous", "no instruction at the cursor"),
    ],
)
async def test_error_explains_missing_instruction(
    texts: list[Path], number: int, text: str, direction: Direction, message: str
) -> None:
    with pytest.raises(RequestFailedError) as error:
        await go_to_adjacent_pass(texts[number], text, direction)
    assert error.value.message == message


async def test_missing_pass_texts_error_names_the_flag(texts: list[Path]) -> None:
    for path in texts[:3]:
        path.unlink()
    with pytest.raises(RequestFailedError, match="xla_dump_hlo_pass_re"):
        await go_to_adjacent_pass(texts[3], "x = ", "next")
