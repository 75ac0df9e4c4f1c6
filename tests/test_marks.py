import pytest

from marks import Mark, mark


def test_marks_are_removed_and_named() -> None:
    marked = mark(
        """
        allocation 0: size 512, preallocated-temp:
                   ^ number
                           ^^^ size
         value: <1 add @0> (size=512,offset=0): f32[8]
                ^^^^^^^^^^ name      ^^^^^^^^ offset
        """
    )
    assert marked.lines == [
        "allocation 0: size 512, preallocated-temp:",
        " value: <1 add @0> (size=512,offset=0): f32[8]",
        "",
    ]
    assert marked.marks == {
        "number": Mark(0, 11, 12),
        "size": Mark(0, 19, 22),
        "name": Mark(1, 8, 18),
        "offset": Mark(1, 29, 37),
    }
    texts = {name: marked.lines[m.line][m.start : m.end] for name, m in marked.marks.items()}
    assert texts == {"number": "0", "size": "512", "name": "<1 add @0>", "offset": "offset=0"}


def test_closing_quotes_set_the_indentation() -> None:
    assert mark("\n     value: x\n\n    ").text == " value: x\n\n"


def test_one_line_is_kept_unchanged() -> None:
    assert mark("  uses:").text == "  uses:"
    assert mark("ab\n ^ b").marks == {"b": Mark(0, 1, 2)}


def test_mark_after_the_line_is_empty() -> None:
    assert mark("ab\n  ^ end")["end"] == Mark(0, 2, 2)
    assert mark("ab\n ^^^ b")["b"] == Mark(0, 1, 2)
    assert mark("ab\n  ^ end")["end"].position == (0, 2)


def test_columns_count_code_points() -> None:
    assert mark("│𝔸b\n  ^ b")["b"] == Mark(0, 2, 3)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("^ a\ntext", id="no line above"),
        pytest.param("ab\n   ^ c", id="after the end"),
        pytest.param("ab\n^", id="no name"),
        pytest.param("ab\n^ a text", id="other text"),
        pytest.param("ab\n^ a\n ^ a", id="twice"),
        pytest.param("\n  ab", id="no closing line"),
        pytest.param("\nab\n  ", id="left of the closing quotes"),
    ],
)
def test_invalid_marks_raise_an_error(block: str) -> None:
    with pytest.raises(ValueError, match=r"mark|line"):
        mark(block)
