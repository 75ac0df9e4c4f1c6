"""Numbers with nouns, and lists that are cut."""

from hlo_lsp.model.card import count_noun, join_limited, split_quoted_names


def test_one_is_singular_and_all_others_plural() -> None:
    counts = [count_noun(count, "step") for count in (0, 1, 2, 1234)]
    assert counts == ["0 steps", "1 step", "2 steps", "1,234 steps"]


def test_a_list_says_how_many_it_leaves_out() -> None:
    assert join_limited(["a", "b"], 2) == "a, b"
    assert join_limited(["a", "b", "c"], 2) == "a, b and 1 more"
    assert join_limited([str(number) for number in range(2000)], 1) == "0 and 1,999 more"
    assert join_limited([], 3) == ""


def test_names_are_told_from_words() -> None:
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


def test_a_backtick_inside_of_a_word_is_itself() -> None:
    text = "/home/o`brien/a`b.py:7"
    assert list(split_quoted_names(text)) == [(False, text)]
