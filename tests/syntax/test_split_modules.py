"""Tests of XLA: several modules in one text, between lines with ``// -----``."""

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
