"""Each line matches one rule, independent of previous lines."""

from itertools import islice
from pathlib import Path

import pytest

from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.scanners import MemoryScanner, memory_scanner
from syntax.rules import GROUPS, SCANNERS, distinct_lines

_VALUE = " value: <1 a.1 @0> (size=512,offset=0): f32[2]{0:T(128)}"
_RANGE = "    fusion{}:8-10"


@pytest.mark.parametrize("group", GROUPS)
def test_at_most_one_rule_reads_a_line(group: str, corpus_small: Path) -> None:
    rules = SCANNERS[group]().lines._rules
    several = (
        (line, names)
        for line in distinct_lines(corpus_small, group, every=11)
        if len(names := [rule.name for rule in rules if rule.expression.fullmatch(line)]) > 1
    )
    assert list(islice(several, 3)) == []


@pytest.mark.parametrize(
    ("line", "kind"), [(_VALUE, AssignedValue), (_RANGE, RangeRow)], ids=["value", "live range"]
)
def test_rules_do_not_depend_on_previous_lines(line: str, kind: type) -> None:
    for length in range(1, len(line)):
        scanner = MemoryScanner()
        scanner.read([line[:length]], 0)
        assert type(scanner.read([line], 0)) is kind, f"behind {line[:length]!r}"


@pytest.mark.parametrize(
    "line",
    [
        " value: <1 a.1 @0> (size=512 offset=0): f32[2]",
        " value: <1 a.1 @0> (size=512,offset=0) f32[2]",
        " value: <1 a.1 @0 (size=512,offset=0): f32[2]",
        " value: ",
        "    fusion{}:8-",
        "    fusion{}:8:10",
        "    fusion:8-10",
        "    fusion{}: 2048 byte (cumulative: 43008 bytes)",
        "allocation : size 512, preallocated-temp:",
        "allocation 0: size 512 preallocated-temp",
        "Total bytes used: (168.5KiB)",
        "  Live ranges at (peak):",
    ],
)
def test_broken_line_matches_no_other_rule(line: str) -> None:
    assert type(MemoryScanner().read([line], 0)) is BrokenRecord


def test_explanation_uses_the_longest_partial_match() -> None:
    refusal = memory_scanner().lines.explain(" value: <1 a.1 @0> (size=512 offset=0): f32[2]")
    assert (refusal.column, str(refusal)) == (28, "expected `,offset=`")


def test_unrecognized_line_fails_at_column_zero() -> None:
    assert memory_scanner().lines.explain("Lorem ipsum").column == 0
