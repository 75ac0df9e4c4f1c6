"""Cursor targets in every row of an entry under ``Used values``."""

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import (
    ComputationTarget,
    InstructionTarget,
    MemorySpaceTarget,
    ShapeTarget,
    TermTarget,
    ValueTarget,
)
from hlo_lsp.model.dump_file import DumpFile


def test_entry_header_targets_value() -> None:
    targets = CursorTargets(
        """
        <39 arg_tuple.3{1} (phi) @1>
        ^^^ id
            ^^^^^^^^^^^^^^ name
                            ^^^ phi
                                  ^ color
         positions:
        """
    )
    whole = (ValueTarget("arg_tuple.3{1}", 39), "<39 arg_tuple.3{1} (phi) @1>")
    assert targets["id"] == targets["name"] == whole
    assert targets.entity("phi") == TermTarget("phi")
    assert targets["color"] == (MemorySpaceTarget(1), "1")


def test_total_and_labels_target_terms() -> None:
    targets = CursorTargets(
        """
        Total bytes used: 172580 (168.5KiB)
        ^^^^^^^^^^^^^^^^^ words
                          ^^^^^^ number
        Used values:
        ^^^^ used
        <3 add @0>
         positions:
         ^^^^^^^^^ positions
          add
         uses:
         ^^^^ uses
          (none)
           ^^^^ none
         from instruction: %add = f32[] add(%a)
        """
    )
    total = (TermTarget("total_line"), "Total bytes used: 172580 (168.5KiB)")
    assert targets["words"] == targets["number"] == total
    assert targets["used"] == (TermTarget("used_values_label"), "Used values:")
    assert targets["positions"] == (TermTarget("positions_label"), "positions:")
    assert targets["uses"] == (TermTarget("uses_label"), "uses:")
    assert targets["none"] == (TermTarget("no_uses_row"), "(none)")


def test_position_row_targets_instruction_and_index() -> None:
    targets = CursorTargets(
        """
        <3 add{} @0>
         positions:
          add {}
          ^^^ name
              ^^ index
          tuple.1 {0,12}
                   ^^^^ inner
          get-tuple-element
          ^^^^^^^^^^^^^^^^^ plain
         uses:
        """
    )
    assert targets["name"] == targets["index"] == (InstructionTarget("add", "{}"), "add")
    assert targets["inner"] == (InstructionTarget("tuple.1", "{0,12}"), "tuple.1")
    plain = (InstructionTarget("get-tuple-element", None), "get-tuple-element")
    assert targets["plain"] == plain


def test_use_row_targets_reading_instruction() -> None:
    targets = CursorTargets(
        """
        <3 add @0>
         positions:
          add
         uses:
          while.5, operand 0 {1,2}
          ^^^^^^^ name
                           ^ operand
                             ^^^^^ index
          constant.5..sunk, operand 12
          ^^^^^^^^^^^^^^^^ dots
         from instruction: %add = f32[] add(%a)
        """
    )
    use = (InstructionTarget("while.5", "{1,2}", operand=0), "while.5")
    assert targets["name"] == targets["operand"] == targets["index"] == use
    dots = (InstructionTarget("constant.5..sunk", None, operand=12), "constant.5..sunk")
    assert targets["dots"] == dots


