"""Parse failures: their column and what was expected."""

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.syntax.grammar import Grammar, ParseFailure, load_grammar
from syntax.rules import GROUPS, distinct_lines, rules_of


def _refusal(grammar: str, rule: str, marked: str) -> ParseFailure | None:
    """Return the failure of a text without the ``^`` that marks the expected column."""
    return load_grammar(grammar).parse_failure(rule, marked.replace("^", ""))


@pytest.mark.parametrize(
    ("grammar", "rule", "marked", "sentence"),
    [
        ("assignment", "allocation_line", "allocation ^: size 512:", "expected allocation"),
        ("assignment", "allocation_line", "allocation 0^ size 512:", "expected `: size `"),
        ("assignment", "allocation_line", "allocation 0: size ^x:", "expected size"),
        (
            "assignment",
            "allocation_line",
            "allocation 0: size 512, parameter 0, shape |f32[2]| at ShapeIndex ^:",
            "expected parameter index",
        ),
        (
            "assignment",
            "allocation_line",
            "allocation 0: size 512, output shape is |f32[2]:^",
            "expected `|`",
        ),
        ("assignment", "assigned_value_line", " value: ^1 a @0> (size=5,offset=0): f32[2]",
         "expected `<`"),
        ("assignment", "assigned_value_line", " value: <^a @0> (size=5,offset=0): f32[2]",
         "expected value id"),
        ("assignment", "assigned_value_line", " value: <1 a @^x> (size=5,offset=0): f32[2]",
         "expected color"),
        ("assignment", "assigned_value_line", " value: <1 a @0^ (size=5,offset=0): f32[2]",
         "expected `>`"),
        ("assignment", "assigned_value_line", " value: <1 a @0> (size=5^ offset=0): f32[2]",
         "expected `,offset=`"),
        ("assignment", "assigned_value_line", " value: <1 a @0> (size=5,offset=0^) f32[2]",
         "expected `): `"),
        ("assignment", "assigned_value_line", " value: <1 a @0> (size=5,offset=0): ^",
         "expected shape"),
        ("values", "total_line", "Total bytes used: ^x (1B)", "expected total"),
        ("values", "total_line", "Total bytes used: 12^", "expected ` (`"),
        ("values", "used_values_label", "Used values:^ ", "expected the end of the line"),
        ("values", "use_row", "  a.1, operand ^x", "expected operand"),
        ("values", "position_row", "  a.1 ^0}", "expected index"),
        ("live_range", "live_range_label", "HloLiveRange (max ^x):", "expected max"),
        ("live_range", "live_range_label", "HloLiveRange (max 5):^ x",
         "expected the end of the line"),
        ("live_range", "sequence_row", "    5^fusion.2", "expected `:`"),
        ("live_range", "sequence_row", "    5:^", "expected name"),
        ("live_range", "sequence_row", "    5:a^ b", "expected the end of the line"),
        ("live_range", "range_row", "    a^:1-2", "expected index"),
        ("live_range", "range_row", "    a{}:1^", "expected `-`"),
        ("live_range", "range_row", "    a{}:1-^x", "expected end"),
        ("live_range", "range_row", "    a{}:1-2^ 3", "expected the end of the line"),
        ("live_range", "peak_row", "    a{}: 12^ byte", "expected ` bytes`"),
        ("live_range", "peak_row", "    a{}: 12 bytes (cumulative: ^x bytes)",
         "expected cumulative"),
        ("live_range", "peak_label", "  Live ranges at 13^:", "expected ` (peak):`"),
        ("live_range", "breakdown_row",
         "      ├── a (33.2%, total: 1 048 bytes, current: 1 048^ byte, remaining: 3 bytes)",
         "expected ` bytes, remaining: `"),
        ("report", "space_line", "Memory Space: vmem (color=^x)", "expected color"),
        ("module", "location_row", "1 {file_name_id=1 function_name_id=1 line=^}",
         "expected line"),
        ("module", "name_row", "1 ^x", "expected string"),
        ("module", "instruction_line", "  %a ^f32[] add(%b)", "expected `=`"),
        ("module", "instruction_line", "  ROOT %a ^f32[] add(%b)", "expected `=`"),
        ("module", "instruction_line", "  %a = f32[] ^ADD(%b)", "expected opcode"),
        ("module", "instruction_line", "  %a = f32[] add^", "expected `(`"),
        ("thunks", "thunk_row", "001: ^Kernel [source | sink]", "expected kind"),
        ("thunks", "thunk_row", "001^ kCopy [source | sink]", "expected `: `"),
        ("thunks", "branch_label", "condition^", "expected `:`"),
    ],
)  # fmt: skip
def test_broken_line_is_refused_where_it_breaks(
    grammar: str, rule: str, marked: str, sentence: str
) -> None:
    refusal = _refusal(grammar, rule, marked)
    assert refusal is not None
    assert (refusal.column, str(refusal)) == (marked.index("^"), sentence)


def test_all_that_could_follow_is_known() -> None:
    refusal = _refusal("assignment", "assigned_value_line", " value: <1 a^")
    assert refusal is not None
    assert set(refusal.expected) == {"index", "` (phi)`", "` @`", "`>`"}


def test_good_line_is_not_refused() -> None:
    line = " value: <1 a{} (phi) @0> (size=5,offset=0): f32[2]"
    assert _refusal("assignment", "assigned_value_line", line) is None


@pytest.fixture(scope="module")
def real_lines(corpus_small: Path) -> dict[str, list[tuple[Grammar, str, str]]]:
    """Return some lines of every rule for each scanner, with the grammar and the rule."""
    return {
        group: [
            (grammar, rule, line)
            for lines in [distinct_lines(corpus_small, group, every=23)]
            for grammar, rule in rules_of(group)
            for line in islice(filter(grammar.expression(rule).fullmatch, lines), 20)
        ]
        for group in GROUPS
    }


@pytest.mark.parametrize("group", GROUPS)
@settings(max_examples=600, deadline=None, derandomize=True)
@given(data=st.data())
def test_every_unreadable_line_has_an_explanation(
    group: str, real_lines: dict[str, list[tuple[Grammar, str, str]]], data: st.DataObject
) -> None:
    grammar, rule, line = data.draw(st.sampled_from(real_lines[group]))
    at, length = data.draw(st.integers(0, len(line))), data.draw(st.integers(0, 3))
    broken = line[:at] + data.draw(st.sampled_from(["", " ", "x", "0", "│"])) + line[at + length :]
    refusal = grammar.parse_failure(rule, broken)
    if grammar.expression(rule).fullmatch(broken) is None:
        assert refusal is not None
        assert 0 <= refusal.column <= len(broken)
        assert str(refusal).startswith("expected ")
