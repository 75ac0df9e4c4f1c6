"""Tests for source location tables and the stack frames of instructions."""

from checks.damage import findings, related, replace_once, reports

MODULE = """\
HloModule tables

FileNames
1 "model.py"

FunctionNames
1 "loss"
2 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=4 end_column=9}
2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=4 end_column=9}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}
3 {file_location_id=1 parent_frame_id=3}


ENTRY %main (a: f32[]) -> f32[] {
  %a = f32[] parameter(0), metadata={op_name="a"}
  ROOT %b = f32[] negate(%a), metadata={op_name="stack_frame_id=9" stack_frame_id=3}
}
"""


def test_undefined_frame_is_reported() -> None:
    assert reports(replace_once(MODULE, "stack_frame_id=3}", "stack_frame_id=4}")) == [
        (
            "bad-stack-frame",
            '22:   ROOT %b = f32[] negate(%a), metadata={op_name="stack_frame_id=9" '
            "stack_frame_id=»4«}",
            "unknown frame 4: `StackFrames` has 3 rows",
        )
    ]


def test_frames_without_tables_are_not_checked() -> None:
    head, _, entry = MODULE.partition("FileNames")
    assert reports(head + "ENTRY" + entry.partition("ENTRY")[2]) == []


def test_undefined_location_is_reported() -> None:
    assert reports(replace_once(MODULE, "2 {file_location_id=1", "2 {file_location_id=3")) == [
        (
            "bad-stack-frame",
            "16: 2 {file_location_id=»3« parent_frame_id=2}",
            "unknown location 3: `FileLocations` has 2 rows",
        )
    ]


def test_undefined_caller_is_reported() -> None:
    assert reports(replace_once(MODULE, "parent_frame_id=3}", "parent_frame_id=5}")) == [
        (
            "bad-stack-frame",
            "17: 3 {file_location_id=1 parent_frame_id=»5«}",
            "unknown frame 4, printed as 5: `StackFrames` has 3 rows",
        )
    ]


def test_undefined_file_and_function_are_reported() -> None:
    text = replace_once(
        MODULE, "1 {file_name_id=1 function_name_id=1", "1 {file_name_id=2 function_name_id=0"
    )
    assert [message for _, _, message in reports(text)] == [
        "unknown file 2: `FileNames` has 1 row",
        "unknown function 0: `FunctionNames` has 2 rows",
    ]


def test_cycle_of_frames_is_reported() -> None:
    (found,) = findings(
        replace_once(
            MODULE,
            "1 {file_location_id=2 parent_frame_id=1}",
            "1 {file_location_id=2 parent_frame_id=4}",
        )
    )
    assert found.code == "frame-cycle"
    assert found.message == "frame 3 is among its own callers: 2, 1, 3"
    assert found.place.line == 16
    assert related(found) == [
        ("16: 2 {file_location_id=1 parent_frame_id=»2«}", "the caller of frame 2"),
        ("15: 1 {file_location_id=2 parent_frame_id=»4«}", "the caller of frame 1"),
    ]


def test_frame_with_itself_as_caller_is_reported() -> None:
    """Check frame 3: XLA prints the number of the caller plus one."""
    assert reports(replace_once(MODULE, "parent_frame_id=3}", "parent_frame_id=4}")) == [
        (
            "frame-cycle",
            "17: 3 {file_location_id=1 parent_frame_id=»4«}",
            "frame 3 is its own caller: it is printed as 4",
        )
    ]


def test_missing_row_is_reported_once() -> None:
    """Check that later frames keep their numbers, so references to them are not reported."""
    assert reports(replace_once(MODULE, "2 {file_location_id=1 parent_frame_id=2}\n", "")) == [
        (
            "bad-stack-frame",
            "16: »3« {file_location_id=1 parent_frame_id=3}",
            "this is row 2 of `StackFrames`, but it is numbered 3: XLA counts rows, so later ids "
            "refer to other rows than their numbers",
        )
    ]


def test_broken_row_is_reported_alone() -> None:
    for old, new in (
        ("3 {file_location_id=1 parent", "3 {file_location_id1 parent"),
        ("1 {file_location_id=2 parent", "1 file_location_id=2 parent"),
        ('1 "model.py"', '1 "model.py'),
        ("2 {file_name_id=1", "2 {file_nme_id=1"),
    ):
        reported = reports(replace_once(MODULE, old, new))
        assert [code for code, _, _ in reported] == ["syntax"], new
