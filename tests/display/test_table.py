"""Tests for tables as text and as Markdown."""

from hlo_lsp.display.table import Link, Table, markdown_blocks, text_lines

TABLE = Table(
    (">bytes", "owner"), [("1,024 B", "`a|b`"), ("7 B", Link("`値` at c.py", "file:///c"))]
)


def test_columns_are_as_wide_as_their_widest_cells() -> None:
    assert list(text_lines(["above", TABLE])) == [
        "above",
        "    bytes  owner",
        "  1,024 B  a|b",
        "      7 B  値 at c.py",
    ]


def test_wide_characters_take_two_columns() -> None:
    table = Table(("name", ">bytes"), [("値", "1 B"), ("abcd", "12 B")], has_titles=False)
    assert list(text_lines([table])) == ["  値     1 B", "  abcd  12 B"]


def test_markdown_has_lists_and_tables() -> None:
    assert list(markdown_blocks(["a_b: 1", "  one", "  two", TABLE])) == [
        *("", "a_b: 1", "", "- one", "- two", ""),
        *("| Bytes | Owner |", "|---:|---|"),
        "| 1,024\N{NO-BREAK SPACE}B | `a\\|b` |",
        "| 7\N{NO-BREAK SPACE}B | [`値` at c.py](file:///c) |",
    ]


def test_table_without_rows_is_empty() -> None:
    assert list(text_lines([Table(("a",), [])])) == []
    assert list(markdown_blocks([Table(("a",), [])])) == [""]
