"""Tests for requests about texts with deep nesting and long numbers."""

# ruff: noqa: E501  # Each text is on one line.

from collections.abc import Iterator

import pytest

from hostile.deep import DEEP
from hostile.editor import Editor
from hostile.runs import RUNS, places

_DEPTH = 1050  # CPython allows 1,000 nested calls
_DIGITS = 5000  # CPython converts at most 4,300
NUMBERS = {
    "trip count": 'HloModule m\n\nENTRY %main (a: f32[]) -> f32[] {{\n  %a = f32[] parameter(0)\n'
    '  ROOT %w = f32[] while(%a), condition=%c, body=%b, '
    'backend_config={{"known_trip_count":{{"n":"{0}"}}}}\n}}\n',
    "element": "HloModule m\n\nENTRY %main (a: (f32[])) -> f32[] {{\n  %a = (f32[]) parameter(0)\n"
    "  ROOT %w = f32[] get-tuple-element(%a), index={0}\n}}\n",
    "alias": "HloModule m, input_output_alias={{ {{{0}}}: ({0}, {{{0}}}, may-alias) }}, "
    "buffer_donor={{ ({0}, {{{0}}}) }}, num_partitions={0}\n\nENTRY %main (a: f32[]) -> f32[] {{\n"
    "  ROOT %a = f32[] parameter({0}), metadata={{stack_frame_id={0} source_line={0}}}\n}}\n",
    "dimension": "HloModule m\n\nENTRY %main (a: f32[]) -> f32[] {{\n"
    "  ROOT %a = f32[{0}]{{{0}:T({0})S({0})}} parameter(0), sharding={{devices=[{0}]<=[{0}]}}\n}}\n",
    "huge tiles": "HloModule m\n\nENTRY %main (a: f32[]) -> f32[] {{\n"
    "  ROOT %a = f32[4]{{0:T(99999999999999999999,99999999999999999999)}} parameter(0)\n}}\n// {0}\n",
    "source line": "Ran out of memory in memory space hbm. Used {0}G of 8.{0}G hbm. Exceeded hbm "
    "capacity by 1.00G.\n\nLargest program allocations in hbm:\n\n  1. Size: {0}.00G\n"
    '     Operator: op_name="f" source_file="a.py" source_line={0}\n     Shape: f32[4]\n',
}  # fmt: skip


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    editor = Editor()
    yield editor
    editor.close()


@pytest.fixture(autouse=True)
def _assert_no_errors(editor: Editor, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    editor.errors.clear()
    yield
    assert editor.errors == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize("name", [name for name in DEEP if name.startswith("deep")])
def test_deep_nesting_causes_no_errors(editor: Editor, name: str) -> None:
    editor.seconds_per_request(DEEP[name](_DEPTH))


@pytest.mark.parametrize("name", NUMBERS)
def test_long_numbers_cause_no_errors(editor: Editor, name: str) -> None:
    editor.seconds_per_request(NUMBERS[name].format("4" * _DIGITS))


def test_long_numbers_at_any_place_cause_no_errors(editor: Editor) -> None:
    for _, before, after in places():
        editor.seconds_per_request(before + RUNS["digits"] * _DIGITS + after)
