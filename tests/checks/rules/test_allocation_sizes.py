"""``allocation-too-small`` and ``allocation-slack``: which number is wrong is told once."""

import pytest

from checks.damage import findings, related, replaced, tell

OFFSET = "(size=16384,offset=53248)"


def test_an_allocation_that_several_values_stick_out_of(sample: str) -> None:
    text = replaced(sample, "allocation 15: size 69632,", "allocation 15: size 49152,")
    (finding,) = findings(text)
    assert tell(text) == [
        (
            "allocation-too-small",
            "35: allocation 15: size »49152«, color 1, preallocated-temp:",
            "allocation 15 has 49,152 B, but its values need 69,632 B",
        )
    ]
    assert [message for _, message in related(finding)] == [
        "`copy-start.1{0}` ends at byte 69,632",
        "`fusion.2{}` ends at byte 49,664",
    ]


def test_of_values_that_stick_out_three_are_shown(sample: str) -> None:
    (finding,) = findings(replaced(sample, "allocation 15: size 69632,", "allocation 15: size 1,"))
    assert [message for _, message in related(finding)] == [
        "`copy-start.1{0}` ends at byte 69,632",
        "`copy-start{0}` ends at byte 32,768",
        "`multiply_reduce_fusion{0}` ends at byte 45,568",
    ]


def test_what_puts_a_size_right_is_sure_where_offsets_are_none(sample: str) -> None:
    def fixes(old: str, new: str) -> list[tuple[str, bool]]:
        (finding,) = findings(replaced(sample, old, new))
        return [(fix.title, fix.is_sure) for fix in finding.fixes]

    of_one, of_several = "allocation 3: size 8192,", "allocation 15: size 69632,"
    assert fixes(of_one, "allocation 3: size 8193,") == [("Put `8192`", True)]
    assert fixes(of_one, "allocation 3: size 8191,") == [("Put `8192`", True)]
    assert fixes(of_several, "allocation 15: size 69633,") == [("Put `69632`", True)]
    # It may be the offset of a value that is wrong.
    assert fixes(of_several, "allocation 15: size 40000,") == [("Put `69632`", False)]


def test_the_total_tells_an_allocation_from_a_value(sample: str) -> None:
    """One value sticks out either way."""
    text = replaced(sample, "allocation 15: size 69632,", "allocation 15: size 69631,")
    assert [code for code, _, _ in tell(text)] == ["allocation-too-small"]
    text = replaced(sample, OFFSET, "(size=16384,offset=53249)")
    assert [code for code, _, _ in tell(text)] == ["out-of-bounds"]


def test_without_a_total_the_value_of_a_temporary_allocation_is_accused(sample: str) -> None:
    text = sample[: sample.index("Total bytes used")]
    text = replaced(text, "allocation 15: size 69632,", "allocation 15: size 69631,")
    assert [code for code, _, _ in tell(text)] == ["out-of-bounds"]


@pytest.mark.parametrize(
    ("size", "code", "sentence"),
    [
        (8191, "allocation-too-small", "has 8,191 B, but its values need 8,192 B"),
        (0, "allocation-too-small", "has 0 B, but its values need 8,192 B"),
        (8193, "allocation-slack", "has 8,193 B, but its values need only 8,192 B"),
        (81920, "allocation-slack", "has 81,920 B, but its values need only 8,192 B"),
    ],
)
def test_one_value_in_an_allocation_that_is_not_temporary(
    sample: str, size: int, code: str, sentence: str
) -> None:
    text = replaced(sample, "allocation 3: size 8192,", f"allocation 3: size {size},")
    place = f"8: allocation 3: size »{size}«, output shape is |f32[16,32]|, maybe-live-out:"
    assert tell(text) == [(code, place, f"allocation 3 {sentence}")]


def test_a_temporary_allocation_may_be_larger_if_the_total_says_so(sample: str) -> None:
    text = replaced(sample, "allocation 15: size 69632,", "allocation 15: size 70000,")
    ((code, place, _),) = tell(text)
    assert (code, "»70000«" in place) == ("allocation-slack", True)
    total = 172580 + 70000 - 69632
    assert tell(text.replace("172580", str(total)).replace("168.5KiB", "168.9KiB")) == []


def test_the_total_is_told_where_no_allocation_explains_it(sample: str) -> None:
    text = replaced(sample, "allocation 3: size 8192,", "allocation 3: size 8193,")
    text = replaced(text, "used: 172580 (168.5KiB)", "used: 172000 (168.0KiB)")
    assert [code for code, _, _ in tell(text)] == ["allocation-slack"]
    text = replaced(sample, "used: 172580 (168.5KiB)", "used: 172000 (168.0KiB)")
    assert [code for code, _, _ in tell(text)] == ["total-mismatch"]


def test_a_size_that_its_shape_contradicts_is_not_told_of_the_allocation(sample: str) -> None:
    for size in (4096, 16384):
        text = replaced(sample, "<79 fusion @0> (size=8192", f"<79 fusion @0> (size={size}")
        assert [code for code, _, _ in tell(text)] == ["size-mismatch"]


def test_an_allocation_whose_value_is_gone_is_not_too_large(sample: str) -> None:
    line = " value: <79 fusion @0> (size=8192,offset=0): f32[16,32]{1,0:T(8,128)}\n"
    assert "allocation-slack" not in [code for code, _, _ in tell(replaced(sample, line, ""))]


def test_an_allocation_whose_value_lies_elsewhere_is_not_too_large(sample: str) -> None:
    line = " value: <2 add.14 @0> (size=512,offset=0): f32[]{:T(128)}\n"
    head = "allocation 14: size 32800, preallocated-temp:\n"
    moved = replaced(replaced(sample, line, ""), head, head + line)
    ((code, place, _),) = tell(moved)
    assert (code, "<»2« add.14" in place) == ("flag-contradiction", True)
    moved = replaced(moved, "allocation 5: size 512,", "allocation 5: size 600,")
    assert [code for code, _, _ in tell(moved)] == ["allocation-slack", "flag-contradiction"]


def test_an_allocation_without_a_value_has_no_size_to_put(gpu: str) -> None:
    line = " value: <8 loop_convert_fusion @0> (size=9600,offset=0): s4[64,300]{1,0:E(4)}\n"
    (finding,) = findings(replaced(gpu, line, ""))
    assert finding.code == "allocation-slack"
    assert finding.message == "allocation 1 has 9,600 B, but there is no value in it"
    assert finding.fixes == ()
