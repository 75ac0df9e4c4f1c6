"""Counted nouns, limited lists, and quoted names."""

from hlo_lsp.model.display import count_noun, join_limited, split_quoted_names


def test_count_noun_uses_singular_for_one() -> None:
    counts = [count_noun(count, "step") for count in (0, 1, 2, 1234)]
    assert counts == ["0 steps", "1 step", "2 steps", "1,234 steps"]


def test_limited_list_counts_omitted_items() -> None:
    assert join_limited(["a", "b"], 2) == "a, b"
    assert join_limited(["a", "b", "c"], 2) == "a, b and 1 more"
    assert join_limited([str(number) for number in range(2000)], 1) == "0 and 1,999 more"
    assert join_limited([], 3) == ""


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
