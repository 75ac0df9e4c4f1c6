"""Mentions of instructions, computations, parameters and rows in module text."""

import pytest

from analysis import program
from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.navigation.references import declarations_and_references

PROGRAM = program.program()


def _of(start: str) -> tuple[list[str | None], set[str | None]]:
    declared, mentioned = declarations_and_references(PROGRAM.dump, PROGRAM.found(start))
    return [PROGRAM.at(place) for place in declared], {PROGRAM.at(place) for place in mentioned}


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
def test_an_instruction_is_mentioned_in_its_computation_and_the_head(
    starts: list[str], declared: str, mentioned: set[str]
) -> None:
    for start in starts:
        assert _of(start) == ([declared], mentioned)


def test_an_instruction_of_another_computation_with_the_same_name_is_another() -> None:
    assert _of("a-in-no") == (["no-a"], {"signed-a", "a-in-no", "a-in-no-too"})
    declared, mentioned = _of("yes-a")
    assert declared == ["yes-a"]
    assert "a-in-yes" in mentioned
    assert not mentioned & {"signed-a", "a-in-no", "a-in-no-too"}


@pytest.mark.parametrize("name", ["called", "fused", "cond", "body", "yes", "no", "later", "sum"])
def test_a_computation_is_mentioned_where_it_is_called(name: str) -> None:
    call = "called-by-call" if name == "called" else f"{name}-called"
    assert _of(name) == _of(call) == ([name], {call})


def test_a_computation_that_two_instructions_call_is_mentioned_by_both() -> None:
    text = (
        "HloModule m\n\n%f (x: f32[]) -> f32[] {\n  ROOT %x = f32[] parameter(0)\n}\n\n"
        "ENTRY %e {\n  %p = f32[] parameter(0)\n  %a = f32[] call(%p), to_apply=%f\n"
        "  ROOT %b = f32[] conditional(%p, %a, %a), branch_computations={%f, %f}\n}\n"
    )
    file = program.file_of(text)
    found = cursor_target_at(file, 2, 1)
    assert found is not None
    declared, mentioned = declarations_and_references(program.alone(file), found)
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
def test_a_parameter_is_mentioned_by_those_who_hand_it_on(
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
def test_a_row_is_mentioned_by_rows_and_instructions(
    start: str, declared: str, words: list[str]
) -> None:
    places, mentioned = declarations_and_references(PROGRAM.dump, PROGRAM.found(start))
    assert [PROGRAM.at(place) for place in places] == [declared]
    lines = [place.file.lines[place.line][place.start : place.end] for place in mentioned]
    assert sorted(lines) == sorted(words)


def test_a_frame_is_not_mentioned_by_one_whose_number_begins_alike() -> None:
    rows = "\n".join(f"{n} {{file_location_id=1 parent_frame_id=1}}" for n in range(1, 13))
    text = (
        f'HloModule m\n\nFileNames\n1 "a.py"\n\nStackFrames\n{rows}\n\nENTRY %e {{\n'
        "  %a = f32[] iota(), metadata={stack_frame_id=1}\n"
        "  %b = f32[] iota(), metadata={stack_frame_id=12}\n}\n"
    )
    file = program.file_of(text)
    found = cursor_target_at(file, 6, 0)
    assert found is not None
    _, mentioned = declarations_and_references(program.alone(file), found)
    assert [file.lines[place.line][3:4] for place in mentioned] == ["a"]


def test_every_mark_is_among_its_own_references() -> None:
    about = {"InstructionSubject", "ComputationSubject", "RowSubject"}
    for start in PROGRAM.marks:
        found = PROGRAM.found(start)
        if type(found.subject).__name__ in about:
            declared, mentioned = declarations_and_references(PROGRAM.dump, found)
            assert found.place in [*declared, *mentioned], start
