"""Tests for ``overlap``: values in the same bytes at the same time."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.damage import findings, related, replace_once, report_of, reports
from edits import put_back
from hlo_lsp.checks.allocations.overlaps import RULES, LiveValue, overlaps
from hlo_lsp.checks.run import check
from hlo_lsp.memory.byte_ranges import LiveByteRange
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.memory_records import AssignedValue
from jobs import count_checkpoints

FUSION_1 = "<75 multiply_reduce_fusion{1} @1> (size=8192,offset="
FUSION_2 = "<78 fusion.2 @1> (size=512,offset="
_SPANS = st.tuples(st.integers(0, 12), st.integers(1, 6), st.integers(0, 9), st.integers(0, 5))

ASYNC = """\
BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <1 gather{2,0} @0> (size=32,offset=0): s32[8]{0}
 value: <2 scatter{2,0} @0> (size=64,offset=0): s32[16]{0}

Used values:
<1 gather{2,0} @0>
 positions:
  gather {2,0}
 uses:
  gather_done, operand 0 {2,0}
 from instruction: %gather = ((), (), (s32[8]{0})) async-start(), calls=%a
<2 scatter{2,0} @0>
 positions:
  scatter {2,0}
 uses:
  scatter_done, operand 0 {2,0}
 from instruction: %scatter = ((), (), (s32[16]{0})) async-start(), calls=%b


HloLiveRange (max 4):
  InstructionSequence:
    0:gather
    1:scatter
    2:gather_done
    3:scatter_done
  BufferLiveRange:
    gather{2,0}:0-2
    scatter{2,0}:1-3
  Live ranges at 1 (peak):
    scatter{2,0}: 64 bytes (cumulative: 64 bytes)
    gather{2,0}: 32 bytes (cumulative: 96 bytes)
"""

BRANCHES = """\
HloModule m, is_scheduled=true

%even (p.0: s32[16]) -> s32[8] {
  %p.0 = s32[16]{0} parameter(0)
  %halves = s32[8]{0} slice(%p.0), slice={[0:8]}
  %sums = s32[8]{0} add(%halves, %halves)
  ROOT %doubles = s32[8]{0} add(%sums, %sums)
}

%odd (p.1: s32[16]) -> s32[8] {
  %p.1 = s32[16]{0} parameter(0)
  ROOT %ends = s32[8]{0} slice(%p.1), slice={[8:16]}
}

ENTRY %main (x: s32[16], which: s32[]) -> s32[8] {
  %x = s32[16]{0} parameter(0)
  %which = s32[] parameter(1)
  %squares = s32[16]{0} multiply(%x, %x)
  %tails = s32[8]{0} slice(%squares), slice={[8:16]}
  ROOT %c = s32[8]{0} conditional(%which, %squares, %squares), branch_computations={%even, %odd}
}
"""
BRANCH_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <1 squares @0> (size=64,offset=0): s32[16]{0}
 value: <2 sums @0> (size=32,offset=0): s32[8]{0}
"""
BRANCH_RANGES = """\
HloLiveRange (max 11):
  InstructionSequence:
    0:x
    1:which
    2:squares
    3:tails
    4:p.0
    5:halves
    6:sums
    7:doubles
    8:p.1
    9:ends
    10:c
  BufferLiveRange:
"""


def test_overlap_reports_both_values(sample: str) -> None:
    (finding,) = findings(replace_once(sample, FUSION_2 + "49152", FUSION_2 + "33000"))
    assert report_of(finding) == (
        "overlap",
        "42:  value: <78 fusion.2 @1> (size=512,offset=»33000«): f32[16]{0:T(128)S(1)}",
        "`fusion.2{}` overlaps `multiply_reduce_fusion{1}`: both use bytes 33,000 to 33,511 of "
        "allocation 15 from step 11 to 13",
    )
    assert [message for _, message in related(finding)] == [
        "`multiply_reduce_fusion{1}`",
        "`fusion.2{}` lives from step 11 to 13",
        "`multiply_reduce_fusion{1}` lives from step 5 to 13",
    ]


def test_value_is_in_one_finding(sample: str) -> None:
    found = findings(replace_once(sample, FUSION_1 + "32768", FUSION_1 + "41000"))
    assert [finding.code for finding in found] == ["overlap"]


def test_disjoint_live_ranges_may_share_bytes(sample: str) -> None:
    assert reports(replace_once(sample, FUSION_2 + "49152", FUSION_2 + "0")) == []


def test_unknown_live_ranges_are_not_reported(sample: str) -> None:
    text = sample[: sample.index("HloLiveRange")].rstrip("\n") + "\n"
    assert reports(replace_once(text, FUSION_2 + "49152", FUSION_2 + "33000")) == []


@pytest.mark.parametrize(("opcode", "count"), [("async-start()", 0), ("custom-call()", 1)])
def test_asynchronous_calls_may_share_context(opcode: str, count: int) -> None:
    codes = [code for code, _, _ in reports(ASYNC.replace("async-start()", opcode))]
    assert codes.count("overlap") == count


