"""Entries under ``Used values:``, whole and broken ones."""

import pytest

from hlo_lsp.syntax.records import BlankLine, Label
from hlo_lsp.syntax.scanners import memory_scanner
from hlo_lsp.syntax.used_value import Position, Use, UsedValue, defining_text
from syntax.record_fields import read_all

_HEADER = "<166 fusion.16{0} (phi) @1>"
_ENTRY = [
    _HEADER,
    " positions:",
    "  fusion.16 {0}",
    "  bitcast.1",
    "  tuple {1,0}",
    " uses:",
    "  add, operand 2",
    "  tuple.4, operand 10 {1,0}",
    " from instruction: %fusion.16 = (u32[1]{0}, u32[1]{0}) fusion(%a), kind=kLoop",
]


def _entry(lines: list[str]) -> UsedValue:
    [record] = read_all(memory_scanner(), lines)
    assert isinstance(record, UsedValue)
    return record


def test_whole_entry() -> None:
    entry = _entry(_ENTRY)
    assert entry.whole
    assert (entry.id, entry.name, entry.index) == (166, "fusion.16", "{0}")
    assert (entry.phi, entry.color, entry.key) == (True, 1, "fusion.16{0}")
    assert list(entry.positions) == [
        Position("fusion.16", "{0}", 2),
        Position("bitcast.1", None, 3),
        Position("tuple", "{1,0}", 4),
    ]
    assert list(entry.uses) == [Use("add", 2, None, 6), Use("tuple.4", 10, "{1,0}", 7)]
    assert entry.row_names() == ({"fusion.16", "bitcast.1", "tuple"}, {"add", "tuple.4"})
    assert entry.instruction == "%fusion.16 = (u32[1]{0}, u32[1]{0}) fusion(%a), kind=kLoop"
    assert list(entry.problems()) == []


@pytest.mark.parametrize("none", [[], ["  (none)"]], ids=["nothing", "(none)"])
def test_value_without_uses(none: list[str]) -> None:
    entry = _entry([*_ENTRY[:6], *none, _ENTRY[8]])
    assert entry.whole
    assert list(entry.uses) == []
    assert entry.row_names() == ({"fusion.16", "bitcast.1", "tuple"}, set())
    assert len(list(entry.positions)) == 3


def test_instruction_without_leading_blank() -> None:
    entry = _entry([*_ENTRY[:8], " from instruction:a = f32[] add(b, c)"])
    assert entry.whole
    assert entry.instruction == "a = f32[] add(b, c)"


def test_entries_follow_one_another_and_sections_end_them() -> None:
    lines = ["Used values:", *_ENTRY, *_ENTRY, "", "", "HloLiveRange (max 13):"]
    records = read_all(memory_scanner(), lines)
    kinds = [type(record).__name__ for record in records]
    assert kinds == ["Label", "UsedValue", "UsedValue", "BlankLine", "BlankLine", "LiveRangeLabel"]
    assert [record.line_count for record in records[1:3]] == [9, 9]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        pytest.param(
            ["<166 fusion.16{0 @1>", *_ENTRY[1:]],
            (0, 14, "expected index or `>` or ` (phi)` or ` @`"),
            id="broken header",
        ),
        pytest.param(
            [*_ENTRY[:3], "  bitcast.1 0", *_ENTRY[4:]],
            (3, 12, "expected index"),
            id="broken position",
        ),
        pytest.param(
            [*_ENTRY[:6], "  add, operand x", *_ENTRY[7:]],
            (6, 15, "expected operand"),
            id="broken use",
        ),
        pytest.param(
            [_HEADER, *_ENTRY[2:]], (0, 0, "the entry has no `positions:`"), id="no positions label"
        ),
        pytest.param(
            [*_ENTRY[:5], *_ENTRY[6:]], (0, 0, "the entry has no `uses:`"), id="no uses label"
        ),
        pytest.param(_ENTRY[:8], (0, 0, "the entry has no `from instruction:`"), id="unfinished"),
        pytest.param([_HEADER], (0, 0, "the entry has no `positions:`"), id="only a header"),
        pytest.param(
            [_HEADER, *_ENTRY[5:8], *_ENTRY[1:5], _ENTRY[8]],
            (0, 0, "the rows of the entry are out of order"),
            id="uses first",
        ),
    ],
)
def test_entry_problems(lines: list[str], problem: tuple[int, int, str]) -> None:
    entry = _entry(lines)
    assert not entry.whole
    assert list(entry.problems()) == [problem]


