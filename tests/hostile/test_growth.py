"""Tests for the time of every request, which grows at most like n log n with the size of the text.

The measurements take an hour, and other processes disturb them. Only ``pytest -m growth`` runs
them; ``test_work.py`` counts the work for some texts.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from hostile.deep import DEEP
from hostile.editor import Editor
from hostile.runs import RUNS, places
from hostile.wide import WIDE

pytestmark = pytest.mark.growth
_STRUCTURE_SIZE = 100
_RUN_SIZE = 1000
_DOUBLINGS = 3
_MAX_GROWTH = 3  # relative to the growth of the text; that of quadratic work is 8
_MAX_MEASUREMENTS = 3  # Other processes can disturb a measurement.
_NEGLIGIBLE_UNITS = 40  # multiples of ``_unit_seconds``
_PLACES_PER_RUN = 3  # Each run has the next places, so that every place has several runs.


def _runs() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Yield each run at some places, because there are too many combinations."""
    found = list(places())
    for number, (run, text) in enumerate(RUNS.items()):
        for offset in range(_PLACES_PER_RUN):
            at = (number * _PLACES_PER_RUN + offset) % len(found)
            name, before, after = found[at]
            yield f"{run} in {name}", partial(_run, before, text, after)


def _run(before: str, text: str, after: str, size: int) -> str:
    return before + text * size + after


STRUCTURES = {**DEEP, **WIDE}
RUN_TEXTS = dict(_runs())


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    editor = Editor()
    editor.seconds_per_request("HloModule m\n")  # The first requests load the grammars.
    yield editor
    editor.close()


@pytest.fixture(autouse=True)
def _clear_errors(editor: Editor) -> None:
    editor.errors.clear()


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_take_linear_time(editor: Editor, name: str) -> None:
    _assert_linear(editor, STRUCTURES[name], _STRUCTURE_SIZE)


@pytest.mark.parametrize("name", RUN_TEXTS)
def test_runs_take_linear_time(editor: Editor, name: str) -> None:
    _assert_linear(editor, RUN_TEXTS[name], _RUN_SIZE)


def _assert_linear(editor: Editor, make: Callable[[int], str], size: int) -> None:
    small, large = (make(size << doublings) for doublings in (0, _DOUBLINGS))
    growth = _MAX_GROWTH * len(large) / len(small)
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for _ in range(_MAX_MEASUREMENTS):
        negligible = _NEGLIGIBLE_UNITS * _unit_seconds()
        _keep_smaller(before, editor.seconds_per_request(small))
        _keep_smaller(after, editor.seconds_per_request(large))
        slow = {
            method: f"{before[method]:.3f} s -> {seconds:.3f} s"
            for method, seconds in after.items()
            if seconds > negligible and seconds > growth * before[method]
        }
        if not slow:
            break
    assert not slow
    assert not editor.errors


def _keep_smaller(known: dict[str, float], found: dict[str, float]) -> None:
    for method, seconds in found.items():
        known[method] = min(seconds, known.get(method, seconds))


def _unit_seconds() -> float:
    """Return the processor time of a fixed piece of work, about 1 ms."""
    start = time.process_time()
    sum(number for number in range(25_000))
    return time.process_time() - start