@pytest.mark.parametrize(
    ("value", "ranges", "count"),
    [
        ("sums", ["squares{}:2-10", "sums{}:6-7"], 0),
        ("sums", ["squares{}:2-11", "sums{}:6-7"], 1),  # used after the conditional
        ("sums", ["squares{}:2-9", "sums{}:6-7"], 0),  # an alias of the result of a branch
        ("tails", ["squares{}:2-10", "tails{}:3-7"], 1),  # not in a branch
    ],
)
def test_branch_may_overwrite_operand(value: str, ranges: list[str], count: int) -> None:
    assignment = BRANCH_ASSIGNMENT.replace("sums", value)
    codes = _codes(BRANCHES, assignment, _branch_ranges(value, ranges))
    assert codes.count("overlap") == count


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("halves{}:5-9", "p.1{}:8-9", 0),  # an alias of the result of the other branch
        ("halves{}:5-7", "sums{}:6-7", 1),
    ],
)
def test_values_in_different_branches_share_bytes(first: str, second: str, count: int) -> None:
    value = second.partition("{")[0]
    assignment = BRANCH_ASSIGNMENT.replace("squares", "halves").replace("sums", value)
    ranges = _branch_ranges(value, [first, second]).replace("squares: 64", "halves: 64")
    assert _codes(BRANCHES, assignment, ranges).count("overlap") == count


@pytest.mark.parametrize("end", [9, 10])
@pytest.mark.parametrize("name", ["cond.3", "conditional"])
def test_branch_is_recognized_without_module(name: str, end: int) -> None:
    ranges = _branch_ranges("sums", [f"squares{{}}:2-{end}", "sums{}:6-7"])
    ranges = ranges.replace("10:c", f"10:{name}")
    assert "overlap" not in _codes(BRANCH_ASSIGNMENT, ranges)


def _branch_ranges(value: str, ranges: list[str]) -> str:
    rows = "".join(f"    {row}\n" for row in ranges)
    peak = f"  Live ranges at 6 (peak):\n    squares: 64 bytes\n    {value}: 32 bytes\n"
    return BRANCH_RANGES + rows + peak


def _codes(*texts: str) -> list[str]:
    dump = Compile([DumpFile.of_text(text) for text in texts])
    return [finding.code for file in dump.files for finding in check(dump, file)]


def test_wrong_size_suppresses_overlap(sample: str) -> None:
    text = replace_once(sample, "<77 fusion.5 @1> (size=512", "<77 fusion.5 @1> (size=8192")
    assert [code for code, _, _ in reports(text)] == ["size-mismatch"]


def _live(number: int, offset: int, size: int, start: int, end: int) -> LiveValue:
    value = AssignedValue(number, f"v.{number}", None, False, 0, size, offset, "f32[1]{0}")
    return LiveValue(value, LiveByteRange(offset, size, start, end))


def _is_overlap(one: LiveValue, other: LiveValue) -> bool:
    (a, b), (c, d) = one.slot, other.slot
    shares_bytes = a < d and c < b and (a, b) != (c, d)
    return shares_bytes and one.steps[0] < other.steps[1] and other.steps[0] < one.steps[1]


@given(st.lists(_SPANS, max_size=12))
def test_sweep_agrees_with_all_pairs(spans: list[tuple[int, int, int, int]]) -> None:
    values = [
        _live(number, offset, size, start, start + length)
        for number, (offset, size, start, length) in enumerate(spans)
    ]
    found = {frozenset(pair) for pair in overlaps(values)}
    expected = {frozenset(pair) for pair in combinations(values, 2) if _is_overlap(*pair)}
    assert found <= expected
    assert all(pair & frozenset().union(*found) for pair in expected)


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ((0, 8, 0, 5), (4, 8, 5, 9), 0),  # One starts at the step at which the other ends.
        ((0, 8, 0, 5), (0, 8, 3, 9), 0),  # aliases
        ((0, 8, 0, 5), (4, 8, 3, 3), 1),
        ((0, 8, 3, 5), (4, 8, 3, 3), 0),
    ],
)
def test_legal_sharing(
    one: tuple[int, int, int, int], other: tuple[int, int, int, int], count: int
) -> None:
    assert len(list(overlaps([_live(1, *one), _live(2, *other)]))) == count


def _text(spans: list[tuple[int, int, int, int]]) -> str:
    lines = ["BufferAssignment:", "allocation 0: size 99, preallocated-temp:"]
    for number, (offset, size, _, _) in enumerate(spans):
        lines.append(f" value: <{number} v.{number} @0> (size={size},offset={offset}): u8[1]{{0}}")
    lines += ["", "HloLiveRange (max 20):", "  BufferLiveRange:"]
    for number, (_, _, start, length) in enumerate(spans):
        lines.append(f"    v.{number}{{}}:{start}-{start + length}")
    lines += ["  Live ranges at 1 (peak):", "    v.0{}: 1 bytes (cumulative: 1 bytes)"]
    return "\n".join(lines) + "\n"


def _overlaps_in(file: DumpFile, dump: Compile) -> list[tuple[str, str, str]]:
    return [report_of(finding) for finding in check(dump, file, RULES)]


@settings(deadline=None)  # The first example loads the grammars.
@given(
    st.lists(_SPANS, min_size=2, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), _SPANS), min_size=1, max_size=6),
)
def test_overlaps_after_edits_equal_fresh_ones(
    spans: list[tuple[int, int, int, int]],
    edits: list[tuple[int, tuple[int, int, int, int]]],
) -> None:
    file = DumpFile.of_text(_text(spans))
    dump = Compile([file])
    _overlaps_in(file, dump)
    for number, span in edits:
        spans[number % len(spans)] = span
        file.changed(put_back(file.document, _text(spans).split("\n")))
        file.refresh()
        fresh = DumpFile.of_text(_text(spans))
        assert _overlaps_in(file, dump) == _overlaps_in(fresh, Compile([fresh]))


def test_long_work_passes_checkpoints() -> None:
    values = [_live(number, number, 1, 0, 1) for number in range(5000)]
    assert count_checkpoints(lambda: list(overlaps(values))) >= 10
