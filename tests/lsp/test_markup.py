"""Tests for cards as Markdown and as plain text."""

import re
from urllib.parse import quote

import pytest
from markdown_it import MarkdownIt

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.lsp.hover import markdown, plain_text
from hlo_lsp.model.source import SourceLine

CARD = Card(
    "`fusion.40{0}`",
    (Fact("value", "328, leaf {0} of `fusion.40`"), Fact("padded", "512 B: padded to T(8,128)")),
    "A closing sentence about `S(1)`.",
)


def render(text: str) -> tuple[str, list[str]]:
    """Return the text without markup and the targets of links, from a CommonMark parser."""
    texts: list[str] = []
    links: list[str] = []
    reader = MarkdownIt("commonmark")
    setattr(reader, "validateLink", lambda _: True)  # noqa: B010 - CommonMark rejects file links
    for token in reader.parse(text):
        for child in token.children or ():
            if child.type in {"text", "code_inline"}:
                texts.append(child.content)
            elif child.type == "link_open":
                links.append(str(child.attrs["href"]))
        if token.type == "inline":
            texts.append("\n")
    return "".join(texts), links


def local_link(source: SourceLine) -> str:
    """Return a link to a line of a local file."""
    return f"file:///{quote(source.file, safe='')}#L{source.line}"


def missing_link(_: SourceLine) -> None:
    """Return no link, as for a file on another machine."""


def _card_with_source(file: str, function: str | None = None) -> Card:
    source = SourceLine(file, 7, function)
    words = f"{source} in {function}" if function else str(source)
    return Card("title", (Fact("source", words, source),))


def test_markdown_shows_title_facts_and_text() -> None:
    assert render(markdown(CARD, missing_link))[0] == (
        "fusion.40{0}\n"
        "value 328, leaf {0} of fusion.40\n"
        "padded 512 B: padded to T(8,128)\n"
        "A closing sentence about S(1).\n"
    )


def test_plain_text_has_columns_without_backticks() -> None:
    assert plain_text(CARD, missing_link) == (
        "fusion.40{0}\n"
        "value   328, leaf {0} of fusion.40\n"
        "padded  512 B: padded to T(8,128)\n"
        "A closing sentence about S(1)."
    )


def test_card_may_have_only_a_title() -> None:
    assert render(markdown(Card("`x`"), missing_link)) == ("x\n", [])
    assert plain_text(Card("`x`"), missing_link) == "x"


@pytest.mark.parametrize(
    "file",
    [
        "/home/user/model.py",
        "/home/user/my model.py",
        "/home/user/a_b_c/__init__.py",
        "/home/user/[old]/model.py",
        "/home/user/old]/model.py",
        "/home/user/(1)/model.py",
        "/home/user/*new*/model.py",
        "/home/user/a`b`/model.py",
        "/home/user/<tmp>/model.py",
        r"C:\Users\me\[1]\model.py",
        r"C:\Users\_me_\model.py",
    ],
)
def test_link_text_is_the_unchanged_path(file: str) -> None:
    text, links = render(markdown(_card_with_source(file), local_link))
    assert text == f"title\nsource {file}:7\n"
    assert links == [local_link(SourceLine(file, 7))]


@pytest.mark.parametrize(
    "function",
    ["train", "__init__", "model.<locals>.f.<locals>.<lambda>", "<module>", "a*b*c", "f[int]"],
)
def test_python_function_names_are_complete(function: str) -> None:
    text, _ = render(markdown(_card_with_source("/m.py", function), local_link))
    assert text == f"title\nsource /m.py:7 in {function}\n"


@pytest.mark.parametrize("file", ["<stdin>", "<string>", "<ipython-input-3-0>"])
def test_names_of_pseudo_files_are_complete(file: str) -> None:
    assert render(markdown(_card_with_source(file), missing_link)) == (
        f"title\nsource {file}:7\n",
        [],
    )


@pytest.mark.parametrize("file", ["/home/user/model.py", "__main__.py", r"C:\_x_\model.py"])
def test_missing_source_file_has_a_note(file: str) -> None:
    words = f"{file}:7 in f (not on this machine; see hlo.sourceMap)"
    assert render(markdown(_card_with_source(file, "f"), missing_link)) == (
        f"title\nsource {words}\n",
        [],
    )
    assert plain_text(_card_with_source(file, "f"), missing_link) == f"title\nsource  {words}"


