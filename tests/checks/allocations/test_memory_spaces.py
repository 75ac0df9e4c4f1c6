"""Tests for ``color-mismatch``: memory spaces of values, layouts, and allocations."""

import pytest

from checks.damage import findings, related, replace_once, reports

FUSION_5 = "<77 fusion.5 @1> (size=512,offset=45056): f32[16]{0:T(128)S(1)}"
GPU = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"


def test_color_of_value_is_reported(sample: str) -> None:
    (finding,) = findings(replace_once(sample, FUSION_5, FUSION_5.replace("@1", "@2")))
    assert finding.message == "`fusion.5{}` is @2, but its layout is in memory space 1"
    assert [place for place, _ in related(finding)] == [
        "41:  value: <77 fusion.5 @2> (size=512,offset=45056): »f32[16]{0:T(128)S(1)}«",
        "35: allocation 15: size 69632, color »1«, preallocated-temp:",
    ]


@pytest.mark.parametrize(("layout", "space"), [("{0:T(128)S(3)}", 3), ("{0:T(128)}", 0)])
def test_memory_space_of_layout_is_reported(sample: str, layout: str, space: int) -> None:
    shape = "f32[16]{0:T(128)S(1)}"
    text = replace_once(sample, FUSION_5, FUSION_5.replace(shape, f"f32[16]{layout}"))
    ((place, message),) = [
        reported[1:] for reported in reports(text) if reported[0] == "color-mismatch"
    ]
    assert "<77 fusion.5 @»1«>" in place
    assert message == f"`fusion.5{{}}` is @1, but its layout is in memory space {space}"


@pytest.mark.parametrize(
    ("old", "new", "place", "colors"),
    [
        ("15: size 69632, color 1", "15: size 69632, color 3", "color »3«", (15, 3, 1)),
        ("15: size 69632, color 1", "15: size 69632", "allocation »15«", (15, 0, 1)),
        ("14: size 32800", "14: size 32800, color 2", "color »2«", (14, 2, 0)),
    ],
)
def test_color_of_allocation_is_reported(
    sample: str, old: str, new: str, place: str, colors: tuple[int, int, int]
) -> None:
    ((code, where, message),) = reports(
        replace_once(sample, f"allocation {old}", f"allocation {new}")
    )
    assert (code, place in where) == ("color-mismatch", True)
    number, color, space = colors
    assert message == (
        f"allocation {number} has color {color}, but its values are in memory space {space}"
    )


@pytest.mark.parametrize(("color", "path", "count"), [(2, GPU, 0), (1, GPU, 1), (2, "cpu", 1)])
def test_gpu_temp_may_have_another_color(color: int, path: str, count: int) -> None:
    text = (
        f"BufferAssignment:\nallocation 0: size 8, color {color}, preallocated-temp:\n"
        " value: <1 a @0> (size=8,offset=0): f32[2]{0}\n"
    )
    name = path if path == GPU else GPU.replace("sm_9.0a_gpu", path)
    assert [code for code, _, _ in reports(text, name)] == ["color-mismatch"] * count


def test_odd_value_in_recolored_temp_is_reported() -> None:
    tuples = "(size=8,offset=0): (f32[2]{0})\n"
    text = (
        "BufferAssignment:\nallocation 0: size 8, color 2, preallocated-temp:\n"
        f" value: <1 a{{}} @1> {tuples} value: <2 b{{}} @0> {tuples}"
    )
    ((_, place, message),) = reports(text, GPU)
    assert "<1 a{} @»1«>" in place
    assert message == "`a{}` is @1, but allocation 0 has color 2"
