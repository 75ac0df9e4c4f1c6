"""Tests for ``duplicate-allocation``, ``allocation-numbering``, ``value-in-two-allocations``."""

import pytest

from checks.damage import findings, related, replace_once, reports

VALUE_77 = " value: <77 fusion.5 @1> (size=512,offset=45056): f32[16]{0:T(128)S(1)}\n"
BLOCK_7 = """\
allocation 7: size 512, thread-local:
 value: <8 add.38 @0> (size=512,offset=0): f32[]{:T(128)}
"""


def test_repeated_number_is_reported_once(sample: str) -> None:
    text = replace_once(sample, "allocation 7:", "allocation 6:")
    assert reports(text) == [
        (
            "duplicate-allocation",
            "16: allocation »6«: size 512, thread-local:",
            "allocation 6 is already on line 14",
        )
    ]
    (finding,) = findings(text)
    assert related(finding) == [("14: allocation »6«: size 512, thread-local:", "the same number")]


@pytest.mark.parametrize(
    ("change", "line", "previous", "expected"),
    [
        (("allocation 7:", "allocation 17:"), 16, "17 follows allocation 6", 7),
        (("allocation 0:", "allocation 99:"), 2, "99 is the first", 0),
        (("allocation 15:", "allocation 18:"), 35, "18 follows allocation 14", 15),
        ((BLOCK_7, ""), 16, "8 follows allocation 6", 7),
    ],
)
def test_gap_is_reported_once(
    sample: str, change: tuple[str, str], line: int, previous: str, expected: int
) -> None:
    ((code, place, message),) = reports(replace_once(sample, *change))
    assert (code, place.partition(":")[0]) == ("allocation-numbering", str(line))
    assert message == f"allocation {previous}: expected allocation {expected}"


def test_unreadable_allocation_is_no_gap(sample: str) -> None:
    text = replace_once(
        sample, "allocation 4: size 8192, parameter 0", "allocation 5: size 8192 parameter 0"
    )
    assert [code for code, _, _ in reports(text)] == ["syntax"]


@pytest.mark.parametrize("head", ["allocation 4:", "allocation 14:"])
def test_value_in_second_allocation_is_reported(sample: str, head: str) -> None:
    (finding,) = findings(replace_once(sample, head, VALUE_77 + head))
    assert finding.code == "value-in-two-allocations"
    number = int(head.split()[1][:-1]) - 1
    assert finding.message == (
        f"value 77 `fusion.5{{}}` is in allocation {number} and in allocation 15"
    )
    ((place, label),) = related(finding)
    assert "<»77« fusion.5" in place
    assert label == "the same value"