def test_instruction_text_targets_names_and_shapes() -> None:
    targets = CursorTargets(
        """
        <3 fusion{} @0>
         positions:
         uses:
         from instruction: %fusion = (f32[2]{0:S(1)}, /*index=1*/s8[]) fusion(%a.1, %copy-done), calls=%fused, control-predecessors={%b}, metadata={op_name="x/%y"}
         ^^^^^^^^^^^^^^^^^ label
                           ^^^^^^^ name
                                      ^^^^^^^^^ leaf
                                               ^^^^ space
                                                                       ^^^^^^ opcode
                                                                              ^^^^ first
                                                                                    ^^^^^^^^^^ second
                                                                                                       ^^^^^ callee
                                                                                                                                             ^^^^^^^ metadata
        """  # noqa: E501
    )
    assert targets.entity("label") == TermTarget("instruction_label")
    itself = (InstructionTarget("fusion", None), "fusion")
    assert targets["name"] == targets["opcode"] == targets["metadata"] == itself
    assert targets["leaf"] == (ShapeTarget("f32[2]{0:S(1)}", has_layout=True), "f32[2]{0:S(1)}")
    assert targets["space"] == (MemorySpaceTarget(1), "S(1)")
    assert targets["first"] == (InstructionTarget("a.1", None, operand=0), "a.1")
    second = (InstructionTarget("copy-done", None, operand=1), "copy-done")
    assert targets["second"] == second
    assert targets["callee"] == (ComputationTarget("fused"), "fused")


def test_name_inside_string_has_no_target() -> None:
    targets = CursorTargets(
        """
        <3 a @0>
         positions:
         uses:
         from instruction: %a = f32[] add(%b, %c), metadata={op_name="x/%y calls=z"}
                                                                        ^^ name
                                                                                 ^ callee
        """
    )
    assert targets["name"] == targets["callee"] == (InstructionTarget("a", None), "a")


def test_operands_with_preceding_shapes() -> None:
    """As jax 0.4 prints them."""
    targets = CursorTargets(
        """
        <3 add.4 @0>
         positions:
         uses:
         from instruction: %add.4 = f32[] add(f32[] %a, f32[2]{0} %b.1)
                                                     ^^ first
                                                         ^^^^^^^^ shape
                                                                   ^^^^ second
        """
    )
    assert targets["shape"] == (ShapeTarget("f32[2]{0}", has_layout=True), "f32[2]{0}")
    assert targets["first"] == (InstructionTarget("a", None, operand=0), "a")
    assert targets["second"] == (InstructionTarget("b.1", None, operand=1), "b.1")


def test_constants_and_parameters_have_no_operands() -> None:
    targets = CursorTargets(
        """
        <3 c @0>
         positions:
         uses:
         from instruction: %c = s32[2]{0} constant({1, 2})
                                                    ^^^^ literal
        """
    )
    assert targets["literal"] == (InstructionTarget("c", None), "c")


def test_broken_row_does_not_affect_adjacent_rows() -> None:
    targets = CursorTargets(
        """
        <3 add @0>
         positions:
          add {
          ^^^ broken
         uses:
          mul, oprand 0
          ^^^ misspelt
          sub, operand 1
          ^^^ good
         from instruction: %add = f32[] add(%a)
        """
    )
    assert targets["broken"] is None
    assert targets["misspelt"] is None
    assert targets["good"] == (InstructionTarget("sub", None, operand=1), "sub")


_KERNEL = """\
<3 k @0>
 positions:
  k
 uses:
  (none)
 from instruction: %k = f32[8]{0} custom-call(%a), frontend_attributes={kernel_metadata={
"mesh_axes":"[]",
"xprof_metadata":"{\\"block_q\\": 128}"
}}, control-predecessors={%copy-done.1}, metadata={op_name="jit(f)/pallas_call"}"""


def test_all_lines_of_instruction_target_it() -> None:
    file = DumpFile.of_text(_KERNEL)
    for line in range(6, 9):
        found = cursor_target_at(file, line, 2)
        assert found is not None
        assert found.entity == InstructionTarget("k", None)
        assert (found.place.line, found.place.start, found.place.end) == (5, 20, 21)


def test_names_on_later_lines_of_instruction() -> None:
    file = DumpFile.of_text(_KERNEL)
    column = file.lines[8].index("copy-done.1")
    found = cursor_target_at(file, 8, column)
    assert found is not None
    assert found.entity == InstructionTarget("copy-done.1", None)
    place = found.place
    assert file.lines[place.line][place.start : place.end] == "copy-done.1"
    assert (place.line, place.start) == (8, column)
