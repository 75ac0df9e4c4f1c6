"""Fuzzy search: matches and scores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.symbol_search import NameTable, SymbolQuery

LETTERS = st.text("abAB._1 {", max_size=6)


def found(names: list[str], typed: str, number: int = -1) -> list[str]:
    """Return the matches of an expression, by default the last one, which finds all names."""
    query = SymbolQuery.of(typed)
    table = NameTable(names)
    if not query.expressions:
        return []
    hits = list(table.find(query.expressions[number], is_case_sensitive=query.is_case_sensitive))
    assert [length for length, _ in hits] == [len(table[table.number(p)]) for _, p in hits]
    return [table[table.number(place)] for _, place in hits]


def best_first(typed: str, *names: str) -> list[str]:
    query = SymbolQuery.of(typed)
    return sorted(names, key=lambda name: (-query.score(name), len(name)))


def test_letters_in_order_are_found() -> None:
    names = ["fusion.40", "f", "fused.4.0", "suf40", "fus", "fusion.4"]
    assert found(names, "fus40") == ["fusion.40", "fused.4.0"]
    assert found(names, "fus40", 0) == []
    assert found(names, "us", 0) == []
    assert found(names, "us", 1) == ["fusion.40", "fused.4.0", "fus", "fusion.4"]
    assert found(names, "fus", 0) == ["fusion.40", "fused.4.0", "fus", "fusion.4"]


def test_signs_of_expressions_are_letters_like_others() -> None:
    names = ["fusion.3{0}", "a^b", "a-b", "a]b", "a\\b", "axb"]
    assert found(names, "3{0}", 1) == ["fusion.3{0}"]
    for name in names[1:]:
        assert name in found(names, name)
    assert found(names, "a.b") == []


def test_case_counts_where_there_is_a_capital() -> None:
    names = ["Arg_0.1", "arg_0.1"]
    assert found(names, "arg") == names
    assert found(names, "Arg") == ["Arg_0.1"]
    assert found(names, "ARG") == []


def test_blanks_count_for_nothing() -> None:
    assert found(["while_body.3"], " while bod ") == ["while_body.3"]
    assert found(["while_body.3"], "   ") == []


def test_letters_that_change_their_number_with_their_case() -> None:
    assert found(["İx", "abc"], "abc") == ["abc"]
    assert SymbolQuery.of("x").score("aİ.x") == SymbolQuery.of("x").score("ai.x") == 6


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("fus40", ["fusion.40", "fusion.400", "fusion.140", "fused_subcomputation.4.10"]),
        ("train.py:212", ["train.py:212", "train.py:2120", "pretrain.py:212"]),
        ("while bod", ["while_body", "while_body.1", "while_cond_abod"]),
        ("jit_step", ["jit_step", "jit_step.1", "my_jit_step", "jit_first_step"]),
        ("cd", ["cd", "copy-done", "acd", "macadam"]),
        ("wb", ["while_body", "sweb"]),
        ("add", ["add", "add.1", "add_add", "broadcast_add", "madder"]),
    ],
)
def test_better_names_come_first(typed: str, names: list[str]) -> None:
    assert best_first(typed, *reversed(names)) == names


@given(st.lists(LETTERS), LETTERS)
def test_name_matches_iff_it_contains_the_letters(names: list[str], typed: str) -> None:
    query = SymbolQuery.of(typed)

    def holds(name: str) -> bool:
        letters = iter(name if query.is_case_sensitive else name.lower())
        return all(letter in letters for letter in query.text)

    if query.text:
        assert found(names, typed) == [name for name in names if holds(name)]
        assert all((query.score(name) > -1000) == holds(name) for name in names)


@given(LETTERS, LETTERS)
def test_score_is_that_of_the_best_alignment(name: str, typed: str) -> None:
    query = SymbolQuery.of(typed)

    def points(wanted: int, before: int) -> float:
        """Return the best score of the letters from ``wanted`` after the position ``before``."""
        if wanted == len(query.text):
            return 0
        best = -(10.0**6)
        for place in range(before + 1, len(name)):
            if (name if query.is_case_sensitive else name.lower())[place] != query.text[wanted]:
                continue
            gap = place - before - 1 if wanted else 0
            follows = wanted and not gap
            own = 7 if follows else begins(place) - min(gap, 5)
            best = max(best, own + points(wanted + 1, place))
        return best

    def begins(place: int) -> int:
        if place == 0:
            return 10
        before, letter = name[place - 1], name[place]
        word = letter.isalnum() and not before.isalnum()
        turn = letter.isdigit() != before.isdigit() or (letter.isupper() and before.islower())
        return 6 if word or turn else 0

    expected = points(0, -1)
    if query.text and expected > -1000:
        whole = query.text == (name if query.is_case_sensitive else name.lower())
        assert query.score(name) == expected + 20 * whole
