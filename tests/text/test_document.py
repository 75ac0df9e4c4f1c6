import pytest

from hlo_lsp.text.document import Document, LineChange


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_the_protocol_says(end: str) -> None:
    assert Document(f"a{end}{end}b").lines == ["a", "", "b"]
    assert Document(f"a{end}").lines == ["a", ""]


@pytest.mark.parametrize(
    "sign", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_nothing_else_ends_a_line(sign: str) -> None:
    assert Document(f"a{sign}b\nc").lines == [f"a{sign}b", "c"]
    assert Document(f"a{sign}b\r\nc").lines == [f"a{sign}b", "c"]


def test_there_is_always_a_line() -> None:
    assert Document().lines == [""]
    assert Document.from_lines([]).lines == [""]
    document = Document("a\nb")
    assert document.edit((0, 0), (9, 0), "") == LineChange(0, 2, 1)
    assert document.lines == [""]


@pytest.mark.parametrize("text", ["a\r\nb\rc\nd", "", "\r", "\n\r", "\r\n", "\r\r\n\n"])
def test_the_text_keeps_its_line_ends(text: str) -> None:
    assert Document(text).text == text


def test_given_lines_are_joined_by_newlines() -> None:
    document = Document.from_lines(["a", "b", ""])
    assert document.text == "a\nb\n"


def test_an_edit_within_a_line_changes_that_line() -> None:
    document = Document("one\ntwo\nthree")
    assert document.edit((1, 1), (1, 2), "W!") == LineChange(1, 1, 1)
    assert document.lines == ["one", "tW!o", "three"]


def test_an_edit_over_lines_joins_them() -> None:
    document = Document("one\ntwo\nthree\nfour")
    assert document.edit((0, 2), (2, 3), "") == LineChange(0, 3, 1)
    assert document.lines == ["onee", "four"]


def test_an_edit_with_line_ends_splits_a_line() -> None:
    document = Document("one\ntwo")
    assert document.edit((0, 1), (0, 1), "x\ny\n") == LineChange(0, 1, 3)
    assert document.lines == ["ox", "y", "ne", "two"]


def test_replacing_all_says_how_many_lines_there_were() -> None:
    document = Document("a\nb\nc")
    assert document.replace("d\r\ne") == LineChange(0, 3, 2)
    assert document.text == "d\r\ne"


@pytest.mark.parametrize(
    ("position", "clamped"),
    [
        ((0, 1), (0, 1)),
        ((0, 99), (0, 3)),
        ((0, -1), (0, 0)),
        ((-1, 2), (0, 0)),
        ((1, 5), (1, 2)),
        ((2, 0), (1, 2)),
        ((99, 99), (1, 2)),
    ],
)
def test_a_position_outside_counts_as_the_nearest(
    position: tuple[int, int], clamped: tuple[int, int]
) -> None:
    assert Document("abc\nde").clamp(*position) == clamped


def test_end_before_start_inserts_at_start() -> None:
    document = Document("abc\ndef")
    document.edit((1, 1), (0, 1), "-")
    assert document.text == "abc\nd-ef"


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        pytest.param("a\rb", ((1, 0), (1, 0), "\n"), ["a", "b"], id="newline behind a return"),
        pytest.param("a\nb", ((0, 1), (0, 1), "\r"), ["a", "b"], id="return before a newline"),
        pytest.param("a\rx\nb", ((1, 0), (1, 1), ""), ["a", "b"], id="what stood between is gone"),
        pytest.param("a\rx\ny\nb", ((1, 0), (2, 1), ""), ["a", "b"], id="two lines between gone"),
        pytest.param("a\r\nb", ((0, 1), (0, 1), "\n"), ["a", "", "b"], id="newline before a pair"),
        pytest.param("a\r\nb", ((1, 0), (1, 0), "\n"), ["a", "", "b"], id="newline behind a pair"),
        pytest.param("a\r\nb", ((0, 1), (1, 0), "\r"), ["a", "b"], id="a pair becomes a return"),
        pytest.param("a\rx\nb", ((1, 0), (1, 1), "\r"), ["a", "", "b"], id="a return between"),
    ],
)
def test_adjacent_return_and_newline_form_one_line_end(
    text: str, edit: tuple[tuple[int, int], tuple[int, int], str], expected: list[str]
) -> None:
    document = Document(text)
    document.edit(*edit)
    assert document.lines == expected
    assert document.lines == Document(document.text).lines
