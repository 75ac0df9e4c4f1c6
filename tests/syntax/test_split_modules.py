"""Several modules in one text: tests of XLA, with ``// -----`` between, and logs."""

import pytest

from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind, split_sections

TEXT = """\
// RUN: hlo-opt %s --split-input-file | FileCheck %s

// CHECK-LABEL: HloModule first
HloModule first

ENTRY e {
  ROOT x = f32[] parameter(0)  // CHECK: parameter(0)
}

// -----

HloModule second

ENTRY e {
  ROOT x = f32[] parameter(0)
}
"""


def test_separators_split_a_module_text() -> None:
    lines = TEXT.split("\n")
    assert detect_file_kind(lines) is FileKind.STDOUT_DUMP
    sections = split_sections(lines)
    assert [section.name for section in sections] == ["module 1.hlo", "module 2.hlo"]
    parts = [lines[one.first : one.first + one.count] for one in sections]
    assert ["HloModule first" in part for part in parts] == [True, False]
    assert ["HloModule second" in part for part in parts] == [False, True]


def test_one_module_is_a_module() -> None:
    lines = TEXT.partition("// -----")[0].split("\n")
    assert detect_file_kind(lines) is FileKind.MODULE
    assert split_sections(lines) == []


LINE = "I0604 12:00:00 train.py:1] step 1 loss=0.12"
MODULE = """\
HloModule jit_f, is_scheduled=true

ENTRY e {
  ROOT x = f32[] parameter(0)
}"""


@pytest.mark.parametrize("before", [[LINE], [LINE] * 100, ["step 1"] * 100])
def test_modules_in_a_log_are_sections(before: list[str]) -> None:
    lines = [*before, *MODULE.split("\n"), "done", *MODULE.split("\n"), "done", ""]
    assert detect_file_kind(lines) is FileKind.STDOUT_DUMP
    assert ["\n".join(one.text(lines)) for one in split_sections(lines)] == [MODULE, MODULE]


def test_truncated_module_in_a_log_keeps_its_end() -> None:
    lines = [LINE, *MODULE.split("\n"), "%b {", "  %x = f32[8]{0} par"]
    (section,) = split_sections(lines)
    assert section.text(lines) == lines[1:]


@pytest.mark.parametrize("before", [["settings {", "}"], ["```"] * 100, ["Prose."] * 10])
def test_other_text_before_a_module_belongs_to_it(before: list[str]) -> None:
    assert split_sections([*before, *MODULE.split("\n")]) == []
