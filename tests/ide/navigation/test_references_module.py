"""References to instructions, computations, parameters, and table rows in module text."""

import pytest

import marked_program
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import ComputationTarget, InstructionTarget, LocationRowTarget
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.compile import Compile

PROGRAM = marked_program.program()


def _of(start: str) -> tuple[list[str | None], set[str | None]]:
    declared, mentioned = declarations_and_references(PROGRAM.dump, PROGRAM.target(start))
    return [PROGRAM.mark_at(place) for place in declared], {
        PROGRAM.mark_at(place) for place in mentioned
    }


@pytest.mark.parametrize(
    ("starts", "declared", "mentioned"),
    [
        (["start", "start-before"], "start", {"start-before", "start-in-done"}),
        (
            ["v", "v-in-call", "v-in-fusion", "signed-v"],
            "v",
            {"signed-v", "v-in-call", "v-in-fusion"},
        ),
        (["param", "param-used", "signed-param"], "param", {"signed-param", "param-used"}),
        (["result"], "result", set()),
    ],
)
def test_instruction_references_include_signature(
    starts: list[str], declared: str, mentioned: set[str]
) -> None:
    for start in starts:
        assert _of(start) == ([declared], mentioned)


def test_same_name_in_other_computation_is_distinct() -> None:
    assert _of("a-in-no") == (["no-a"], {"signed-a", "a-in-no", "a-in-no-too"})
    declared, mentioned = _of("yes-a")
    assert declared == ["yes-a"]
    assert "a-in-yes" in mentioned
    assert not mentioned & {"signed-a", "a-in-no", "a-in-no-too"}


@pytest.mark.parametrize("name", ["called", "fused", "cond", "body", "yes", "no", "later", "sum"])
def test_computation_references_are_its_calls(name: str) -> None:
    call = "called-by-call" if name == "called" else f"{name}-called"
    assert _of(name) == _of(call) == ([name], {call})


def test_computation_references_include_all_callers() -> None:
    text = (
        "HloModule m\n\n%f (x: f32[]) -> f32[] {\n  ROOT %x = f32[] parameter(0)\n}\n\n"
        "ENTRY %e {\n  %p = f32[] parameter(0)\n  %a = f32[] call(%p), to_apply=%f\n"
        "  ROOT %b = f32[] conditional(%p, %a, %a), branch_computations={%f, %f}\n}\n"
    )
    file = marked_program.file_of(text)
    found = cursor_target_at(file, 2, 1)
    assert found is not None
    declared, mentioned = declarations_and_references(Compile([file]), found)
    assert [place.line for place in declared] == [2]
    assert [place.line for place in mentioned] == [8, 9, 9]
    assert {file.lines[place.line][place.start : place.end] for place in mentioned} == {"f"}


@pytest.mark.parametrize(
    ("start", "declared", "mentioned"),
    [
        ("number-0", "param", {"signed-param", "param-used", "call-in-fusion"}),
        ("called-number", "c.1", {"n-in-call"}),
        ("no-number", "no-a", {"signed-a", "a-in-no", "a-in-no-too", "second-in-choice"}),
        ("alias", "v", {"signed-v", "v-in-call", "v-in-fusion"}),
    ],
)
def test_parameter_references_include_call_operands(
    start: str, declared: str, mentioned: set[str]
) -> None:
    found, others = _of(start)
    assert found == [declared]
    assert {name for name in others if name and ":" not in name} == mentioned


@pytest.mark.parametrize(
    ("start", "declared", "words"),
    [
        ("frame-1", "frame-1", ["parent_frame_id=2", "stack_frame_id=1"]),
        ("frame-of-v", "frame-1", ["parent_frame_id=2", "stack_frame_id=1"]),
        ("frame-2", "frame-2", ["stack_frame_id=2"]),
        ("location-2", "location-2", ["file_location_id=2"]),
        ("file-1", "file-1", ["file_name_id=1"]),
        ("function-2", "function-2", ["function_name_id=2"]),
    ],
)
def test_table_row_references(start: str, declared: str, words: list[str]) -> None:
    places, mentioned = declarations_and_references(PROGRAM.dump, PROGRAM.target(start))
    assert [PROGRAM.mark_at(place) for place in places] == [declared]
    lines = [place.file.lines[place.line][place.start : place.end] for place in mentioned]
    assert sorted(lines) == sorted(words)


def test_frame_references_exclude_number_prefixes() -> None:
    rows = "\n".join(f"{n} {{file_location_id=1 parent_frame_id=1}}" for n in range(1, 13))
    text = (
        f'HloModule m\n\nFileNames\n1 "a.py"\n\nStackFrames\n{rows}\n\nENTRY %e {{\n'
        "  %a = f32[] iota(), metadata={stack_frame_id=1}\n"
        "  %b = f32[] iota(), metadata={stack_frame_id=12}\n}\n"
    )
    file = marked_program.file_of(text)
    found = cursor_target_at(file, 6, 0)
    assert found is not None
    _, mentioned = declarations_and_references(Compile([file]), found)
    assert [file.lines[place.line][3:4] for place in mentioned] == ["a"]


def test_every_target_is_in_its_own_references() -> None:
    for start in PROGRAM.marks:
        found = PROGRAM.target(start)
        if isinstance(found.entity, InstructionTarget | ComputationTarget | LocationRowTarget):
            declared, mentioned = declarations_and_references(PROGRAM.dump, found)
            assert found.place in [*declared, *mentioned], start
