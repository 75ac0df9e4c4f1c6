"""``color-mismatch``: of three numbers the one is wrong that the other two contradict."""

import pytest

from checks.damage import Told, findings, related, replaced, tell

FUSION_5 = "<77 fusion.5 @1> (size=512,offset=45056): f32[16]{0:T(128)S(1)}"


def _told(text: str) -> list[Told]:
    return [one for one in tell(text) if one[0] == "color-mismatch"]


def test_a_value_in_another_memory_space_than_its_layout_and_its_allocation(sample: str) -> None:
    text = replaced(sample, FUSION_5, FUSION_5.replace("@1", "@2"))
    assert tell(text) == [
        (
            "color-mismatch",
            "41:  value: <77 fusion.5 @»2«> (size=512,offset=45056): f32[16]{0:T(128)S(1)}",
            "`fusion.5{}` is @2, but its allocation 15 has color 1",
        )
    ]
    (finding,) = findings(text)
    assert related(finding) == [
        (
            "35: allocation 15: size 69632, color »1«, preallocated-temp:",
            "allocation 15 is in memory space 1",
        )
    ]


@pytest.mark.parametrize(
    ("layout", "place", "said"),
    [
        ("{0:T(128)S(3)}", "f32[16]{0:T(128)»S(3)«}", 3),
        ("{0:T(128)}", "»f32[16]{0:T(128)}«", 0),
    ],
)
def test_a_layout_in_another_memory_space(sample: str, layout: str, place: str, said: int) -> None:
    shape = "f32[16]{0:T(128)S(1)}"
    ((_, where, sentence),) = _told(
        replaced(sample, FUSION_5, FUSION_5.replace(shape, f"f32[16]{layout}"))
    )
    assert where == f"41:  value: <77 fusion.5 @1> (size=512,offset=45056): {place}"
    assert sentence == (
        f"the layout puts `fusion.5{{}}` into memory space {said}, but the value is @1"
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        (
            "allocation 15: size 69632, color 1",
            "allocation 15: size 69632, color 3",
            "35: allocation 15: size 69632, color »3«, preallocated-temp:",
            "allocation 15 has color 3, but its values are in memory space 1",
        ),
        (
            "allocation 15: size 69632, color 1",
            "allocation 15: size 69632",
            "35: allocation »15«: size 69632, preallocated-temp:",
            "allocation 15 has color 0, but its values are in memory space 1",
        ),
        (
            "allocation 14: size 32800",
            "allocation 14: size 32800, color 2",
            "31: allocation 14: size 32800, color »2«, preallocated-temp:",
            "allocation 14 has color 2, but its values are in memory space 0",
        ),
    ],
)
def test_an_allocation_in_another_memory_space_than_its_values(
    sample: str, old: str, new: str, place: str, sentence: str
) -> None:
    assert tell(replaced(sample, old, new)) == [("color-mismatch", place, sentence)]


def test_a_combined_temporary_allocation_of_a_gpu_may_have_a_color_of_its_own() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 8, color {}, preallocated-temp:\n"
        " value: <1 a @0> (size=8,offset=0): f32[2]{{0}}\n"
    )
    name = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
    assert tell(text.format(2), name) == []
    assert [code for code, _, _ in tell(text.format(1), name)] == ["color-mismatch"]
    cpu = name.replace("sm_9.0a_gpu", "cpu")
    assert [code for code, _, _ in tell(text.format(2), cpu)] == ["color-mismatch"]


def test_of_values_in_an_allocation_with_a_color_of_its_own_the_odd_one_is_wrong() -> None:
    tuples = "(size=8,offset=0): (f32[2]{0})\n"
    text = (
        "BufferAssignment:\nallocation 0: size 8, color 2, preallocated-temp:\n"
        f" value: <1 a{{}} @1> {tuples} value: <2 b{{}} @0> {tuples}"
    )
    name = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
    assert tell(text, name) == [
        (
            "color-mismatch",
            "3:  value: <1 a{} @»1«> (size=8,offset=0): (f32[2]{0})",
            "`a{}` is @1, but values in allocation 0 are @0",
        )
    ]


def test_an_entry_tells_whether_a_lonely_tuple_or_its_allocation_is_wrong() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 32, color {}, preallocated-temp:\n"
        " value: <1 t{{}} @{}> (size=32,offset=0): (f32[2]{{0}}, f32[2]{{0}})\n\nUsed values:\n"
        "<1 t{{}} @0>\n positions:\n  t {{}}\n uses:\n from instruction: %t = (f32[2]{{0}}, "
        "f32[2]{{0}}) tuple(%a, %b)\n"
    )
    assert [place[0] for _, place, _ in _told(text.format(1, 0))] == ["2"]
    assert [place[0] for _, place, _ in _told(text.format(0, 1))] == ["3"]
