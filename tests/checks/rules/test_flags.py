"""``flag-contradiction``: what an allocation is said to be, against what lies in it."""

from pathlib import Path

import pytest

from checks.damage import found_in, replaced, tell


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        (
            "allocation 14: size 32800, preallocated-temp",
            "allocation 14: size 32800, constant",
            "31: allocation 14: size 32800, »constant«:",
            "allocation 14 is constant, but it holds `copy-start.1{}`, which is computed by the "
            "schedule",
        ),
        (
            "allocation 0: size 512, thread-local",
            "allocation 0: size 512, preallocated-temp",
            "2: allocation 0: size 512, »preallocated-temp«:",
            "allocation 0 is preallocated-temp, but it holds `add.14{}`, which is thread-local",
        ),
        (
            "allocation 0: size 512, thread-local",
            "allocation 0: size 512",
            "2: allocation »0«: size 512:",
            "allocation 0: it has no flag that says what it is for; `add.14{}` is thread-local",
        ),
        (
            "allocation 0: size 512, thread-local",
            "allocation 0: size 512, constant, thread-local",
            "2: allocation 0: size 512, »constant«, thread-local:",
            "allocation 0 is constant, but it is thread-local, too",
        ),
        (
            "|f32[16,32]|, maybe-live-out",
            "|f32[16,32]|",
            "8: allocation »3«: size 8192, output shape is |f32[16,32]|:",
            "allocation 3: it has no flag that says what it is for; `fusion{}` is computed by the "
            "schedule",
        ),
    ],
)
def test_a_flag_that_is_wrong(sample: str, old: str, new: str, place: str, sentence: str) -> None:
    assert tell(replaced(sample, old, new)) == [("flag-contradiction", place, sentence)]


def test_a_flag_that_only_a_later_compiler_prints_is_not_judged(sample: str) -> None:
    assert (
        tell(replaced(sample, "allocation 0: size 512, thread-local", "allocation 0: size 512, z"))
        == []
    )


def test_a_value_that_was_moved_is_told_once(sample: str) -> None:
    line = " value: <1 Arg_1.13 @0> (size=512,offset=0): f32[]{:T(128)}\n"
    text = replaced(replaced(sample, line, ""), "allocation 15:", line + "allocation 15:")
    assert tell(text) == [
        (
            "flag-contradiction",
            "34:  value: <»1« Arg_1.13 @0> (size=512,offset=0): f32[]{:T(128)}",
            "`Arg_1.13{}` does not belong into allocation 14: its id is out of order; allocation 5 "
            "is empty, and would fit",
        )
    ]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (", parameter 0, shape |{}| at ShapeIndex {{}}", "", "it holds `a"),
        (", maybe-live-out", "", "which the program returns"),
    ],
)
def test_module_text_tells_parameters_and_what_is_returned(
    compiled: Path, old: str, new: str, sentence: str
) -> None:
    (path,) = compiled.glob("*-buffer-assignment.txt")
    text = path.read_text()
    line = next(line for line in text.splitlines() if "parameter 0" in line)
    assert "maybe-live-out" in line
    shape = line.split("|")[1]
    path.write_text(replaced(text, line, line.replace(old.format(shape), new)))
    found = [finding for _, finding in found_in(compiled)]
    ((_, said),) = {(one.code, one.message) for one in found if one.code.startswith("flag")}
    assert sentence in said