STACK = Card(
    "title",
    (
        Fact(
            "source",
            "/a/loss.py:7 in `loss`",
            SourceLine("/a/loss.py", 7, "loss"),
            (
                SourceLine("/a/loss.py", 20, "step"),
                SourceLine("/a/train.py", 3, "main"),
                SourceLine("/a/train.py", 90),
            ),
        ),
        Fact("uses", "1"),
    ),
)


def test_callers_are_listed_below_the_source_line() -> None:
    assert markdown(STACK, lambda source: f"u{source.line}") == (
        "**title**\n\n"
        "- **source** [/a/loss.py:7](u7) in `loss`\n"
        "  - called from [loss.py:20](u20) in `step`\n"
        "  - called from [/a/train.py:3](u3) in `main`\n"
        "  - called from [train.py:90](u90)\n"
        "- **uses** 1"
    )
    assert plain_text(STACK, local_link) == (
        "title\n"
        "source  /a/loss.py:7 in loss\n"
        "          called from loss.py:20 in step\n"
        "          called from /a/train.py:3 in main\n"
        "          called from train.py:90\n"
        "uses    1"
    )


def test_note_on_missing_files_appears_once() -> None:
    note = " (not on this machine; see hlo.sourceMap)"
    assert plain_text(STACK, missing_link).split("\n")[1:-1] == [
        f"source  /a/loss.py:7 in loss{note}",
        "          called from loss.py:20 in step",
        "          called from /a/train.py:3 in main",
        "          called from train.py:90",
    ]


@pytest.mark.parametrize(("frames", "expected_count"), [(5, 5), (6, 4), (100, 4)])
def test_deep_stack_is_truncated(frames: int, expected_count: int) -> None:
    stack = [SourceLine("/m.py", number) for number in range(1, frames + 1)]
    card = Card("title", (Fact("source", str(stack[0]), stack[0], tuple(stack[1:])),))
    lines = plain_text(card, local_link).split("\n")[1:]
    assert lines[1] == "          called from m.py:2"
    assert sum(".py:" in line for line in lines) == expected_count
    assert lines[expected_count:] == (
        [f"          and {frames - expected_count} more callers"] if frames > expected_count else []
    )


def test_callers_of_two_facts_are_listed_once() -> None:
    outer = tuple(SourceLine("/m.py", number) for number in (20, 30))
    first, second, third = (SourceLine("/m.py", number) for number in (1, 2, 3))
    card = Card(
        "title",
        (
            Fact("origin", str(first), first, outer),
            Fact("source", str(second), second, (third, *outer)),
            Fact("other", str(third), third, outer),
        ),
    )
    assert [line.strip() for line in plain_text(card, local_link).split("\n")[1:]] == [
        *("origin  /m.py:1", "called from m.py:20", "called from m.py:30"),
        *("source  /m.py:2", "called from m.py:3", "called as above"),
        *("other   /m.py:3", "called as above"),
    ]


@pytest.mark.parametrize("name", ["a`b", "jit(f)/*x*/_y_", "<b>", "[a](b)", "a|b", r"a\b", "&lt;"])
def test_names_in_backticks_are_complete(name: str) -> None:
    card = Card("title", (Fact("op_name", f"`{name}`"),))
    assert render(markdown(card, missing_link))[0] == f"title\nop_name {name}\n"


def test_plain_text_has_paths_without_links() -> None:
    shown = plain_text(
        _card_with_source("/home/user/my model.py", "f.<locals>.<lambda>"), local_link
    )
    assert shown == "title\nsource  /home/user/my model.py:7 in f.<locals>.<lambda>"
    assert not re.search(r"[\[\]`]|file:", shown)


def test_markdown_characters_in_sentences_are_escaped() -> None:
    words = "padded to T(*,128)(*,1), 2 * 3 <= 7, a_b_ and [1](2)"
    card = Card("x", (Fact("padded", words),), words)
    assert render(markdown(card, missing_link))[0] == f"x\npadded {words}\n{words}\n"
