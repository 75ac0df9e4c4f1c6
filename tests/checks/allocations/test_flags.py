"""Tests for ``flag-contradiction``: flags of allocations and their values."""

from pathlib import Path

import pytest

from checks.damage import findings, found_in, related, replace_once, reports


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("allocation 14: size 32800, preallocated-temp", "allocation 14: size 32800, constant",
         "31: allocation 14: size 32800, »constant«:",
         "allocation 14 is constant, but `copy-start.1{}` is computed by the schedule"),
        ("allocation 0: size 512, thread-local", "allocation 0: size 512, preallocated-temp",
         "2: allocation 0: size 512, »preallocated-temp«:",
         "allocation 0 is preallocated-temp, but `add.14{}` is thread-local"),
        ("allocation 0: size 512, thread-local", "allocation 0: size 512",
         "2: allocation »0«: size 512:", "allocation 0 has no flag"),
        ("allocation 0: size 512, thread-local", "allocation 0: size 512, constant, thread-local",
         "2: allocation 0: size 512, constant, »thread-local«:",
         "allocation 0 is thread-local, but also constant"),
        ("allocation 15: size 69632, color 1, preallocated-temp",
         "allocation 15: size 69632, color 1, maybe-live-out",
         "35: allocation 15: size 69632, color 1, »maybe-live-out«:",
         "allocation 15 is maybe-live-out, but 6 of its values have offsets, as in a "
         "preallocated-temp allocation"),
    ],
)  # fmt: skip
def test_wrong_flag_is_reported(sample: str, old: str, new: str, place: str, message: str) -> None:
    assert reports(replace_once(sample, old, new)) == [("flag-contradiction", place, message)]


def test_contradicting_value_is_related(sample: str) -> None:
    old = "allocation 0: size 512, thread-local"
    (finding,) = findings(replace_once(sample, old, "allocation 0: size 512, preallocated-temp"))
    assert related(finding) == [
        (
            "3:  value: <»2« add.14 @0> (size=512,offset=0): f32[]{:T(128)}",
            "`add.14{}` is in allocation 0",
        )
    ]


def test_unknown_flag_is_no_contradiction(sample: str) -> None:
    old = "allocation 0: size 512, thread-local"
    found = reports(replace_once(sample, old, "allocation 0: size 512, z"))
    assert [code for code, _, _ in found] == ["unknown-form"]


def test_moved_value_is_reported_once(sample: str) -> None:
    line = " value: <1 Arg_1.13 @0> (size=512,offset=0): f32[]{:T(128)}\n"
    text = replace_once(replace_once(sample, line, ""), "allocation 15:", line + "allocation 15:")
    found = {code: place for code, place, _ in reports(text)}
    assert "»preallocated-temp«" in found["flag-contradiction"]
    assert found.keys() <= {"flag-contradiction", "value-order"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", parameter 0, shape |{}| at ShapeIndex {{}}", "", "is a parameter of the program"),
        (", maybe-live-out", "", "is not maybe-live-out, but the program returns"),
    ],
)
def test_module_text_states_parameters_and_result(
    compiled: Path, old: str, new: str, message: str
) -> None:
    (path,) = compiled.glob("*-buffer-assignment.txt")
    text = path.read_text()
    line = next(line for line in text.splitlines() if "parameter 0" in line)
    assert "maybe-live-out" in line
    shape = line.split("|")[1]
    path.write_text(replace_once(text, line, line.replace(old.format(shape), new)))
    (found,) = [one for _, one in found_in(compiled) if one.code == "flag-contradiction"]
    assert message in found.message


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("maybe-live-out", "is maybe-live-out, but the program returns none of its values"),
        (
            "parameter 9, shape |f32[2]| at ShapeIndex {}",
            "is parameter, but none of its values is a parameter of the program",
        ),
    ],
)
def test_flag_without_its_value_is_reported(compiled: Path, flag: str, message: str) -> None:
    (path,) = compiled.glob("*-buffer-assignment.txt")
    text = path.read_text()
    temp = next(
        line
        for line in text.splitlines()
        if "preallocated-temp" in line and text.split(line)[1].count(" value:")
    )
    path.write_text(replace_once(text, temp, temp.replace("preallocated-temp", flag)))
    messages = [one.message for _, one in found_in(compiled) if one.code == "flag-contradiction"]
    assert any(each.endswith(message) for each in messages)
