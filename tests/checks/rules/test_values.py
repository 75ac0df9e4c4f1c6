"""Ids, names and indexes of values, in allocations and under ``Used values``."""

import shutil
from pathlib import Path

import pytest

from checks.damage import related, replaced
from checks.values_rules import dump_of, edited, findings_of, put, tell_in, tell_of

VALUES = "-buffer-assignment-values.txt"
ASSIGNMENT = "-buffer-assignment.txt"


def _entry(text: str, start: str, end: str) -> str:
    """Part of the used values."""
    first = text.index(f"\n{start}") + 1
    return text[first : text.index(end, first)]


def test_an_intact_dump(sample: str, compiled: Path) -> None:
    assert tell_of(sample) == []
    assert tell_in(compiled) == []


def test_an_id_that_another_entry_has(sample: str) -> None:
    dump = dump_of(replaced(sample, "\n<77 fusion.5 @1>", "\n<78 fusion.5 @1>"))
    (finding,) = findings_of(dump)
    assert finding.code == "duplicate-value-id"
    assert finding.message == (
        "the id 78 is that of `fusion.2{}` on line 198; in its allocation `fusion.5{}` is value 77"
    )
    assert related(finding) == [("198: <»78« fusion.2 @1>", "the same id")]


def test_the_twin_is_not_accused_where_it_stands_below(sample: str) -> None:
    text = replaced(sample, " value: <75 multiply_reduce", " value: <76 multiply_reduce")
    ((code, place, _),) = tell_of(text)
    assert (code, place[:17]) == ("duplicate-value-id", "39:  value: <»76«")


def test_an_entry_that_stands_there_twice(sample: str) -> None:
    entry = _entry(sample, "<77 fusion.5", "<78 fusion.2")
    assert tell_of(sample.replace(entry, entry + entry)) == [
        (
            "duplicate-value-id",
            "198: <»77« fusion.5 @1>",
            "value 77 `fusion.5{}` stands on line 191 already",
        )
    ]


def test_an_entry_that_stands_there_again_far_away(sample: str) -> None:
    entry = _entry(sample, "<79 fusion @0>", "\n\nHloLiveRange") + "\n"
    ((code, place, _),) = tell_of(replaced(sample, "\n<1 Arg_1.13", "\n" + entry + "<1 Arg_1.13"))
    assert (code, place) == ("duplicate-value-id", "53: <»79« fusion @0>")


def test_a_value_under_two_allocations_has_a_rule_of_its_own(sample: str) -> None:
    line = " value: <68 Arg_0.1 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}\n"
    assert tell_of(replaced(sample, "allocation 3:", f"{line}allocation 3:")) == []


def test_an_allocation_with_a_color_of_its_own_says_nothing_of_its_values(
    corpus_small: Path, tmp_path: Path
) -> None:
    for path in (corpus_small / "gpu_h100_separate_color").glob("module_15259.jit_fn.*"):
        shutil.copy(path, tmp_path / path.name)
    (path,) = tmp_path.glob(f"*{VALUES}")
    entry = next(line for line in path.read_text().splitlines() if line.startswith("<20 "))
    edited(tmp_path, VALUES, put(entry, entry.replace("@0>", "@1>")))
    ((name, code, place, _),) = tell_in(tmp_path)
    assert (name, code) == (VALUES, "header-mismatch")
    assert place.endswith("@»1«>")


def test_two_lines_of_an_allocation_that_changed_places(sample: str) -> None:
    lines = sample.split("\n")
    lines[40], lines[41] = lines[41], lines[40]
    assert [(code, place[:17], message) for code, place, message in tell_of("\n".join(lines))] == [
        ("value-order", "41:  value: <»78«", "ids ascend, but values 78 and 77 have changed places")
    ]


def test_two_entries_that_changed_places(sample: str) -> None:
    one = _entry(sample, "<3 Arg_0.25", "<4 Arg_1.26")
    other = _entry(sample, "<7 Arg_1.37", "<8 add.38")
    text = sample.replace(one, "\f").replace(other, one).replace("\f", other)
    assert tell_of(text) == [
        (
            "value-order",
            "64: <»7« Arg_1.37 @0>",
            "ids ascend, but values 7 and 3 have changed places",
        )
    ]


def test_an_entry_that_was_moved(sample: str) -> None:
    entry = _entry(sample, "<77 fusion.5", "<78 fusion.2")
    text = replaced(sample.replace(entry, ""), "\n<1 Arg_1.13", "\n" + entry + "<1 Arg_1.13")
    assert tell_of(text) == [
        (
            "value-order",
            "53: <»77« fusion.5 @1>",
            "ids ascend, but value 77 is not in front of value 78",
        )
    ]


def test_a_line_that_joins_two_allocations_is_not_told_by_the_order_of_ids(sample: str) -> None:
    line = next(line for line in sample.split("\n") if line.startswith("allocation 6:"))
    assert tell_of(replaced(sample, line + "\n", "")) == []


def test_a_value_line_that_was_cut_out(sample: str) -> None:
    line = next(line for line in sample.split("\n") if line.startswith(" value: <79 fusion"))
    assert tell_of(replaced(sample, line + "\n", "")) == [
        ("value-set-mismatch", "203: <»79« fusion @0>", "value 79 `fusion{}` lies in no allocation")
    ]


def test_the_only_value_line_that_was_cut_out(corpus_small: Path) -> None:
    (path,) = (corpus_small / "tpu_v5e_jax_0.9.2").glob("module_0236*-buffer-assignment.txt")
    lines = path.read_text().split("\n")
    values = [line for line in lines if line.startswith(" value: ")]
    assert len(values) == 1
    lines.remove(values[0])
    assert [code for code, _, _ in tell_of("\n".join(lines), path.name)] == ["value-set-mismatch"]


