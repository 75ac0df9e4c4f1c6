"""Lines of text for a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.text.wrapping import line_starts, wrapped_lines


def test_line_ends_between_words() -> None:
    assert list(wrapped_lines("  arguments 1.61 MiB at the peak", 20)) == [
        "  arguments 1.61 MiB",
        "      at the peak",
    ]


def test_long_name_ends_at_slash() -> None:
    assert list(wrapped_lines("jit(train)/transpose(jvp())/dot_general, backward pass", 30)) == [
        "jit(train)/transpose(jvp())/",
        "    dot_general, backward pass",
    ]


def test_name_without_slash_ends_at_another_sign() -> None:
    assert list(wrapped_lines("module_0000.jit_train.after_optimizations.txt", 24)) == [
        "module_0000.jit_train.",
        "    after_optimizations.",
        "    txt",
    ]


def test_size_stays_with_its_unit() -> None:
    assert list(wrapped_lines("arguments 485.12 MiB", 17)) == ["arguments", "    485.12 MiB"]


def test_separator_ends_a_line() -> None:
    lines = wrapped_lines("  a.py:1 2.00 MiB · b.py:2 1.00 MiB", 21)
    assert list(lines) == ["  a.py:1 2.00 MiB ·", "      b.py:2 1.00 MiB"]


def test_entry_of_a_list_stays_on_a_line() -> None:
    lines = wrapped_lines("arguments 1.61 MiB · copies of arguments 1.56 MiB", 36)
    assert list(lines) == ["arguments 1.61 MiB ·", "    copies of arguments 1.56 MiB"]


def test_size_stays_with_the_word_before_it() -> None:
    lines = wrapped_lines("above the peak 8.25 MiB: slots of 27 tuple tables 7.50 MiB", 50)
    assert list(lines) == ["above the peak 8.25 MiB: slots of 27 tuple", "    tables 7.50 MiB"]


def test_short_line_stays() -> None:
    assert list(wrapped_lines("    two words", 13)) == ["    two words"]
    assert list(wrapped_lines("", 10)) == [""]


_TEXTS = st.text(st.sampled_from("ab/._-(), é"), max_size=120)


@given(_TEXTS, st.integers(8, 60))
def test_lines_fit_and_nothing_is_lost(text: str, columns: int) -> None:
    lines = list(wrapped_lines(text, columns))
    assert all(len(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(_TEXTS, st.integers(0, 60))
def test_starts_are_in_order(text: str, columns: int) -> None:
    starts = [0, *line_starts(text, columns)]
    assert starts == sorted(set(starts))
