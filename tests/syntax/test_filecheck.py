"""The variables in FileCheck directives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.syntax.filecheck import capture_mentions, is_directive, resolved_captures


@pytest.mark.parametrize(
    ("line", "mentions"),
    [
        ("// CHECK: %[[A:.*]] = f32[] add(%[[B]])", [("A", True), ("B", False)]),
        ("  # CHECK-SAME: %[[arg0:[^ ]+]]", [("arg0", True)]),
        ("; CHECK-GCN-DAG: [[#%x,N:]] [[#N + 1]]", [("N", True), ("N", False)]),
        ("// CHECK: %[[$GLOBAL:.*]]", [("$GLOBAL", True)]),
        ("// CHECK: dense<[[1, 2]]> [[@LINE]] [[offset, 1]]", []),
        ("// CHECK-SAME{LITERAL}: [[A]]", []),
        ("%[[A]] = f32[] add(x)", []),
    ],
)
def test_variables_of_a_line(line: str, mentions: list[tuple[str, bool]]) -> None:
    found = list(capture_mentions(line, 0))
    assert [(each.name, each.is_definition) for each in found] == mentions
    assert all(line[each.start : each.end] == each.name for each in found)


def _lines_of_captures(text: str) -> list[list[int]]:
    resolved = resolved_captures(text.split("\n"))
    return [
        [one.line for one in captures]
        for mention, captures in resolved.items()
        if not mention.is_definition
    ]


def test_use_has_the_last_capture_before_it() -> None:
    text = "// CHECK: [[A:.]]\n// CHECK: [[A]]\n// CHECK: [[A:.]] [[A]]\n// CHECK: [[B]]"
    assert _lines_of_captures(text) == [[0], [2], []]


def test_alternatives_of_other_prefixes_are_kept() -> None:
    text = (
        "// CHECK: [[A:.]]\n// CHECK-LABEL: b\n"
        "// CHECK-PTX: [[A:.]]\n// CHECK-GCN: [[A:.]]\n"
        "// CHECK: [[A]]\n// CHECK-GCN: [[A]]"
    )
    assert _lines_of_captures(text) == [[2, 3], [3]]


def test_variable_is_known_after_a_label() -> None:
    assert _lines_of_captures("// CHECK: [[A:.]]\n// CHECK-LABEL: b\n// CHECK: [[A]]") == [[0]]


@given(st.text(alphabet="/#; CHEK-:[]$%A1{}\n", max_size=80))
def test_any_text_is_read(text: str) -> None:
    for mention, captures in resolved_captures(text.split("\n")).items():
        assert all(one.is_definition and one.name == mention.name for one in captures)


def test_instruction_is_no_directive() -> None:
    assert not is_directive("  a = f32[] add(b, c) // CHECK: d")
