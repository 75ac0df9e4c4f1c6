"""Cards as Markdown that shows what it says, and as plain text."""

import re

import pytest
from markdown_it import MarkdownIt

from hlo_lsp.analysis.cards.card import Card, Fact
from hlo_lsp.features.markup import markdown, plain, source_uri
from hlo_lsp.model.source import SourceLine

CARD = Card(
    "`fusion.40{0}`",
    (
        Fact("value", "328, leaf {0} of `fusion.40`"),
        Fact("padded", "512 B: padded to T(8,128)"),
    ),
    "A closing sentence about `S(1)`.",
)


def rendered(text: str) -> tuple[str, list[str]]:
    """What a reader of CommonMark sees: the text without its signs, and where links lead."""
    seen: list[str] = []
    links: list[str] = []
    reader = MarkdownIt("commonmark")
    reader.validateLink = lambda _: True  # it would show links to files as text
    for token in reader.parse(text):
        for child in token.children or ():
            if child.type in {"text", "code_inline"}:
                seen.append(child.content)
            elif child.type == "link_open":
                links.append(str(child.attrs["href"]))
        if token.type == "inline":
            seen.append("\n")
    return "".join(seen), links


def _sourced(file: str, function: str | None = None) -> Card:
    source = SourceLine(file, 7, function)
    words = f"{source} in {function}" if function else str(source)
    return Card("title", (Fact("source", words, source),))


def test_markdown_shows_title_facts_and_text() -> None:
    assert rendered(markdown(CARD))[0] == (
        "fusion.40{0}\n"
        "value 328, leaf {0} of fusion.40\n"
        "padded 512 B: padded to T(8,128)\n"
        "A closing sentence about S(1).\n"
    )


def test_plain_text_has_its_facts_in_columns_and_no_backticks() -> None:
    assert plain(CARD) == (
        "fusion.40{0}\n"
        "value   328, leaf {0} of fusion.40\n"
        "padded  512 B: padded to T(8,128)\n"
        "A closing sentence about S(1)."
    )


def test_a_card_may_be_a_title_alone() -> None:
    assert rendered(markdown(Card("`x`"))) == ("x\n", [])
    assert plain(Card("`x`")) == "x"


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("/home/user/model.py", "file:///home/user/model.py#L7"),
        ("/home/user/my model.py", "file:///home/user/my%20model.py#L7"),
        ("/home/é/模型.py", "file:///home/%C3%A9/%E6%A8%A1%E5%9E%8B.py#L7"),
        ("/tmp/a#b?c%d.py", "file:///tmp/a%23b%3Fc%25d.py#L7"),
        (r"C:\Users\me\model.py", "file:///C%3A/Users/me/model.py#L7"),
        ("d:/work/model.py", "file:///d%3A/work/model.py#L7"),
        ("model.py", None),
        ("<stdin>", None),
        ("<ipython-input-3-0>", None),
        ("", None),
    ],
)
def test_absolute_paths_are_links(file: str, uri: str | None) -> None:
    assert source_uri(SourceLine(file, 7)) == uri


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
def test_a_link_shows_the_path_as_it_is(file: str) -> None:
    text, links = rendered(markdown(_sourced(file)))
    assert text == f"title\nsource {file}:7\n"
    assert links == [source_uri(SourceLine(file, 7))]


@pytest.mark.parametrize(
    "function",
    ["train", "__init__", "model.<locals>.f.<locals>.<lambda>", "<module>", "a*b*c", "f[int]"],
)
def test_names_of_python_functions_are_shown_whole(function: str) -> None:
    text, _ = rendered(markdown(_sourced("/m.py", function)))
    assert text == f"title\nsource /m.py:7 in {function}\n"


@pytest.mark.parametrize("file", ["<stdin>", "<string>", "__main__.py", "model.py"])
def test_files_without_a_link_are_shown_whole(file: str) -> None:
    assert rendered(markdown(_sourced(file))) == (f"title\nsource {file}:7\n", [])


@pytest.mark.parametrize("name", ["a`b", "jit(f)/*x*/_y_", "<b>", "[a](b)", "a|b", r"a\b", "&lt;"])
def test_names_between_backticks_are_shown_whole(name: str) -> None:
    card = Card("title", (Fact("op_name", f"`{name}`"),))
    assert rendered(markdown(card))[0] == f"title\nop_name {name}\n"


def test_plain_text_has_paths_and_no_links() -> None:
    shown = plain(_sourced("/home/user/my model.py", "f.<locals>.<lambda>"))
    assert shown == "title\nsource  /home/user/my model.py:7 in f.<locals>.<lambda>"
    assert not re.search(r"[\[\]`]|file:", shown)


def test_signs_of_markdown_in_a_sentence_are_shown() -> None:
    words = "padded to T(*,128)(*,1), 2 * 3 <= 7, a_b_ and [1](2)"
    card = Card("x", (Fact("padded", words),), words)
    assert rendered(markdown(card))[0] == f"x\npadded {words}\n{words}\n"
