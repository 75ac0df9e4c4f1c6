"""Names with characters that a format interprets."""

import csv
import io
import json

import pytest
from markdown_it import MarkdownIt

from hlo_lsp.text.inert import (
    csv_text,
    escape_markdown,
    html_text,
    json_text,
    markdown_block,
    markdown_code,
    markdown_lines,
    markdown_link,
    markdown_link_text,
    markdown_row,
    markdown_text,
    printable,
    printable_lines,
    sarif_text,
    script_json,
    split_quoted_names,
    without_commands,
    workflow_command,
)

# What char.IsWhiteSpace of .NET is true for, and characters that its comparisons ignore.
_BLANKS = [
    *map(chr, (0x09, 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)),
    *map(chr, (0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029)),
    *map(chr, (0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFE0F, 0xFEFF, 0xE0020)),
]


@pytest.mark.parametrize("blank", _BLANKS, ids=lambda blank: f"{ord(blank):x}")
def test_no_blank_hides_workflow_commands(blank: str) -> None:
    assert without_commands(f"{blank}::error::x") == f"{blank}:\\x3aerror::x"
    assert without_commands(f"{blank} ::error::x") == f"{blank} :\\x3aerror::x"


def test_hidden_character_does_not_hide_commands() -> None:
    assert without_commands(":\u200b:error::x") == ":\u200b\\x3aerror::x"
    assert without_commands("a\r::error::x") == "a\r:\\x3aerror::x"


@pytest.mark.parametrize("command", ["##[error]", "##vso[task]", "##teamcity[x]", "#\u200d#[x]"])
def test_bracket_commands_are_escaped_anywhere(command: str) -> None:
    assert without_commands(f"a {command} b") == f"a {command.replace('[', chr(92) + 'x5b')} b"


def test_colons_inside_of_lines_stay() -> None:
    text = "a ::error::\n# [x] ## x\n std::vector[0]"
    assert without_commands(text) == text


def test_line_ends_stay_only_between_lines() -> None:
    assert printable("a\n::b\r\x1b\u2028\u202e\tc") == r"a\n::b\r\x1b\u2028\u202e" + "\tc"
    assert printable_lines("a\n ::b\r") == "a\n :\\x3ab\\r"


def test_joiners_stay_in_words() -> None:
    word = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u2764\ufe0f"
    assert printable(word) == word


def test_quoted_names_are_split_from_text() -> None:
    assert list(split_quoted_names("1: `a.1`, `b`")) == [
        (False, "1: "),
        (True, "a.1"),
        (False, ", "),
        (True, "b"),
    ]
    assert list(split_quoted_names("`a` (`b`)")) == [
        (True, "a"),
        (False, " ("),
        (True, "b"),
        (False, ")"),
    ]
    assert list(split_quoted_names("no names")) == [(False, "no names")]
    assert list(split_quoted_names("")) == []


def test_backtick_inside_word_is_literal() -> None:
    text = "/home/o`brien/a`b.py:7"
    assert list(split_quoted_names(text)) == [(False, text)]


@pytest.mark.parametrize(
    "text",
    [
        "<b>x</b>", "[x](command:y)", "![x](https://y)", "*x*", "_x_", "~~x~~", "&lt;", r"a\\*b",
        "`x](y)", "$x$", "https://x.y", "www.x.y", "a@b.c", "a_b_c", "/home/~me/a.py:3",
        "# x", "- x", "+ x", "* x", "> x", "1. x", "2) x", "===", "---", "- - -",
        "[x]: y", "[x][y]", "f32[8](x)", "a [b](c) d", "\\", "\\[x", "a <", "a * b *c*", "&x",
    ],
)  # fmt: skip
def test_text_is_shown_as_it_is(text: str) -> None:
    [_, inline, _] = MarkdownIt("commonmark").enable("strikethrough").parse(markdown_text(text))
    assert inline.children is not None
    assert {child.type for child in inline.children} <= {"text", "text_special", "code_inline"}
    assert "".join(child.content for child in inline.children) == text


