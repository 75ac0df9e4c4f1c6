"""Cursor targets in the numbers, attributes, and metadata of instructions."""

import pytest

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import (
    AttributeTarget,
    ComputationTarget,
    InstructionTarget,
    LocationRowTarget,
    ParameterTarget,
    ShapeTarget,
    TupleElementTarget,
)
from hlo_lsp.model.dump_file import DumpFile


def test_attribute_target_has_name_and_value() -> None:
    targets = CursorTargets(
        """
        HloModule m
          %d = f32[2]{0} dot(%a, %b), lhs_contracting_dims={1}, operand_precision={high,high}, some-word=(a, {b})
                                      ^^^^^^^^^^^^^^^^^^^^ name ^^^^^^^^^^^^^^^^^ kind         ^^^^^^^^^ unknown
                                                           ^^^ value               ^^^^ high             ^^^^^^^^ what
        """  # noqa: E501
    )
    dims = AttributeTarget("lhs_contracting_dims", "dot", "{1}")
    assert targets["name"] == (dims, "lhs_contracting_dims")
    assert targets["value"] == (dims, "{1}")
    precision = AttributeTarget("operand_precision", "dot", "{high,high}")
    assert targets["kind"] == (precision, "operand_precision")
    assert targets["high"] == (precision, "{high,high}")
    unknown = AttributeTarget("some-word", "dot", "(a, {b})")
    assert targets["unknown"] == (unknown, "some-word")
    assert targets["what"] == (unknown, "(a, {b})")


def test_metadata_fields_have_targets() -> None:
    targets = CursorTargets(
        """
        HloModule m
          %d = f32[] add(%a, %b), metadata={op_name="jit(f)/%x, y=1" source_file="a b.py" source_line=7 stack_frame_id=12}
                                  ^^^^^^^^ metadata                  ^^^^^^^^^^^^^^^^^^^^ file          ^^^^^^^^^^^^^^^^^ frame
                                            ^^^^^^^^^^^^^^^^^^^^^^^^ op                   ^^^^^^^^^^^^^ line
        """  # noqa: E501
    )
    whole = targets["metadata"]
    assert whole is not None
    assert isinstance(whole[0], AttributeTarget)
    assert (whole[0].name, whole[0].key, whole[1]) == ("metadata", None, "metadata")
    op_name = AttributeTarget("metadata", "add", "jit(f)/%x, y=1", "op_name")
    assert targets["op"] == (op_name, 'op_name="jit(f)/%x, y=1"')
    assert targets["file"] == (
        AttributeTarget("metadata", "add", "a b.py", "source_file"), 'source_file="a b.py"'
    )  # fmt: skip
    assert targets["line"] == (
        AttributeTarget("metadata", "add", "7", "source_line"),
        "source_line=7",
    )
    assert targets["frame"] == (LocationRowTarget("StackFrames", 12), "stack_frame_id=12")


def test_tuple_indices_and_parameter_numbers_have_targets() -> None:
    targets = CursorTargets(
        """
        HloModule m
          %p = (f32[], f32[]) parameter(12)
                                        ^^ number
          %g = f32[] get-tuple-element(%p), index=1
                                                  ^ index
          %s = f32[] send(%p), index=1
                                     ^ other
          %o = f32[] parameter(x)
                               ^ word
        """
    )
    assert targets["number"] == (ParameterTarget(12), "12")
    assert targets["index"] == (TupleElementTarget("g", 1), "1")
    assert targets["other"] == (AttributeTarget("index", "send", "1"), "1")
    assert targets["word"] == (InstructionTarget("o", None), "o")


def test_operands_with_shapes_and_index_comments() -> None:
    targets = CursorTargets(
        """
        HloModule m
          %t = (f32[], /*index=1*/s8[3]{0}) tuple(f32[] %a, /*index=1*/s8[3]{0} %b.1)
                                  ^^^^^^^^ leaf          ^ first       ^^^^^^^^ shape
                                                                                 ^^^ second
        """
    )
    assert targets["leaf"] == (ShapeTarget("s8[3]{0}", has_layout=False), "s8[3]{0}")
    assert targets["shape"] == (ShapeTarget("s8[3]{0}", has_layout=False), "s8[3]{0}")
    assert targets["first"] == (InstructionTarget("a", None, 0), "a")
    assert targets["second"] == (InstructionTarget("b.1", None, 1), "b.1")


