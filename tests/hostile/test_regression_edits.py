"""Tests for results after edits that once differed from those of a fresh server."""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest

from hostile.asking import change_text, close_text, cursors, open_text, request
from hostile.editor import Editor

_WHOLE = ("diagnostic", "documentSymbol", "semanticTokens/full", "foldingRange", "codeLens")
_AT_CURSOR = ("hover", "definition", "documentHighlight")
_CURSORS = 5


@pytest.fixture(scope="module")
def editors() -> Iterator[tuple[Editor, Editor]]:
    both = Editor(), Editor()
    yield both
    for editor in both:
        editor.close()


_ENTRY = "<{0} {1} @0>\n positions:\n  {1}\n uses:\n from instruction: %{1} = u32[] {2}\n"
_ENTRIES = "".join(
    [_ENTRY.format(17, "t", "after-all()"), _ENTRY.format(16, "r", "after-all()"),
     _ENTRY.format(19, "s", "send(%x, %t)")]
)  # fmt: skip
# Shortened from real dumps for which the results differed.
REGRESSIONS = {
    "another entry of an instruction before the first": [
        _ENTRIES, _ENTRY.format(20, "s", "send(%x,)") + _ENTRIES
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regression_edits_equal_fresh_results(editors: tuple[Editor, Editor], name: str) -> None:
    assert_fresh_results(editors, f"untitled:{name}", REGRESSIONS[name])


def assert_fresh_results(editors: tuple[Editor, Editor], uri: str, versions: Sequence[str]) -> None:
    """Open the first version, edit it into each next one, and compare with a fresh server."""
    edited, fresh = editors
    open_text(edited, uri, versions[0])
    for before, after in pairwise(versions):
        for method in _WHOLE:
            request(edited, method, uri)
        change_text(edited, uri, before, after)
    open_text(fresh, uri, versions[-1])
    for method in _WHOLE:
        assert request(edited, method, uri) == request(fresh, method, uri), method
    rng = random.Random(uri)
    for cursor in cursors(rng, versions[-1], _CURSORS):
        for method in _AT_CURSOR:
            found, expected = (request(one, method, uri, position=cursor) for one in editors)
            assert found == expected, (method, cursor)
    for editor in editors:
        close_text(editor, uri)