@pytest.mark.parametrize("text", ["$x$", "https://x.y", "www.x.y", "a@b.c"])
def test_formulas_and_bare_addresses_are_escaped(text: str) -> None:
    assert "\\" in markdown_text(text)


def test_shapes_are_code_in_markdown() -> None:
    assert markdown_text("is (f32[8,128]{1,0:T(8,128)}, s32[]).") == (
        "is (`f32[8,128]{1,0:T(8,128)}`, `s32[]`)."
    )


@pytest.mark.parametrize("text", [r"C:\dump", "a < b", "2 * 3", "x & y", "a [b c", "8 KiB"])
def test_literal_signs_have_no_backslashes(text: str) -> None:
    assert markdown_text(text) == text


@pytest.mark.parametrize("text", ["a]b", "[a", "f32[8]", "![a](b)", "`x[0]` [y]"])
def test_link_text_is_shown_as_it_is(text: str) -> None:
    link = markdown_link(markdown_link_text(text), "https://z")
    [_, inline, _] = MarkdownIt("commonmark").parse(link)
    first, *parts, last = inline.children or []
    assert (first.type, last.type) == ("link_open", "link_close")
    assert "".join(part.content for part in parts) == text.replace("`", "")


def test_quoted_names_are_code_in_markdown() -> None:
    assert markdown_text("value of `a_b{0}` *") == "value of `a_b{0}` \\*"
    assert markdown_code("a``b") == "``` a``b ```"


def test_cells_stay_in_their_row() -> None:
    assert markdown_row("a|b", "c\nd") == "| a\\|b | c d |"


def test_no_line_ends_its_code_block() -> None:
    assert markdown_block(["a", "```", "\x1b"]) == ["````text", "a", "```", r"\x1b", "````"]
    assert markdown_block([]) == ["```text", "```"]


def test_lines_of_markdown_have_no_lists() -> None:
    assert markdown_lines("- a\n*b*") == "\\- a\n\\*b\\*"


def test_line_end_in_name_stays_in_line() -> None:
    for shown in (markdown_text("`a\n# b`"), markdown_code("a\n# b"), escape_markdown("a\n# b")):
        assert "\n" not in shown


def test_bar_after_backslash_does_not_end_code() -> None:
    assert markdown_row(markdown_code(r"a\|b"), markdown_text(r"a\|b")) == (
        r"| `a\\x7cb` | a\\\|b |"
    )


def test_link_target_does_not_end_early() -> None:
    assert markdown_link("a", "file:///a) (b>#L1") == "[a](file:///a%29%20%28b%3E#L1)"
    assert markdown_link("a", None) == "a"


def test_html_text_has_no_elements() -> None:
    assert html_text('<b a="\'">\x1b') == r"&lt;b a=&quot;&#x27;&quot;&gt;\x1b"


def test_json_strings_are_exact_and_inert() -> None:
    names = ["##[x]", "###[x]", "\x7f\x1b\u202e", "::error::\n"]
    text = json_text(names)
    assert json.loads(text) == names
    assert without_commands(text) == text
    assert text.isprintable()
    assert "<" not in script_json({"a": "</script>"})


def test_cells_are_not_formulas() -> None:
    row = ["=1+1", "+1", "-1", "@a", "\uff1d1", "\uff20a", "a,b", "x"]
    assert list(csv.reader(io.StringIO(csv_text([row])))) == [
        ["'=1+1", "'+1", "'-1", "'@a", "'\uff1d1", "'\uff20a", *row[6:]]
    ]


def test_workflow_command_has_one_message() -> None:
    found = workflow_command("error", {"file": "a,b:c%.txt"}, "5 %\n::error::x")
    assert found == r"::error file=a%2Cb%3Ac%25.txt::5 %25\n::error::x"


def test_sarif_text_has_no_links() -> None:
    assert sarif_text("[x](https://y) {0} f32[8]") == r"[x\](https://y) {{0}} f32[8]"
