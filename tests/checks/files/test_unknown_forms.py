"""Tests for ``unknown-form`` and for the rules that it makes silent."""

import re
from pathlib import Path

import pytest

from checks.damage import findings, found_in, replace_once, reports
from hlo_lsp.checks.framework.finding import Severity
from joined_entries import join_entries

_MESSAGE = "this version of hlo-lsp does not know the {}: rules that depend on it are not checked"


@pytest.mark.parametrize(
    "field", ["heap 3", "is-shiny", "alignment 128 bytes", "kind (a b)", "x=1"]
)
def test_unknown_field_is_a_warning(sample: str, field: str) -> None:
    old = "color 1, preallocated-temp:\n value: <66"
    (finding,) = findings(replace_once(sample, old, f"{field}, {old}"))
    assert (finding.code, finding.severity) == ("unknown-form", Severity.WARNING)
    assert finding.message == _MESSAGE.format(f"field `{field}`")


@pytest.mark.parametrize("letters", [":Q(7)", ":T(8,128)Zap(1,2)", ":T(8,128)S(0)Y(3)", ":X()"])
def test_unknown_letter_of_a_layout_is_a_warning(sample: str, letters: str) -> None:
    old = "<64 Arg_2.3 @0> (size=16384,offset=0): f32[64,32]{0,1:T(8,128)}"
    ((code, _, _),) = reports(replace_once(sample, old, old.replace(":T(8,128)", letters)))
    assert code == "unknown-form"


def test_first_of_many_lines_is_reported(sample: str) -> None:
    text = sample.replace(" bytes (cumulative", " bytes in hbm (cumulative")
    ((code, place, message),) = reports(text)
    assert (code, place.split(":")[0]) == ("unknown-form", "245")
    count = text.count(" in hbm (")
    assert message.endswith(
        f", and {count - 1} more in this file: rules that depend on it are not checked"
    )


def test_long_text_is_cut(sample: str) -> None:
    old = "BufferAssignment:\n"
    ((_, _, message),) = reports(replace_once(sample, old, f"{old}Pools: {'x' * 100}\n"))
    assert f"the line `Pools: {'x' * 53}...`" in message


def test_facts_of_other_lines_are_not_checked(sample: str) -> None:
    wrong = replace_once(sample, "Total bytes used: 172580 (168.5KiB)", "Total bytes used: 5 (5B)")
    assert {code for code, _, _ in reports(wrong)} == {"total-mismatch"}
    new = replace_once(wrong, "BufferAssignment:\n", "BufferAssignment:\nPools: 3\n")
    assert {code for code, _, _ in reports(new)} == {"unknown-form"}


def test_lines_of_known_forms_are_checked(sample: str) -> None:
    wrong = replace_once(
        sample, "(size=16384,offset=0): f32[64,32]", "(size=16,offset=0): f32[64,32]"
    )
    new = replace_once(wrong, "BufferAssignment:\n", "BufferAssignment:\nPools: 3\n")
    assert {code for code, _, _ in reports(new)} == {"unknown-form", "size-mismatch"}


def test_other_computations_are_checked() -> None:
    text = (
        "HloModule m\n\n%f (a: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
        "  ROOT %b = f32[] sharpen(%a, %z)\n}\n\n"
        "ENTRY %main (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
        "  ROOT %r = f32[] add(%p, %q)\n}\n"
    )
    assert [(code, place.split(":")[0]) for code, place, _ in reports(text, "m.txt")] == [
        ("unknown-form", "5"),
        ("undefined-instruction", "10"),
    ]


def test_file_with_an_unknown_suffix_is_reported(tmp_path: Path, sample: str) -> None:
    stem = "module_0001.jit_f.cpu_after_optimizations"
    (tmp_path / f"{stem}-buffer-assignment.txt").write_text(sample)
    (tmp_path / f"{stem}-buffer-colors.txt").write_text("colors: 3\n")
    found = [finding for _, finding in found_in(tmp_path) if finding.code == "unknown-form"]
    assert [finding.message for finding in found] == [
        f"this version of hlo-lsp does not know the file `{stem}-buffer-colors.txt`: it is not read"
    ]


def test_forms_make_no_file_foreign(tmp_path: Path, sample: str) -> None:
    stem = "module_0001.jit_f.cpu_after_optimizations"
    at = sample.index("Total bytes used")
    (tmp_path / f"{stem}-buffer-assignment.txt").write_text(sample[:at].replace("{", "{w;"))
    (tmp_path / f"{stem}-buffer-assignment-values.txt").write_text(sample[at:])
    codes = {finding.code for _, finding in found_in(tmp_path)}
    assert "unknown-form" in codes
    assert "sibling-mismatch" not in codes


@pytest.mark.parametrize("mark", [" async>", "/2>"])
def test_unknown_header_behind_an_instruction_is_a_warning(sample: str, mark: str) -> None:
    joined = join_entries(sample)
    text = re.sub(r"^( from instruction: .*<[0-9]+ .*)>$", rf"\1{mark}", joined, flags=re.MULTILINE)
    assert text != joined
    assert {finding.code for finding in findings(text)} == {"unknown-form"}
