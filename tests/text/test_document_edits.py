"""Random edit sequences, compared with edits of a string."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.text.document import Document, LineChange
from text import reference_text

# Mostly line ends, as these are the difficult cases.
_TEXTS = st.text(
    st.one_of(st.sampled_from("\r\na"), st.sampled_from("\r\nb\x0b\u2028│𝔸")), max_size=8
)
# Edits as offsets; negative offsets and those after the end mean positions outside.
_EDITS = st.lists(st.tuples(st.integers(-1, 9), st.integers(0, 3), _TEXTS), max_size=5)
_ANY_NUMBER_OF_TIMES = settings(max_examples=1000, deadline=None, derandomize=True)

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
def test_a_replaced_text_is_the_new_one(old: str, new: str) -> None:
    document = Document(old)
    change = document.replace(new)
    assert change == LineChange(0, len(reference_text.split(old)), len(reference_text.split(new)))
    assert (document.text, document.lines) == (new, reference_text.split(new))


def test_distant_changes_cover_lines_between() -> None:
    assert LineChange(10, 1, 3).then(LineChange(2, 1, 0)) == LineChange(2, 9, 10)
    assert LineChange(2, 1, 0).then(LineChange(10, 2, 2)) == LineChange(2, 11, 10)


def test_change_inside_new_lines_adds_nothing() -> None:
    assert LineChange(4, 1, 5).then(LineChange(6, 2, 1)) == LineChange(4, 1, 4)
