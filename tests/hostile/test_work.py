"""Tests for the work of every request, for some pathological texts.

``test_growth.py`` measures the time for all pathological texts.
"""

from collections.abc import Iterator

import pytest

from hostile.deep import DEEP
from hostile.editor import Editor
from hostile.wide import WIDE
from hostile.work import count_lines

TEXTS = {
    name: {**DEEP, **WIDE}[name]
    for name in (
        "chain of calls", "diamonds of calls", "chain of loops", "cycle of operands",
        "chain of tuples", "chain of stack frames", "wide branches", "wide called computations",
        "one instruction on many lines", "many callers", "many junk lines", "many open headers",
        "many values", "many positions", "many ranges", "many sections",
        "many entries of a message",
    )
}  # fmt: skip
_SIZES = (10, 30, 90)
_MAX_GROWTH = 1.75  # relative to the growth of the text; that of quadratic work is 3
_NEGLIGIBLE_LINES = 5000


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    editor = Editor()
    yield editor
    editor.close()


@pytest.mark.xdist_group("work of requests")  # one process fills the caches
@pytest.mark.parametrize("name", TEXTS)
def test_work_grows_with_the_text(editor: Editor, name: str) -> None:
    texts = [TEXTS[name](size) for size in _SIZES]
    editor.seconds_per_request(texts[0])  # The first requests import modules and fill caches.
    with count_lines() as counter:
        small, middle, large = (
            editor.cost_per_request(text, lambda: counter.lines) for text in texts
        )
    growth = (len(texts[2]) - len(texts[1])) / (len(texts[1]) - len(texts[0]))
    slow = {
        method: (small[method], middle[method], lines)
        for method, lines in large.items()
        if lines - middle[method] > _NEGLIGIBLE_LINES
        if lines - middle[method] > _MAX_GROWTH * growth * (middle[method] - small[method])
    }
    assert not slow
    assert not editor.errors
