"""Tests for positions, compared with the module text or, without one, with the entries."""

from pathlib import Path

import pytest

from checks.damage import replace_once
from checks.values_rules import edit_file, replacement, reports_in, reports_of

VALUES = "-buffer-assignment-values.txt"
MODULE = "after_optimizations.txt"
A1 = "<10 a.1 @0>\n positions:\n  a.1\n"
FUSION1 = "  fusion {1}\n  get-tuple-element.14\n  tuple.6 {0}\n"

# Old text, new text, place of the finding, and its message.
POSITIONS = {
    "another instruction first": (
        A1, A1.replace("  a.1\n", "  a.1x\n"), "31:   »a.1x«",
        "first position is `a.1x`, expected `a.1`",
    ),
    "no position": (
        A1, A1.replace("  a.1\n", ""), "30:  »positions:«",
        "first position is missing, expected `a.1`",
    ),
    "a position twice": (
        A1, A1 + "  a.1\n", "32:   »a.1«", "position `a.1` is repeated in this entry",
    ),
    "a position of another value": (
        FUSION1, FUSION1.replace("tuple.6 {0}", "tuple.6 {2}"), "54:   »tuple.6 {2}«",
        "position `tuple.6 {2}` is repeated: value 12 `fusion{0}` has it, too",
    ),
    "the first two changed places": (
        FUSION1, "  get-tuple-element.14\n  fusion {1}\n  tuple.6 {0}\n",
        "52:   »get-tuple-element.14«",
        "first position is `get-tuple-element.14`, expected `fusion {1}`",
    ),
    "a later one instead of the first": (
        FUSION1, FUSION1.replace("  fusion {1}", "  tuple.6 {0}"), "52:   »tuple.6 {0}«",
        "first position is `tuple.6 {0}`, expected `fusion {1}`",
    ),
    "an index where there is no tuple": (
        FUSION1, FUSION1.replace("element.14", "element.14 {}"), "53:   »get-tuple-element.14 {}«",
        "position `get-tuple-element.14 {}` does not exist: `get-tuple-element.14` is not a tuple",
    ),
    "an element that the tuple lacks": (
        FUSION1, FUSION1.replace("tuple.6 {0}", "tuple.6 {7}"), "54:   »tuple.6 {7}«",
        "position `tuple.6 {7}` does not exist: `tuple.6` has no part `{7}`",
    ),
    "a tuple without an index": (
        FUSION1, FUSION1.replace("tuple.6 {0}", "tuple.6"), "54:   »tuple.6«",
        "position `tuple.6` does not exist: `tuple.6` is a tuple",
    ),
    "a name that the module lacks": (
        FUSION1, FUSION1.replace("element.14", "element.15"), "53:   »get-tuple-element.15«",
        "position `get-tuple-element.15` does not exist: the module text has no instruction "
        "`get-tuple-element.15`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", POSITIONS)
def test_wrong_position_is_one_finding(compiled: Path, what: str) -> None:
    old, new, place, message = POSITIONS[what]
    edit_file(compiled, VALUES, replacement(old, new))
    assert reports_in(compiled) == [(VALUES, "position-mismatch", place, message)]


def test_positions_without_module_text_are_checked(sample: str) -> None:
    first = "\n positions:\n  fusion.5\n"
    assert reports_of(replace_once(sample, first, first.replace("fusion.5", "fusion.5 {0}"))) == [
        (
            "position-mismatch",
            "193:   »fusion.5 {0}«",
            "first position is `fusion.5 {0}`, expected `fusion.5`",
        )
    ]
    last = "  multiply_reduce_fusion {1}\n"
    ((code, _, message),) = reports_of(replace_once(sample, last, last.replace("{1}", "{2}")))
    assert code == "position-mismatch"
    assert message.startswith("first position is `multiply_reduce_fusion {2}`")
