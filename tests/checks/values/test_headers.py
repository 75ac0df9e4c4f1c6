"""Tests for ids, names, and indexes of values in allocations and under ``Used values``."""

import shutil
from pathlib import Path

import pytest

from checks.damage import dump_of, related, replace_once
from checks.values_rules import edit_file, findings_of, replacement, reports_in, reports_of

VALUES = "-buffer-assignment-values.txt"
ASSIGNMENT = "-buffer-assignment.txt"


def _entry(text: str, start: str, end: str) -> str:
    """Return the lines of an entry of the used values."""
    first = text.index(f"\n{start}") + 1
    return text[first : text.index(end, first)]


def test_id_of_another_entry_is_a_duplicate(sample: str) -> None:
    dump = dump_of(replace_once(sample, "\n<77 fusion.5 @1>", "\n<78 fusion.5 @1>"))
    (finding,) = findings_of(dump)
    assert finding.code == "duplicate-value-id"
    assert finding.message == (
        "id 78 is repeated: line 198 has it for `fusion.2{}`, and `fusion.5{}` has id 77 in its "
        "allocation"
    )
    assert [text for _, text in related(finding)] == ["the same id", "id 77"]
    assert [fix.title for fix in finding.fixes] == ["Change to `77`"]


def test_id_of_a_later_value_is_reported(sample: str) -> None:
    text = replace_once(sample, " value: <75 multiply_reduce", " value: <76 multiply_reduce")
    ((code, place, _),) = reports_of(text)
    assert (code, place[:17]) == ("duplicate-value-id", "39:  value: <»76«")


def test_repeated_entry_is_reported_once(sample: str) -> None:
    entry = _entry(sample, "<77 fusion.5", "<78 fusion.2")
    assert reports_of(sample.replace(entry, entry + entry)) == [
        (
            "duplicate-value-id",
            "198: <»77« fusion.5 @1>",
            "id 77 is repeated: line 191 has it for the same value",
        )
    ]


def test_value_in_two_allocations_has_its_own_rule(sample: str) -> None:
    line = " value: <68 Arg_0.1 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}\n"
    assert reports_of(replace_once(sample, "allocation 3:", f"{line}allocation 3:")) == []


def test_recolored_allocation_does_not_recolor_its_values(
    corpus_small: Path, tmp_path: Path
) -> None:
    for path in (corpus_small / "gpu_h100_separate_color").glob("module_15259.jit_fn.*"):
        shutil.copy(path, tmp_path / path.name)
    (path,) = tmp_path.glob(f"*{VALUES}")
    entry = next(line for line in path.read_text().splitlines() if line.startswith("<20 "))
    edit_file(tmp_path, VALUES, replacement(entry, entry.replace("@0>", "@1>")))
    ((name, code, place, _),) = reports_in(tmp_path)
    assert (name, code) == (VALUES, "header-mismatch")
    assert place.endswith("@»1«>")


def test_swapped_values_of_an_allocation_do_not_ascend(sample: str) -> None:
    lines = sample.split("\n")
    lines[40], lines[41] = lines[41], lines[40]
    assert [
        (code, place[:17], message) for code, place, message in reports_of("\n".join(lines))
    ] == [("value-order", "42:  value: <»77«", "ids must ascend: value 77 is after value 78")]


def test_moved_entry_does_not_ascend(sample: str) -> None:
    entry = _entry(sample, "<77 fusion.5", "<78 fusion.2")
    text = replace_once(sample.replace(entry, ""), "\n<1 Arg_1.13", "\n" + entry + "<1 Arg_1.13")
    assert [(code, message) for code, _, message in reports_of(text)] == [
        ("value-order", "ids must ascend: value 1 is after value 77")
    ]


def test_missing_value_line_is_reported_at_the_entry(sample: str) -> None:
    line = next(line for line in sample.split("\n") if line.startswith(" value: <79 fusion"))
    assert reports_of(replace_once(sample, line + "\n", "")) == [
        (
            "value-set-mismatch",
            "203: <»79« fusion @0>",
            "value 79 `fusion{}` is not in any allocation",
        )
    ]


def test_missing_entry_is_reported_at_the_value(sample: str) -> None:
    assert reports_of(sample.replace(_entry(sample, "<68 Arg_0.1", "<69 Arg_1.2"), "")) == [
        (
            "value-set-mismatch",
            "11:  value: <»68« Arg_0.1 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}",
            "value 68 `Arg_0.1{}` is not under `Used values`",
        )
    ]


def test_unknown_id_that_descends_is_reported(sample: str) -> None:
    dump = dump_of(replace_once(sample, "\n<69 Arg_1.2 @0>", "\n<99 Arg_1.2 @0>"))
    (finding,) = findings_of(dump)
    assert finding.code == "value-set-mismatch"
    assert finding.message == "`Arg_1.2{}` has id 99 here and id 69 in its allocation"
    assert [fix.title for fix in finding.fixes] == ["Change to `69`"]


def test_unknown_id_has_no_fix_where_both_ascend(sample: str) -> None:
    dump = dump_of(replace_once(sample, " value: <69 Arg_1.2", " value: <99 Arg_1.2"))
    (finding,) = findings_of(dump)
    assert (finding.code, finding.fixes) == ("value-set-mismatch", ())
    assert [text for _, text in related(finding)] == ["id 99"]


def test_many_missing_values_are_one_finding(corpus_small: Path) -> None:
    folder = corpus_small / "cpu_jax_0.6.2"
    (path,) = folder.glob("*jit_mlp_train*-buffer-assignment.txt")
    text = path.read_text()
    start, end = text.index("allocation 3:"), text.index("\n\nTotal bytes used")
    ((code, _, message),) = reports_of(text[:start] + text[end + 1 :], path.name)
    assert code == "value-set-mismatch"
    assert message == "55 values are not in any allocation, the first is 0 `Arg_0.57{}`"


def test_broken_line_hides_missing_values(sample: str) -> None:
    assert reports_of(replace_once(sample, "<68 Arg_0.1 @0> (size=", "<68 Arg_0.1 @0> (sie=")) == []
    assert reports_of(replace_once(sample, "\n<68 Arg_0.1 @0>", "\n<68 Arg_0.1 @0")) == []


def test_differing_header_names_both_and_is_fixed(sample: str) -> None:
    (finding,) = findings_of(
        dump_of(replace_once(sample, "\n<69 Arg_1.2 @0>", "\n<69 Arg_1.7 @0>"))
    )
    assert finding.message == (
        "the name of value 69 is `Arg_1.7` here and `Arg_1.2` in its allocation"
    )
    assert related(finding) == [
        (
            "5:  value: <69 »Arg_1.2« @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}",
            "`Arg_1.2` here",
        )
    ]
    assert [fix.title for fix in finding.fixes] == ["Change to `Arg_1.2`"]


@pytest.mark.parametrize("end", [VALUES, ASSIGNMENT])
def test_one_list_alone_must_ascend(compiled: Path, end: str) -> None:
    for path in compiled.iterdir():
        if not path.name.endswith(end):
            path.unlink()
    assert reports_in(compiled) == []
    old = "<12 fusion{0} @0>" if end == VALUES else "<10 a.1 @0>"
    edit_file(compiled, end, replacement(old, old.replace("<1", "<9")))
    assert [code for _, code, _, _ in reports_in(compiled)] == ["value-order"]