def test_an_entry_that_was_cut_out(sample: str) -> None:
    assert tell_of(sample.replace(_entry(sample, "<68 Arg_0.1", "<69 Arg_1.2"), "")) == [
        (
            "value-set-mismatch",
            "11:  value: <»68« Arg_0.1 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}",
            "value 68 `Arg_0.1{}` has no entry under `Used values`",
        )
    ]


def test_an_id_that_no_other_value_has_is_told_once(sample: str) -> None:
    assert tell_of(replaced(sample, "\n<69 Arg_1.2 @0>", "\n<99 Arg_1.2 @0>")) == [
        (
            "value-set-mismatch",
            "132: <»99« Arg_1.2 @0>",
            "`Arg_1.2{}` is value 99 here and value 69 in its allocation",
        )
    ]


def test_of_two_ids_that_one_is_wrong_which_does_not_fit_where_it_stands(sample: str) -> None:
    text = replaced(sample, " value: <69 Arg_1.2", " value: <99 Arg_1.2")
    assert [(code, place[:16]) for code, place, _ in tell_of(text)] == [
        ("value-set-mismatch", "5:  value: <»99«")
    ]


def test_many_values_that_are_gone_are_told_together(corpus_small: Path) -> None:
    folder = corpus_small / "cpu_jax_0.6.2"
    (path,) = folder.glob("*jit_mlp_train*-buffer-assignment.txt")
    text = path.read_text()
    start, end = text.index("allocation 3:"), text.index("\n\nTotal bytes used")
    ((code, _, message),) = tell_of(text[:start] + text[end + 1 :], path.name)
    assert code == "value-set-mismatch"
    assert message.endswith(" on lie in no allocation")


def test_where_a_value_cannot_be_read_none_is_missed(sample: str) -> None:
    assert tell_of(replaced(sample, "<68 Arg_0.1 @0> (size=", "<68 Arg_0.1 @0> (sie=")) == []
    assert tell_of(replaced(sample, "\n<68 Arg_0.1 @0>", "\n<68 Arg_0.1 @0")) == []


@pytest.mark.parametrize(
    ("old", "new", "role"),
    [
        (" value: <69 Arg_1.2 @0>", " value: <69 Arg_1.7 @0>", "name"),
        (" value: <66 copy-start.1{0} @1>", " value: <66 copy-start.1{1} @1>", "index"),
        (" value: <79 fusion @0>", " value: <79 fusion{} @0>", "index"),
        (" value: <79 fusion @0>", " value: <79 fusion (phi) @0>", "mark `(phi)`"),
        ("\n<69 Arg_1.2 @0>", "\n<69 Arg_1.7 @0>", "name"),
        ("\n<66 copy-start.1{0} @1>", "\n<66 copy-start.1{1} @1>", "index"),
        ("\n<79 fusion @0>", "\n<79 fusion{} @0>", "index"),
        ("\n<79 fusion @0>", "\n<79 fusion (phi) @0>", "mark `(phi)`"),
        ("\n<79 fusion @0>", "\n<79 fusion @1>", "memory space"),
    ],
)
def test_a_header_that_differs(sample: str, old: str, new: str, role: str) -> None:
    """The line is accused that the instruction of the value speaks against."""
    text = replaced(sample, old, new)
    line = text[: text.index(new) + 1].count("\n") + 1
    if not new.startswith("\n"):
        line = text[: text.index(new)].count("\n") + 1
    ((code, place, message),) = tell_of(text)
    assert (code, int(place.split(":")[0])) == ("header-mismatch", line)
    assert message.startswith(f"the {role} of value ")


def test_both_names_are_said(sample: str) -> None:
    (finding,) = findings_of(dump_of(replaced(sample, "\n<69 Arg_1.2 @0>", "\n<69 Arg_1.7 @0>")))
    assert finding.message == (
        "the name of value 69 is `Arg_1.7` here and `Arg_1.2` in its allocation"
    )
    assert related(finding) == [
        (
            "5:  value: <69 »Arg_1.2« @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}",
            "`Arg_1.2` here",
        )
    ]


def test_the_files_of_a_split_dump_are_held_against_each_other(compiled: Path) -> None:
    edited(compiled, VALUES, put("\n<10 a.1 @0>", "\n<10 a.3 @0>"))
    ((name, code, place, _),) = tell_in(compiled)
    assert (name, code, place) == (VALUES, "header-mismatch", "29: <10 »a.3« @0>")


def test_a_mark_that_only_a_loop_gives_to_a_parameter(compiled: Path) -> None:
    edited(compiled, VALUES, put("\n<10 a.1 @0>", "\n<10 a.1 (phi) @0>"))
    ((name, code, _, _),) = tell_in(compiled)
    assert (name, code) == (VALUES, "header-mismatch")


@pytest.mark.parametrize("end", [VALUES, ASSIGNMENT])
def test_without_the_other_list_only_order_and_ids_are_known(compiled: Path, end: str) -> None:
    for path in compiled.iterdir():
        if not path.name.endswith(end):
            path.unlink()
    assert tell_in(compiled) == []
    old = "<12 fusion{0} @0>" if end == VALUES else "<10 a.1 @0>"
    edited(compiled, end, put(old, old.replace("<1", "<9")))
    assert [code for _, code, _, _ in tell_in(compiled)] == ["value-order"]
