"""Tests for the part of a training step that an instruction belongs to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.program.phases import is_backward_pass, is_rematerialized, phase_of, split_scopes


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("jit(step)/jvp()/dot_general", False),
        ("jit(step)/transpose(jvp())/dot_general", True),
        ("jit(step)/add", None),
        ("", None),
    ],
)
def test_operation_name_shows_the_pass(op_name: str, expected: bool | None) -> None:
    assert is_backward_pass(op_name) is expected


@pytest.mark.parametrize(
    ("name", "op_name", "expected"),
    [
        ("fusion.3.remat2", "", True),
        ("fusion.3", "jit(step)/rematted_computation/mul", True),
        ("fusion.3", "jit(step)/mul", False),
    ],
)
def test_names_show_rematerialization(name: str, op_name: str, expected: bool) -> None:
    assert is_rematerialized(name, op_name) is expected


def test_rematerialization_precedes_the_backward_pass() -> None:
    op_name = "jit(step)/transpose(jvp())/rematted_computation/mul"
    assert phase_of("fusion.3", op_name) == "rematerialized"
    assert phase_of("fusion.3", "jit(step)/transpose(jvp())/mul") == "backward"
    assert phase_of("fusion.3", "jit(step)/jvp()/mul") == "forward"
    assert phase_of("fusion.3", "") == "other"


def test_slash_in_brackets_separates_nothing() -> None:
    assert split_scopes("jit(f)/jvp(a/b)/dot") == ("jit(f)", "jvp(a/b)", "dot")


@given(st.text("ab/()[]"))
def test_every_operation_name_has_a_scope(name: str) -> None:
    assert "".join(split_scopes(name)).replace("/", "") == name.replace("/", "")


@given(st.text("a/()[];:"))
def test_every_merged_name_has_parts(name: str) -> None:
    assert split_scopes(name)


@pytest.mark.parametrize(
    ("op_name", "parts"),
    [
        ("jit(f)/jvp(a/b)/mul", ("jit(f)", "jvp(a/b)", "mul")),
        ("jit(f)/t/mul;jit(f)/t/add", ("jit(f)", "t", "mul, add")),
        ("jit(f)/t/transpose;t/transpose", ("jit(f)", "t", "transpose")),
        ("jit(f)/(a()/sum:a()/dot:b/sum)", ("jit(f)", "a()", "sum, dot")),
        ("(", ("(",)),
        ("()", ("()",)),
        (";/", (";/",)),
        ("", ("",)),
    ],
)
def test_merged_names_have_the_scopes_of_the_first(op_name: str, parts: tuple[str, ...]) -> None:
    assert split_scopes(op_name) == parts
