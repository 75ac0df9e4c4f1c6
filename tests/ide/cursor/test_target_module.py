"""Cursor targets in module text and thunk sequences."""

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import (
    AttributeTarget,
    ComputationTarget,
    InstructionTarget,
    MemorySpaceTarget,
    ShapeTarget,
    ThunkTarget,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.scanners import ThunkRow


def test_instruction_line_targets_its_names() -> None:
    targets = CursorTargets(
        """
        HloModule m

        ENTRY %main (a: f32[2]) -> f32[2] {
               ^^^^ computation
          %a = f32[2]{0} parameter(0)
          ROOT %w.1 = f32[2]{0:S(1)} while(%a, %b.2), condition=%cond, body=%body.1, metadata={op_name="a"}
          ^^^^ root
               ^^^^ name
                      ^^^^^^^^^ shape
                               ^^^^ space
                                     ^^^^^ opcode
                                           ^^ first
                                               ^^^^ second
                                                                ^^^^^ condition
                                                                            ^^^^^^^ body
        }
        """  # noqa: E501
    )
    itself = (InstructionTarget("w.1", None), "w.1")
    assert targets["root"] == targets["name"] == targets["opcode"] == itself
    assert targets["first"] == (InstructionTarget("a", None, operand=0), "a")
    assert targets["second"] == (InstructionTarget("b.2", None, operand=1), "b.2")
    assert targets["condition"] == (ComputationTarget("cond"), "cond")
    assert targets["body"] == (ComputationTarget("body.1"), "body.1")
    assert targets["shape"] == (ShapeTarget("f32[2]{0:S(1)}", has_layout=False), "f32[2]{0:S(1)}")
    assert targets["space"] == (MemorySpaceTarget(1), "S(1)")
    assert targets["computation"] == (ComputationTarget("main"), "main")


def test_names_without_percent_signs_have_targets() -> None:
    targets = CursorTargets(
        """
        HloModule m

        ENTRY main.16 {
              ^^^^^^^ computation
          a = f32[2]{0} parameter(0)
          ROOT add.3 = f32[2]{0} fusion(a, b.2), kind=kLoop, calls=fused, control-predecessors={c.1, d}
               ^^^^^ name
                                        ^ first
                                           ^^^ second
                                                                   ^^^^^ callee
                                                                                                ^^^ before
        }
        """  # noqa: E501
    )
    assert targets["computation"] == (ComputationTarget("main.16"), "main.16")
    assert targets["name"] == (InstructionTarget("add.3", None), "add.3")
    assert targets["first"] == (InstructionTarget("a", None, operand=0), "a")
    assert targets["second"] == (InstructionTarget("b.2", None, operand=1), "b.2")
    assert targets["callee"] == (ComputationTarget("fused"), "fused")
    assert (targets["before"] or ())[1:] == ("c.1",)


def test_branches_target_computations() -> None:
    targets = CursorTargets(
        """
        HloModule m
          %c = f32[] conditional(%i, %x, %y), branch_computations={%one.1, %two}
                                                                   ^^^^^^ one
                                                                            ^^^ two
        """
    )
    assert targets["one"] == (ComputationTarget("one.1"), "one.1")
    assert targets["two"] == (ComputationTarget("two"), "two")


def test_name_is_not_found_inside_another_word() -> None:
    file = DumpFile.of_text(
        "HloModule m\n\nENTRY %E (a: f32[2]) -> f32[2] {\n  %a = f32[2] copy(%b)\n}"
    )
    found = cursor_target_at(file, 2, 7)
    assert found is not None
    assert found.entity == ComputationTarget("E")
    assert (found.place.start, found.place.end) == (7, 8)


def test_thunk_row_targets_thunk() -> None:
    line = "001: kCustomKernel [source | sink] wrapped_a grid: [1, 1, 1] threads: [9, 1, 1]"
    targets = CursorTargets(line)
    answers = {found[0] for column in range(len(line)) if (found := targets.at(0, column))}
    assert len(answers) == 1
    subject = answers.pop()
    assert isinstance(subject, ThunkTarget)
    assert isinstance(subject.row, ThunkRow)
    assert (subject.row.id, subject.row.kind) == (1, "kCustomKernel")
    assert subject.row.kernel == "wrapped_a"


def test_header_attribute_on_a_later_line() -> None:
    file = DumpFile.of_text("HloModule m,\n  is_scheduled=true\n\nENTRY %e {\n}")
    found = cursor_target_at(file, 1, 4)
    assert found is not None
    assert found.entity == AttributeTarget("is_scheduled", "", "true")
    assert (found.place.line, found.place.start, found.place.end) == (1, 2, 14)
