"""What stays on screen while a file is looked at again."""

from typing import Any

from hlo_lsp.lsp.checking import PublishedDiagnostics

LINES = ["a", "b", "c", "d"]


def found(code: str, line: int) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    return {"code": code, "range": {"start": place, "end": dict(place, character=1)}}


def published(*lines: int) -> PublishedDiagnostics:
    one = PublishedDiagnostics()
    one.complete([found("x", line) for line in lines], LINES)
    return one


def left(
    one: PublishedDiagnostics, lines: list[str], pending: frozenset[str] = frozenset("x")
) -> list[int]:
    return [int(each["range"]["end"]["line"]) for each in one.still_valid(pending, lines)]


def test_what_is_in_front_of_an_edit_stays() -> None:
    assert left(published(0, 1), ["a", "b", "new", "c", "d"]) == [0, 1]


def test_what_is_behind_an_edit_moves_with_its_line() -> None:
    assert left(published(2, 3), ["a", "b", "new", "c", "d"]) == [3, 4]
    assert left(published(2, 3), ["a", "c", "d"]) == [1, 2]


def test_what_was_edited_goes() -> None:
    assert left(published(1), ["a", "B", "c", "d"]) == []
    assert left(published(3), ["a"]) == []


def test_what_its_rule_has_looked_at_goes() -> None:
    assert left(published(1), LINES, frozenset("y")) == []


def test_nothing_is_left_out_that_nobody_has_looked_at() -> None:
    assert [one["code"] for one in published(1).still_valid(None, LINES)] == ["x"]
