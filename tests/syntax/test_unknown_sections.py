"""Tests for the extent of sections that no rule reads."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.syntax.grammar import LineRules
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.record_sequence import RecordSequence
from hlo_lsp.syntax.records import BrokenRecord, Record, UnknownSection
from hlo_lsp.syntax.scanners import ModuleScanner
from hlo_lsp.text.document import Document, LineChange

HEADER = "HloModule m"
COMPUTATION = ["ENTRY %f (a: f32[]) -> f32[] {", "  ROOT %a = f32[] parameter(0)", "}"]


def _records(lines: list[str]) -> list[Record]:
    records = RecordSequence()
    records.update(ModuleScanner(), lines, LineChange(0, 0, len(lines)))
    return list(records)


def _sections(lines: list[str]) -> list[tuple[int, int]]:
    found = [one for one in _records(lines) if isinstance(one, UnknownSection)]
    return [(one.line, one.line_count) for one in found]


@pytest.mark.parametrize(
    "section",
    [
        ["novel {", "  alpha", "}"],
        ["novel {", "}"],
        ["novel {a=1, b={2}}"],
        ["novel { a = fast(1) }"],
        ["novel {", "  inner {", "    a: 1", "  }", "}"],
        ["novel {", '  text: "a } b"', "  // }", "}"],
        ["novel", "{", "  a: 1", "}"],
        ["settings =", "{", "  a: 1", "}"],
        ["settings = {a: 1,", "  b: [", "  ]}"],
        ["novel(a, b) {", "  a: 1", "}"],
        ["{", '  "a": {"b": [1, 2]}', "}"],
    ],
)
def test_brackets_determine_the_extent(section: list[str]) -> None:
    lines = [HEADER, *section, *COMPUTATION]
    assert _sections(lines) == [(1, len(section))]


@pytest.mark.parametrize(
    "damaged",
    [
        ["novel {", "  alpha"],
        ["novel {", "  alpha ]", "}"],
        ["%f (a: f32[]) > f32[] {", "  ROOT %a = f32[] parameter(0)", "}"],
        ["f {", "  ROOT a  f32[] parameter(0)", "}"],
    ],
)
def test_damaged_text_is_no_section(damaged: list[str]) -> None:
    assert _sections([HEADER, *damaged, "", *COMPUTATION]) == []


def test_section_can_have_thousands_of_lines() -> None:
    rows = [f'  "key{number}": {number},' for number in range(5000)]
    assert _sections([HEADER, '{"a": {', *rows, '  "end": 1', "}}", *COMPUTATION]) == [(1, 5003)]


def test_lines_after_open_brackets_are_read_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()

    def counted(rules: LineRules, line: str) -> object:
        read[line] += 1
        return original(rules, line)

    original = LineRules.read
    monkeypatch.setattr(LineRules, "read", counted)
    _records([HEADER, *(f"opening{number} {{" for number in range(500))])
    assert max(read.values()) < 5


def test_section_does_not_take_a_closing_brace_outside() -> None:
    lines = [*COMPUTATION[:1], "  schedule = [", "}"]
    assert _sections(lines) == []


@pytest.mark.parametrize(
    "computation",
    [
        ["f {", "  a = f32[] parameter(0)", "}"],
        ["f {", "  a = f32[]", "    parameter(0)", "}"],
        ["f { a = f32[] parameter(0) }"],
    ],
)
def test_computation_without_signature_is_no_section(computation: list[str]) -> None:
    records = _records([HEADER, *computation])
    assert isinstance(records[1], ComputationLine)


def test_section_in_a_computation_is_one_record() -> None:
    lines = [COMPUTATION[0], "  schedule: [", "    (0, 1),", "  ]", *COMPUTATION[1:]]
    assert [type(one) for one in _records(lines)][:3] == [
        ComputationLine, UnknownSection, InstructionLine
    ]  # fmt: skip


_LINES = st.sampled_from(
    ["novel {", "{", "}", "  [", "  ]", "a: 1", "x = {", "f", "", *COMPUTATION]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    lines=st.lists(_LINES, min_size=1, max_size=30),
    at=st.integers(0, 30),
    new=st.lists(_LINES, max_size=2),
    count=st.integers(0, 2),
)
def test_edit_far_after_the_title_changes_the_extent(
    lines: list[str], at: int, new: list[str], count: int
) -> None:
    document = Document("\n".join(lines))
    records = RecordSequence()
    scanner = ModuleScanner()
    records.update(scanner, document.lines, LineChange(0, 0, len(document.lines)))
    first = min(at, len(document.lines))
    last = min(first + count, len(document.lines))
    document.lines[first:last] = new
    if not document.lines:
        return
    records.update(scanner, document.lines, LineChange(first, last - first, len(new)))
    fresh = [(type(one), one.line_count) for one in _records(document.lines)]
    assert [(type(one), one.line_count) for one in records] == fresh


def test_unclosed_section_sees_its_closing_bracket() -> None:
    lines = [HEADER, "novel {", *["  a: 1"] * 50, *COMPUTATION]
    opened = _records(lines)[1]
    assert isinstance(opened, BrokenRecord | ComputationLine)
    assert opened.lookahead == 51
