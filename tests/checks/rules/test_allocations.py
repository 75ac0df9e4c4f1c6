"""``duplicate-allocation``, ``allocation-numbering``, ``value-in-two-allocations``,
``nonzero-offset``."""

import pytest

from checks.damage import findings, related, replaced, tell

VALUE_77 = " value: <77 fusion.5 @1> (size=512,offset=45056): f32[16]{0:T(128)S(1)}\n"
BLOCK_7 = """\
allocation 7: size 512, thread-local:
 value: <8 add.38 @0> (size=512,offset=0): f32[]{:T(128)}
"""
BLOCK_8 = """\
allocation 8: size 512, thread-local:
 value: <7 Arg_1.37 @0> (size=512,offset=0): f32[]{:T(128)}
"""


def test_a_number_that_is_there_twice(sample: str) -> None:
    text = replaced(sample, "allocation 7:", "allocation 6:")
    assert tell(text) == [
        (
            "duplicate-allocation",
            "16: allocation »6«: size 512, thread-local:",
            "there is an allocation 6 on line 14, too",
        )
    ]
    (finding,) = findings(text)
    assert related(finding) == [("14: allocation »6«: size 512, thread-local:", "the other one")]


def test_of_two_numbers_alike_the_one_is_accused_that_is_out_of_line(sample: str) -> None:
    ((code, place, _),) = tell(replaced(sample, "allocation 7:", "allocation 8:"))
    assert (code, place[:3]) == ("duplicate-allocation", "16:")


def test_an_allocation_that_stands_there_twice_is_told_once(sample: str) -> None:
    ((code, place, _),) = tell(replaced(sample, BLOCK_7, BLOCK_7 + BLOCK_7))
    assert (code, place) == (
        "duplicate-allocation",
        "18: allocation »7«: size 512, thread-local:",
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        ("allocation 7:", "allocation 17:", "16: ", "allocation 17 follows allocation 6"),
        ("allocation 0:", "allocation 99:", "2: ", "allocation 99 is the first"),
        (
            "allocation 15:",
            "allocation 18:",
            "35: ",
            "allocation 18 follows allocation 14: allocations 15 to 17 are missing",
        ),
        (BLOCK_7, "", "16: ", "allocation 8 follows allocation 6: allocation 7 is missing"),
        (
            BLOCK_7 + BLOCK_8,
            BLOCK_8 + BLOCK_7,
            "16: ",
            "allocation 8 follows allocation 6: it changed places with allocation 7",
        ),
    ],
)
def test_numbers_count_up_from_0(
    sample: str, old: str, new: str, place: str, sentence: str
) -> None:
    found = [one for one in tell(replaced(sample, old, new)) if one[0] == "allocation-numbering"]
    ((_, where, told),) = found
    assert (where[: len(place)], told) == (place, sentence)


def test_a_head_that_is_gone_accuses_none_of_the_values_below_it(sample: str) -> None:
    text = replaced(sample, "allocation 4: size 8192, parameter 0", "allocation 5, parameter 0")
    assert [code for code, _, _ in tell(text)] == ["syntax"]
    head = sample[sample.index("allocation 4:") : sample.index(" value: <68")]
    ((code, place, _),) = tell(replaced(sample, head, ""))
    assert (code, place[:4]) == ("allocation-numbering", "11: ")


@pytest.mark.parametrize("head", ["allocation 4:", "allocation 14:"])
def test_a_value_in_a_second_allocation(sample: str, head: str) -> None:
    (finding,) = findings(replaced(sample, head, VALUE_77 + head))
    assert finding.code == "value-in-two-allocations"
    number = int(head.split()[1][:-1]) - 1
    assert finding.message == (
        f"value 77 `fusion.5{{}}` lies in allocation {number} and in allocation 15"
    )
    ((place, _),) = related(finding)
    assert place.startswith("42:  value: <»77« fusion.5")


def test_a_copy_in_front_of_the_original_that_does_not_fill_its_allocation() -> None:
    value = " value: <1 a @0> (size=8,offset=0): f32[2]{0}\n"
    text = (
        "BufferAssignment:\nallocation 0: size 16, maybe-live-out:\n"
        f"{value} value: <2 b @0> (size=16,offset=0): f32[4]{{0}}\n"
        f"allocation 1: size 16, preallocated-temp:\n{value}"
        " value: <3 c @0> (size=16,offset=0): f32[4]{0}\n"
    )
    ((code, place, sentence),) = tell(text)
    assert (code, place[:3]) == ("value-in-two-allocations", "3: ")
    assert sentence == "value 1 `a{}` lies in allocation 0 and in allocation 1"


def test_a_value_with_an_offset_in_an_allocation_that_is_not_temporary(sample: str) -> None:
    text = replaced(
        sample, "<79 fusion @0> (size=8192,offset=0", "<79 fusion @0> (size=8192,offset=8"
    )
    assert tell(text) == [
        (
            "nonzero-offset",
            "9:  value: <79 fusion @0> (size=8192,offset=»8«): f32[16,32]{1,0:T(8,128)}",
            "the offset is 8 B in allocation 3; only values in preallocated-temp allocations have "
            "one other than 0",
        )
    ]
