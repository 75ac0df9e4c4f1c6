"""Text of dumps in Markdown."""

import pytest
from markdown_it import MarkdownIt

from hlo_lsp.model.markdown import markdown_block, markdown_code, markdown_row, markdown_text


@pytest.mark.parametrize(
    "text",
    [
        "<b>x</b>", "[x](command:y)", "![x](https://y)", "*x*", "_x_", "~~x~~", "&lt;", r"a\\*b",
        "`x](y)", "$x$", "https://x.y", "www.x.y", "a@b.c", "a_b_c", "/home/~me/a.py:3",
    ],
)  # fmt: skip
def test_text_is_shown_as_it_is(text: str) -> None:
    [_, inline, _] = MarkdownIt("commonmark").enable("strikethrough").parse(markdown_text(text))
    assert inline.children is not None
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    assert "".join(child.content for child in inline.children) == text


@pytest.mark.parametrize("text", ["$x$", "https://x.y", "www.x.y", "a@b.c"])
def test_formulas_and_bare_addresses_are_escaped(text: str) -> None:
    assert "\\" in markdown_text(text)


def test_quoted_names_are_code() -> None:
    assert markdown_text("value of `a_b{0}` *") == "value of `a_b{0}` \\*"
    assert markdown_code("a``b") == "``` a``b ```"


def test_cells_stay_in_their_row() -> None:
    assert markdown_row("a|b", "c\nd") == "| a\\|b | c d |"


def test_no_line_ends_a_block() -> None:
    assert markdown_block(["a", "```", "\x1b"]) == ["````text", "a", "```", r"\x1b", "````"]
    assert markdown_block([]) == ["```text", "```"]
