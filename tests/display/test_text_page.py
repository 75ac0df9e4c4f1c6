"""Markdown as text with links."""

from hlo_lsp.display.text_page import text_page
from hlo_lsp.text.inert import markdown_link, markdown_row, markdown_text

NAME = "params['layers'][0]['kernel'].value"


def table(*rows: tuple[str, str]) -> str:
    lines = [markdown_row("Name", "Bytes"), "|---|---:|"]
    return "\n".join([*lines, *(markdown_row(*row) for row in rows)])


def test_tables_are_aligned() -> None:
    rows = table(("`a`", "1\N{NO-BREAK SPACE}B"), ("bcd", "12 B"))
    page = text_page(f"# Memory of `f`\n\n{rows}", 40)
    title, blank, *lines = page.lines
    assert (title, blank) == ("Memory of f", "")
    assert [line.split() for line in (lines[0], *lines[2:])] == [
        ["Name", "Bytes"],
        ["a", "1", "B"],
        ["bcd", "12", "B"],
    ]
    assert len(lines[2]) == len(lines[3])


def test_link_with_brackets_is_text_with_place() -> None:
    link = markdown_link(markdown_text(f"argument `{NAME}`"), "file:///d%20e/f.txt#L7")
    page = text_page(table((link, "1.0 KiB")), 100)
    (found,) = page.links
    row = page.lines[found.line]
    assert row == f" argument {NAME}  1.0 KiB"
    assert row[found.start : found.end] == f"argument {NAME}"
    assert found.uri == "file:///d%20e/f.txt#L7"


def test_link_in_two_lines_is_one_in_each() -> None:
    link = markdown_link(markdown_text(f"argument `{NAME}`"), "file:///f.txt#L7")
    page = text_page(table((link, "1.0 KiB")), 40)
    texts = [page.lines[one.line][one.start : one.end] for one in page.links]
    assert [one.uri for one in page.links] == ["file:///f.txt#L7"] * len(texts)
    assert "".join(texts).replace(" ", "") == f"argument{NAME}"


def test_narrow_page_divides_no_numbers() -> None:
    size = "1,024.0\N{NO-BREAK SPACE}KiB"
    rows = table((f"`{NAME}`", size))
    page = text_page(f"{rows}\n\n{'word ' * 6}peak 1,024.0 KiB.", 36)
    assert max(map(len, page.lines)) <= 36
    assert page.text.count("1,024.0 KiB") == 2
