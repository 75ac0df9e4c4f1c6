"""Tests for lists with a limit, and for numbers with nouns."""

from hlo_lsp.display.phrases import count_noun, join_dotted, join_limited, shortened_change


def test_count_noun_uses_singular_for_one() -> None:
    counts = [count_noun(count, "step") for count in (0, 1, 2, 1234)]
    assert counts == ["0 steps", "1 step", "2 steps", "1,234 steps"]


def test_limited_list_counts_omitted_items() -> None:
    assert join_limited(["a", "b"], 2) == "a, b"
    assert join_limited(["a", "b", "c"], 2) == "a, b and 1 more"
    assert join_limited([str(number) for number in range(2000)], 1) == "0 and 1,999 more"
    assert join_limited([], 3) == ""
    assert join_dotted(["a", "b", "c"], 2) == "a · b · 1 more"


def test_shortened_sides_of_change_differ() -> None:
    same = "f32[8]{0}, " * 10
    change = shortened_change(f"({same}f32[8])", f"({same}f32[16])", 20)
    assert change == "...]{0}, f32[8]) -> ...]{0}, f32[16])"
    assert shortened_change("a" * 60 + "b", "a" * 60, 20) == f"...{'a' * 10}b -> ...{'a' * 10}"
    assert shortened_change("f32[8]", "f32[16]", 20) == "f32[8] -> f32[16]"
