"""Inlay hints at marked positions of a module and its memory files."""

import pytest

from hlo_lsp.ide.inlay_hints import ALL_KINDS, MAX_HINT_COLUMN, Hint, HintKind, hints
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from lsp.opened import DUMP
from marks import Marked, mark

MODULE = mark(
    """
    HloModule jit_f, is_scheduled=true

    FileNames
    1 "/home/me/train.py"

    FunctionNames
    1 "f"

    FileLocations
    1 {file_name_id=1 function_name_id=1 line=212 end_line=212 column=1 end_column=2}

    StackFrames
    1 {file_location_id=1 parent_frame_id=1}

    %fused (p.0: f32[4], p.1: f32[4]) -> f32[4] {
      %p.0 = f32[4]{0} parameter(0)
          ^ p.0
      %p.1 = f32[4]{0} parameter(1)
          ^ p.1
      ROOT %sum = f32[4]{0} add(%p.0, %p.1)
                                ^ p.0-operand
                                      ^ p.1-operand
    }

    ENTRY %main (x: f32[4]) -> f32[4] {
      %x = f32[4]{0:T(128)} parameter(0)
      ^ x-start
        ^ x-end
                           ^ x-shape
      %add = f32[4]{0:T(128)S(1)} fusion(%x, %x), kind=kLoop, calls=%fused, metadata={op_name="a" stack_frame_id=1}
      ^ add-start
          ^ add-end
                                 ^ add-shape
                                         ^ add-first
                                             ^ add-second
                                                                                                                   ^ add-source
      %pair = (f32[4]{0:T(128)}, f32[4096]{0:T(128)}) tuple(%x, %add)
                               ^ pair-first
                                                            ^ pair-x
                                                                ^ pair-add
      ROOT %mul = f32[4]{0:T(128)} multiply(f32[4]{0:T(128)} %add, %add), metadata={source_file="/a/b.py" source_line=7}
           ^ mul-start
               ^ mul-end
                                  ^ mul-shape
                                                                   ^ mul-second
                                                                                                                        ^ mul-source
    }
    """  # noqa: E501
)


def hint_labels(
    text: str, kinds: frozenset[HintKind] = ALL_KINDS, *, neighbours: str = ""
) -> dict[tuple[int, int], Hint]:
    """Return the hints of a text by their places."""
    file = DumpFile.of_text(text)
    files = [file, DumpFile.of_text(neighbours)] if neighbours else [file]
    found = [hint for part in hints(DumpSet(files), file, kinds=kinds) for hint in part]
    return {(hint.line, hint.column): hint for hint in found}


def labels(marked: Marked, kind: HintKind, *, neighbours: str = "") -> dict[str, str]:
    """Return the labels of a kind by mark; each label must have one."""
    places = {place.position: name for name, place in marked.marks.items()}
    found = hint_labels(marked.text, frozenset({kind}), neighbours=neighbours)
    return {places[place]: hint.label for place, hint in found.items()}


def test_padded_shapes_have_size_hints() -> None:
    assert labels(MODULE, HintKind.PADDED_SIZE, neighbours=DUMP) == {
        "x-shape": "padded 512 B",
        "add-shape": "padded 512 B",
        "pair-first": "padded 512 B",
        "mul-shape": "padded 512 B",
    }


def test_names_have_allocation_hints() -> None:
    assert labels(MODULE, HintKind.ALLOCATION, neighbours=DUMP) == {
        "x-end": "allocation 0",
        "add-end": "allocation 2+512",
        "mul-end": "allocation 1",
    }
    assert labels(MODULE, HintKind.ALLOCATION) == {}


def test_metadata_has_source_hint() -> None:
    assert labels(MODULE, HintKind.SOURCE) == {"add-source": "train.py:212", "mul-source": "b.py:7"}


def test_operands_without_shapes_have_shape_hints() -> None:
    assert labels(MODULE, HintKind.OPERAND_SHAPE) == dict.fromkeys(
        [
            "p.0-operand", "p.1-operand", "add-first", "add-second", "pair-x", "pair-add",
            "mul-second",
        ],
        "f32[4]",
    )  # fmt: skip


def test_fused_parameters_have_argument_hints() -> None:
    assert labels(MODULE, HintKind.PARAMETER_NAME) == {"p.0": "= %x", "p.1": "= %x"}


def test_computation_with_several_callers() -> None:
    text = MODULE.text.replace(
        "  %pair", "  %twin = f32[4]{0} fusion(%add, %x), kind=kLoop, calls=%fused\n  %pair"
    )
    found = hint_labels(text, frozenset({HintKind.PARAMETER_NAME}))[MODULE["p.0"].position]
    assert found.label == "= %x (+1)"
    assert found.tooltip == "operand 0 of %add: %x\noperand 0 of %twin: %add"


def test_scheduled_instructions_have_step_hints() -> None:
    assert labels(MODULE, HintKind.STEP, neighbours=DUMP) == {
        "x-start": "step 0",
        "add-start": "step 1",
        "mul-start": "step 2",
    }


def test_value_hints_in_every_section() -> None:
    found = hint_labels(DUMP)
    lines = DUMP.split("\n")
    shown = [f"{lines[line][:column]}|{hint.label}" for (line, column), hint in found.items()]
    assert [each for each in shown if "<2" in each or each.startswith("    add")] == [
        " value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}|padded from 16 B",
        "<2 add @1>|allocation 2+512",
        "    add{}|allocation 2+512",
        "    add{}|allocation 2+512",
    ]


def test_size_mismatch_has_no_padding_hint() -> None:
    wrong = DUMP.replace("<2 add @1> (size=512", "<2 add @1> (size=520")
    assert DUMP.count("(size=512") == wrong.count("(size=512") + 1
    right, left = [
        [hint.label for hint in hint_labels(text).values()].count("padded from 16 B")
        for text in (DUMP, wrong)
    ]
    assert left == right - 1


def test_tooltips_explain_labels() -> None:
    found = hint_labels(MODULE.text, neighbours=DUMP)
    assert found[MODULE["add-end"].position].tooltip == (
        "<2 add @1>: 512 B at offset 512 of allocation 2 (1,024 B (1.0 KiB));"
        " live 1-2 (1 step): add -> mul | at the peak"
    )
    assert found[MODULE["mul-shape"].position].tooltip == (
        "512 B in memory, 16 B without padding: padded to T(128) (dim 0 4 -> 128)"
    )
    assert found[MODULE["add-source"].position].tooltip == "/home/me/train.py:212"
    assert found[MODULE["add-start"].position].tooltip == "runs at step 1 of 3"


@pytest.mark.parametrize("text", [MODULE.text, DUMP], ids=["module", "memory"])
def test_hints_of_one_line_equal_hints_of_file(text: str) -> None:
    file = DumpFile.of_text(text)
    dump = DumpSet([file])
    whole = [hint for part in hints(dump, file) for hint in part]
    single = [
        hint
        for line in range(len(file.lines) + 1)
        for part in hints(dump, file, line, line + 1)
        for hint in part
    ]
    assert whole == single
    assert whole


def test_no_hints_beyond_rendered_columns() -> None:
    names = ", ".join(["%x"] * 9000)
    text = MODULE.text.replace("multiply(", f"tuple({names}, ")
    columns = [column for _, column in hint_labels(text)]
    assert MAX_HINT_COLUMN - 10 < max(columns) <= MAX_HINT_COLUMN
