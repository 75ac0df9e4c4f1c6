"""Tests for expressions whose work grows with a text only as fast as the text."""

import re

import pytest

from hlo_lsp.model import regular_instructions, unknown_parts, unknown_texts
from hlo_lsp.program import moved_lines
from hlo_lsp.reports import find
from hlo_lsp.syntax import embedded_hlo, texts_without_names
from hlo_lsp.text import inert

_SIZE = 300_000  # Quadratic work would take minutes.


@pytest.mark.parametrize(
    ("expression", "repeated"),
    [
        (unknown_texts._TIMES, "0"),
        (unknown_parts._FIELD, "a"),
        (regular_instructions._SHAPES, "ax"),
        (find._TILES, ":x"),
        (moved_lines._EXTENT, "0"),
        (inert._INDEXED_WORD, "a"),
        (inert._INDEXED_WORD, "a["),
        (inert._INDEXED_WORD, "a{"),
    ],
)
def test_search_begins_at_few_places(expression: re.Pattern[str], repeated: str) -> None:
    assert expression.search(repeated * _SIZE) is None


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (unknown_texts._PARAMETER, f"a:{' ' * _SIZE}"),
        (texts_without_names._TABLE_LINE, f"{' ' * _SIZE}x"),
        (embedded_hlo._COMPUTATION_LINE, "x()->x" * (_SIZE // 6)),
        (inert._MARKDOWN_LINE_START, f"-{' ' * _SIZE}x"),
        (inert._MARKDOWN_LINE_START, f"{'- ' * _SIZE}x"),
    ],
)
def test_match_tries_few_lengths(expression: re.Pattern[str], text: str) -> None:
    assert expression.fullmatch(text) is None