def test_broken_header_keeps_the_rows() -> None:
    entry = _entry(["<fusion.16{0} @1>", *_ENTRY[1:]])
    assert (entry.id, entry.name, entry.key) == (None, None, None)
    assert [position.name for position in entry.positions] == ["fusion.16", "bitcast.1", "tuple"]
    assert [use.name for use in entry.uses] == ["add", "tuple.4"]
    assert entry.row_names() == ({"fusion.16", "bitcast.1", "tuple"}, {"add", "tuple.4"})
    assert entry.instruction is not None


def test_nested_position_is_not_a_use() -> None:
    entry = _entry(_ENTRY)
    assert entry.reader.rule_of("  tuple {1,0}") == "position_row"
    assert entry.reader.rule_of("  tuple, operand 0 {1,0}") == "use_row"


def test_entry_without_header_has_a_problem() -> None:
    lines = [*_ENTRY, *_ENTRY[1:], *_ENTRY]
    first, headless, last = read_all(memory_scanner(), lines)
    assert isinstance(headless, UsedValue)
    assert (headless.id, headless.line_count, headless.whole) == (None, 8, False)
    [(row, column, sentence), *_] = headless.problems()
    assert (row, column) == (0, 0)
    assert "no value" in sentence
    assert isinstance(first, UsedValue)
    assert isinstance(last, UsedValue)
    assert first.whole
    assert last.whole


@pytest.mark.parametrize("stray", ["Lorem ipsum", "", " positions", "  (nothing)"])
def test_stray_line_is_a_problem_of_its_entry(stray: str) -> None:
    entry = _entry([*_ENTRY[:4], stray, *_ENTRY[4:]])
    assert (entry.id, entry.whole, entry.line_count) == (166, False, 10)
    assert [row for row, _, _ in entry.problems()] == [4]
    assert len(list(entry.positions)) == 3
    assert len(list(entry.uses)) == 2


_KERNEL = [
    " from instruction: %k = f32[8]{0} custom-call(%a), frontend_attributes={kernel_metadata={",
    '"mesh_axes":"[\\"i\\"]",',
    '"xprof_metadata":"{\\"block_q\\": 128}"',
    '}}, metadata={op_name="jit(f)/pallas_call" stack_frame_id=8}',
]


def test_kernel_metadata_spans_several_lines() -> None:
    first, second = read_all(memory_scanner(), [*_ENTRY[:8], *_KERNEL, *_ENTRY])
    assert isinstance(first, UsedValue)
    assert (first.whole, first.line_count, len(first.lines)) == (True, 12, 9)
    assert first.instruction == "\n".join(_KERNEL).removeprefix(" from instruction: ")
    assert second.line_count == 9
    text = defining_text(first)
    assert text is not None
    assert text.is_closed
    assert text.metadata == {"op_name": "jit(f)/pallas_call", "stack_frame_id": "8"}


def test_truncated_entry_ends_before_the_next() -> None:
    records = read_all(memory_scanner(), [*_ENTRY[:8], *_ENTRY])
    assert [record.line_count for record in records] == [8, 9]
    assert [isinstance(record, UsedValue) and record.whole for record in records] == [False, True]


def test_unfinished_entry_ends_before_the_next_section() -> None:
    lines = [*_ENTRY[:8], "HloLiveRange (max 1):", "  InstructionSequence:", "    0:a"]
    kinds = [type(record).__name__ for record in read_all(memory_scanner(), lines)]
    assert kinds == ["UsedValue", "LiveRangeLabel", "Label", "SequenceRow"]


def test_label_alone_is_not_an_entry() -> None:
    assert type(memory_scanner().read(["Used values:", *_ENTRY], 0)) is Label
    assert type(memory_scanner().read(["", *_ENTRY], 0)) is BlankLine


@pytest.mark.parametrize("lines", [_ENTRY, _ENTRY[:-1]], ids=["whole", "broken"])
def test_positions_are_found_by_name_and_index(lines: list[str]) -> None:
    entry = _entry(lines)
    assert entry.has_position("tuple", "{1,0}")
    assert entry.has_position("bitcast.1", None)
    assert entry.has_position("bitcast.1", "{}")
    assert not entry.has_position("tuple", None)
    assert not entry.has_position("tuple.4", "{1,0}")  # a use