def test_instruction_on_several_lines_with_comments() -> None:
    targets = CursorTargets(
        """
        HloModule m

        ENTRY %e {
          %sum = f32[] add( // %not, calls=%me
           ^^^ name
              %one,  /* the second, %left out:
               ^^^ first
              calls=%nobody */
              %two),
               ^^^ second
            replica_groups={{0,1},
            ^^^^^^^^^^^^^^ group
              {2,3}},
            to_apply=%region
                      ^^^^^^ called
          %after = f32[] negate(%sum)
           ^^^^^ next            ^^^ use
        }
        """
    )
    assert targets["name"] == (InstructionTarget("sum", None), "sum")
    assert targets["first"] == (InstructionTarget("one", None, 0), "one")
    assert targets["second"] == (InstructionTarget("two", None, 1), "two")
    assert targets["called"] == (ComputationTarget("region"), "region")
    assert targets["next"] == (InstructionTarget("after", None), "after")
    assert targets["use"] == (InstructionTarget("sum", None, 0), "sum")
    assert (targets["group"] or ())[1:] == ("replica_groups",)


@pytest.mark.parametrize("column", range(2, 40))
def test_comment_contains_no_names(column: int) -> None:
    targets = CursorTargets("HloModule m\n  %a = f32[] add(%b, %c) // %d, calls=%e\n")
    found = targets.at(1, column)
    assert found is not None
    assert found[1] in {"a", "f32[]", "b", "c"}


def test_inline_computations_on_several_lines() -> None:
    targets = CursorTargets(
        """
        HloModule m

        ENTRY %e {
          %r = f32[] reduce(%v, %z), dimensions={0}, to_apply={
           ^ outer           ^ value
                                 ^ zero
            %x = f32[] parameter(0)
             ^ x                 ^ number
            %y = f32[] parameter(1)
            ROOT %s = f32[] add(%x, %y), metadata={stack_frame_id=3}
                  ^ s            ^ x-used          ^^^^^^^^^^^^^^^^ frame
                                     ^ y-used
          }
          %n = f32[] negate(%r)
           ^ behind          ^ used
        }
        """
    )
    assert targets["outer"] == (InstructionTarget("r", None), "r")
    assert targets["value"] == (InstructionTarget("v", None, 0), "v")
    assert targets["zero"] == (InstructionTarget("z", None, 1), "z")
    assert targets["x"] == (InstructionTarget("x", None), "x")
    assert targets["number"] == (ParameterTarget(0), "0")
    assert targets["s"] == (InstructionTarget("s", None), "s")
    assert targets["x-used"] == (InstructionTarget("x", None, 0), "x")
    assert targets["y-used"] == (InstructionTarget("y", None, 1), "y")
    assert targets["frame"] == (LocationRowTarget("StackFrames", 3), "stack_frame_id=3")
    assert targets["behind"] == (InstructionTarget("n", None), "n")
    assert targets["used"] == (InstructionTarget("r", None, 0), "r")


def test_inline_computations_on_one_line() -> None:
    targets = CursorTargets(
        """
        HloModule m

        ENTRY %e {
          %r = f32[] reduce(%v, %z), to_apply={ %x = f32[] parameter(0) ROOT %s = f32[] negate(%x), metadata={stack_frame_id=3} }, dimensions={0}
                                                                     ^ number ^ s               ^ used        ^^^^^^^^^^^^^^^^ frame
                                                                                                                                   ^^^^^^^^^^ dims
        }
        """  # noqa: E501
    )
    assert targets["number"] == (ParameterTarget(0), "0")
    assert targets["s"] == (InstructionTarget("s", None), "s")
    assert targets["used"] == (InstructionTarget("x", None, 0), "x")
    assert targets["frame"] == (LocationRowTarget("StackFrames", 3), "stack_frame_id=3")
    assert targets["dims"] == (AttributeTarget("dimensions", "reduce", "{0}"), "dimensions")


def test_whole_computation_on_one_line() -> None:
    targets = CursorTargets(
        """
        HloModule m

        %sum { %x = f32[] parameter(0) %y = f32[] parameter(1) ROOT %s = f32[] add(%x, %y) }
         ^^^ head                                           ^ number ^ s            ^ used
                ^ x
        """
    )
    assert targets["head"] == (ComputationTarget("sum"), "sum")
    assert targets["x"] == (InstructionTarget("x", None), "x")
    assert targets["number"] == (ParameterTarget(1), "1")
    assert targets["s"] == (InstructionTarget("s", None), "s")
    assert targets["used"] == (InstructionTarget("x", None, 0), "x")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("%sum { %x = f32[] parameter(0)\n  \n}", ComputationTarget),
        ("%e {\n%r = f32[] map(%v), to_apply={ %x = f32[] parameter(0)\n  \n}\n}", AttributeTarget),
    ],
)
def test_lines_after_the_last_inner_instruction(text: str, kind: type) -> None:
    file = DumpFile.of_text(f"HloModule m\n\n{text}\n")
    target = cursor_target_at(file, file.lines.index("  "), 0)
    assert target is not None
    assert isinstance(target.entity, kind)
