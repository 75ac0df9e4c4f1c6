"""Cursor targets in module headers, location tables, and computation heads and ends."""

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.targets import (
    AttributeTarget,
    ComputationTarget,
    InstructionTarget,
    LocationRowTarget,
    MemorySpaceTarget,
    ModuleTarget,
    ParameterTarget,
    ShapeTarget,
    TermTarget,
)


def test_module_header_targets_attributes_and_parameters() -> None:
    targets = CursorTargets(
        """
        HloModule jit_f.1, is_scheduled=true, input_output_alias={ {0}: (12, {}, may-alias), {1}: (3, {0}) }, buffer_donor={ (4, {}) }, entry_computation_layout={(f32[8]{0:T(128)S(5)})->s32[]}, num_partitions=4, something={a, b}
        ^^^^^^^^^ word     ^^^^^^^^^^^^^^^^^ scheduled                   ^^ aliased                ^ second                   ^ donated                            ^^^^^^^^^^^^^^^ shape  ^^^^^ result              ^^^^^^^^^^^^^^^^ unknown
                  ^^^^^^^ name                                                                                                                                                    ^^^^ space      ^^^^^^^^^^^^^^^^ partitions
        """  # noqa: E501
    )
    assert targets["word"] == targets["name"] == (ModuleTarget("jit_f.1"), "jit_f.1")
    assert targets["scheduled"] == (AttributeTarget("is_scheduled", "", "true"), "is_scheduled")
    assert targets["aliased"] == (ParameterTarget(12), "12")
    assert targets["second"] == (ParameterTarget(3), "3")
    assert targets["donated"] == (ParameterTarget(4), "4")
    shape = "f32[8]{0:T(128)S(5)}"
    assert targets["shape"] == (ShapeTarget(shape, has_layout=True), shape)
    assert targets["space"] == (MemorySpaceTarget(5), "S(5)")
    assert targets["result"] == (ShapeTarget("s32[]", has_layout=False), "s32[]")
    assert targets["partitions"] == (AttributeTarget("num_partitions", "", "4"), "num_partitions")
    assert targets["unknown"] == (AttributeTarget("something", "", "{a, b}"), "something")


def test_location_rows_target_themselves_and_referenced_rows() -> None:
    targets = CursorTargets(
        """
        HloModule m

        FileNames
        ^^^^^^^^^ files
        1 "a.py"
        ^^^^^^^^ file

        FunctionNames
        ^^^^^^^^^^^^^ functions
        9 "f"
        ^^^^^ odd

        FileLocations
        ^^^^^^^^^^^^^ locations
        1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}
        ^ location        ^^^^^^^^^^^^^^^^^^ its-function
           ^^^^^^^^^^^^^^ its-file           ^^^^^^ line

        StackFrames
        ^^^^^^^^^^^ frames
        1 {file_location_id=1 parent_frame_id=1}
        ^^^ root              ^^^^^^^^^^^^^^^^^ none
           ^^^^^^^^^^^^^^^^^^ its-location
        2 {file_location_id=1 parent_frame_id=2}
                              ^^^^^^^^^^^^^^^^^ parent
        """
    )
    for mark, table in (
        ("files", "FileNames"),
        ("functions", "FunctionNames"),
        ("locations", "FileLocations"),
        ("frames", "StackFrames"),
    ):
        assert targets[mark] == (TermTarget(table), table)
    assert targets["file"] == (LocationRowTarget("FileNames", 1), '1 "a.py"')
    assert targets["odd"] == (LocationRowTarget("FunctionNames", 1), '9 "f"')  # its place counts
    location = targets["location"]
    assert location == targets["line"]
    assert location is not None
    assert location[0] == LocationRowTarget("FileLocations", 1)
    assert targets["its-file"] == (LocationRowTarget("FileNames", 1), "file_name_id=1")
    assert targets["its-function"] == (LocationRowTarget("FunctionNames", 1), "function_name_id=1")
    root = LocationRowTarget("StackFrames", 1), "1 {file_location_id=1 parent_frame_id=1}"
    assert targets["root"] == targets["none"] == root
    assert targets["its-location"] == (LocationRowTarget("FileLocations", 1), "file_location_id=1")
    assert targets["parent"] == (LocationRowTarget("StackFrames", 1), "parent_frame_id=2")


def test_computation_head_targets_computation_parameters_and_shapes() -> None:
    targets = CursorTargets(
        """
        HloModule m

        ENTRY %main.1 (p.1: f32[8], q: (s8[2,3], pred[])) -> f32[<=4] {
               ^^^^^^ name  ^^^^^^ shape                     ^^^^^^^^ result
                       ^^^ first    ^ second
                                        ^^^^^^^ leaf
          %p.1 = f32[8]{0} parameter(0)
        }
        ^ end
        """
    )
    assert targets["name"] == (ComputationTarget("main.1"), "main.1")
    assert targets["first"] == (InstructionTarget("p.1", None), "p.1")
    assert targets["second"] == (InstructionTarget("q", None), "q")
    assert targets["shape"] == (ShapeTarget("f32[8]", has_layout=False), "f32[8]")
    assert targets["leaf"] == (ShapeTarget("s8[2,3]", has_layout=False), "s8[2,3]")
    assert targets["result"] == (ShapeTarget("f32[<=4]", has_layout=False), "f32[<=4]")
    assert targets["end"] == (ComputationTarget("main.1"), "}")


def test_computation_head_on_several_lines() -> None:
    targets = CursorTargets(
        """
        HloModule m

        %sum (x: f32[],
         ^^^ name
              ^ first
              y: f32[])
              ^ second
                 ^^^^^ shape
            -> f32[] {
          ROOT %x = f32[] parameter(0)
        }
        """
    )
    assert targets["name"] == (ComputationTarget("sum"), "sum")
    assert targets["first"] == (InstructionTarget("x", None), "x")
    assert targets["second"] == (InstructionTarget("y", None), "y")
    assert targets["shape"] == (ShapeTarget("f32[]", has_layout=False), "f32[]")


def test_blank_lines_and_comments_have_no_target() -> None:
    targets = CursorTargets("HloModule m\n\n// %a = f32[] add(%b)\n/* x */\n")
    assert [targets.at(line, 0) for line in (1, 2, 3)] == [None, None, None]
