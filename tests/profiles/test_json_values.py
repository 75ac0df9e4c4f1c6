"""Tests for hlo_lsp.profiles.trace_json."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.profiles import trace_json
from hlo_lsp.profiles.trace_json import elements

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(
    st.dictionaries(st.text(), _VALUES),
    st.lists(_VALUES),
    st.integers(1, 7),
    st.sampled_from([0, 2]),
)
@settings(max_examples=50)
def test_equals_the_parser_of_python(
    others: dict[str, Any], expected: list[Any], size: int, indent: int
) -> None:
    others.pop("traceEvents", None)
    data = json.dumps({**others, "traceEvents": expected, "z": 1}, indent=indent or None).encode()
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    assert list(elements(parts, "traceEvents")) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"traceEvents":[1,2',
        '{"traceEvents":[1 2]}',
        '{"traceEvents":[]}x',
        '{"a":[]}',
        "[]",
        "{1:2}",
    ],
)
def test_other_text_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        list(elements([text.encode()], "traceEvents"))


def test_memory_is_that_of_an_element() -> None:
    parts = [b'{"traceEvents":[', *[b"[]," * 2_000] * 50, b"{}]}"]
    tracemalloc.start()
    try:
        assert sum(1 for _ in elements(parts, "traceEvents")) == 100_001
        assert tracemalloc.get_traced_memory()[1] < 1 << 19  # a list of all needs 6 MB
    finally:
        tracemalloc.stop()


def test_long_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_json, "_MAX_VALUE_CHARACTERS", 1 << 16)
    parts = [b'{"traceEvents":[[', *[b"[]," * 4_000] * 10]
    with pytest.raises(ValueError, match="longer than 65,536 characters"):
        list(elements(parts, "traceEvents"))
