"""Documents and their edits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.text.document import Document, LineChange, changed_parts
from text import reference_text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_in_the_protocol(end: str) -> None:
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
def test_text_keeps_its_line_ends(text: str) -> None:
    assert Document(text).text == text


def test_given_lines_are_joined_by_newlines() -> None:
    document = Document.from_lines(["a", "b", ""])
    assert document.text == "a\nb\n"


def test_edit_within_a_line_changes_that_line() -> None:
    document = Document("one\ntwo\nthree")
    assert document.edit((1, 1), (1, 2), "W!") == LineChange(1, 1, 1)
    assert document.lines == ["one", "tW!o", "three"]


def test_edit_over_lines_joins_them() -> None:
    document = Document("one\ntwo\nthree\nfour")
    assert document.edit((0, 2), (2, 3), "") == LineChange(0, 3, 1)
    assert document.lines == ["onee", "four"]


def test_edit_with_line_ends_splits_a_line() -> None:
    document = Document("one\ntwo")
    assert document.edit((0, 1), (0, 1), "x\ny\n") == LineChange(0, 1, 3)
    assert document.lines == ["ox", "y", "ne", "two"]


def test_replacing_all_returns_the_old_line_count() -> None:
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
def test_position_outside_counts_as_the_nearest(
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


# Mostly line ends, as these are the difficult cases.
_TEXTS = st.text(
    st.one_of(st.sampled_from("\r\na"), st.sampled_from("\r\nb\x0b\u2028│𝔸")), max_size=8
)
# Edits as offsets; negative offsets and those after the end mean positions outside.
_EDITS = st.lists(st.tuples(st.integers(-1, 9), st.integers(0, 3), _TEXTS), max_size=5)
_ANY_NUMBER_OF_TIMES = settings(max_examples=200, deadline=None, derandomize=True)

Edit = tuple[int, int, str]


def _positions(text: str, edit: Edit) -> tuple[tuple[int, int], tuple[int, int], str]:
    start, length, new = edit
    return reference_text.position(text, start), reference_text.position(text, start + length), new


def _only_what_it_says(old: list[str], change: LineChange, new: list[str]) -> bool:
    """Return True if two texts are equal outside of a change."""
    return (
        old[: change.first] == new[: change.first]
        and old[change.first + change.old_count :] == new[change.first + change.new_count :]
        and len(new) - len(old) == change.new_count - change.old_count
    )


@_ANY_NUMBER_OF_TIMES
@given(_TEXTS, _EDITS)
def test_edits_match_string_edits(text: str, edits: list[Edit]) -> None:
    document = Document(text)
    for edit in edits:
        where = _positions(text, edit)
        text = reference_text.edit(text, *where)
        document.edit(*where)
        assert document.text == text
        assert document.lines == reference_text.split(text)


@_ANY_NUMBER_OF_TIMES
@given(_TEXTS, _EDITS)
def test_single_and_combined_changes_cover_edited_lines(text: str, edits: list[Edit]) -> None:
    document = Document(text)
    first = list(document.lines)
    together: LineChange | None = None
    for edit in edits:
        before = list(document.lines)
        change = document.edit(*_positions(document.text, edit))
        assert _only_what_it_says(before, change, document.lines)
        together = change if together is None else together.then(change)
        assert _only_what_it_says(first, together, document.lines)


@_ANY_NUMBER_OF_TIMES
@given(_TEXTS, _TEXTS)
def test_replaced_text_is_the_new_one(old: str, new: str) -> None:
    document = Document(old)
    change = document.replace(new)
    assert change == LineChange(0, len(reference_text.split(old)), len(reference_text.split(new)))
    assert (document.text, document.lines) == (new, reference_text.split(new))


def test_distant_changes_cover_lines_between() -> None:
    assert LineChange(10, 1, 3).then(LineChange(2, 1, 0)) == LineChange(2, 9, 10)
    assert LineChange(2, 1, 0).then(LineChange(10, 2, 2)) == LineChange(2, 11, 10)


def test_change_inside_new_lines_adds_nothing() -> None:
    assert LineChange(4, 1, 5).then(LineChange(6, 2, 1)) == LineChange(4, 1, 4)


@given(st.text("ab"), st.text("ab"), st.sampled_from([(1,), (3, 1)]))
def test_text_around_changed_parts_is_equal(old: str, new: str, sizes: tuple[int, ...]) -> None:
    start, old_end, new_end = changed_parts(old, new, *sizes)
    assert start <= min(old_end, new_end)
    assert old[:start] == new[:start]
    assert old[old_end:] == new[new_end:]
    if start < min(old_end, new_end):
        assert old[start] != new[start]
        assert old[old_end - 1] != new[new_end - 1]
