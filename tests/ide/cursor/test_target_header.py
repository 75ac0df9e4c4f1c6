"""Cursor targets in module headers, location tables, and computation heads and ends."""

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
from seen import Seen


def test_module_header_targets_attributes_and_parameters() -> None:
    seen = Seen(
        """
        HloModule jit_f.1, is_scheduled=true, input_output_alias={ {0}: (12, {}, may-alias), {1}: (3, {0}) }, buffer_donor={ (4, {}) }, entry_computation_layout={(f32[8]{0:T(128)S(5)})->s32[]}, num_partitions=4, something={a, b}
        ^^^^^^^^^ word     ^^^^^^^^^^^^^^^^^ scheduled                   ^^ aliased                ^ second                   ^ donated                            ^^^^^^^^^^^^^^^ shape  ^^^^^ result              ^^^^^^^^^^^^^^^^ unknown
                  ^^^^^^^ name                                                                                                                                                    ^^^^ space      ^^^^^^^^^^^^^^^^ partitions
        """  # noqa: E501
    )
    assert seen["word"] == seen["name"] == (ModuleTarget("jit_f.1"), "jit_f.1")
    assert seen["scheduled"] == (AttributeTarget("is_scheduled", "", "true"), "is_scheduled")
    assert seen["aliased"] == (ParameterTarget(12), "12")
    assert seen["second"] == (ParameterTarget(3), "3")
    assert seen["donated"] == (ParameterTarget(4), "4")
    shape = "f32[8]{0:T(128)S(5)}"
    assert seen["shape"] == (ShapeTarget(shape, has_layout=True), shape)
    assert seen["space"] == (MemorySpaceTarget(5), "S(5)")
    assert seen["result"] == (ShapeTarget("s32[]", has_layout=False), "s32[]")
    assert seen["partitions"] == (AttributeTarget("num_partitions", "", "4"), "num_partitions")
    assert seen["unknown"] == (AttributeTarget("something", "", "{a, b}"), "something")


def test_location_rows_target_themselves_and_referenced_rows() -> None:
    seen = Seen(
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
        assert seen[mark] == (TermTarget(table), table)
    assert seen["file"] == (LocationRowTarget("FileNames", 1), '1 "a.py"')
    assert seen["odd"] == (LocationRowTarget("FunctionNames", 1), '9 "f"')  # its place counts
    location = seen["location"]
    assert location == seen["line"]
    assert location is not None
    assert location[0] == LocationRowTarget("FileLocations", 1)
    assert seen["its-file"] == (LocationRowTarget("FileNames", 1), "file_name_id=1")
    assert seen["its-function"] == (LocationRowTarget("FunctionNames", 1), "function_name_id=1")
    root = LocationRowTarget("StackFrames", 1), "1 {file_location_id=1 parent_frame_id=1}"
    assert seen["root"] == seen["none"] == root
    assert seen["its-location"] == (LocationRowTarget("FileLocations", 1), "file_location_id=1")
    assert seen["parent"] == (LocationRowTarget("StackFrames", 1), "parent_frame_id=2")


def test_computation_head_targets_computation_parameters_and_shapes() -> None:
    seen = Seen(
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
    assert seen["name"] == (ComputationTarget("main.1"), "main.1")
    assert seen["first"] == (InstructionTarget("p.1", None), "p.1")
    assert seen["second"] == (InstructionTarget("q", None), "q")
    assert seen["shape"] == (ShapeTarget("f32[8]", has_layout=False), "f32[8]")
    assert seen["leaf"] == (ShapeTarget("s8[2,3]", has_layout=False), "s8[2,3]")
    assert seen["result"] == (ShapeTarget("f32[<=4]", has_layout=False), "f32[<=4]")
    assert seen["end"] == (ComputationTarget("main.1"), "}")


def test_computation_head_on_several_lines() -> None:
    seen = Seen(
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
    assert seen["name"] == (ComputationTarget("sum"), "sum")
    assert seen["first"] == (InstructionTarget("x", None), "x")
    assert seen["second"] == (InstructionTarget("y", None), "y")
    assert seen["shape"] == (ShapeTarget("f32[]", has_layout=False), "f32[]")


def test_blank_lines_and_comments_have_no_target() -> None:
    seen = Seen("HloModule m\n\n// %a = f32[] add(%b)\n/* x */\n")
    assert [seen.at(line, 0) for line in (1, 2, 3)] == [None, None, None]
