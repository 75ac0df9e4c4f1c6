"""Inlay hints at marked positions of a module and its memory files."""

from collections import Counter

import pytest

from hlo_lsp.ide.inlay_hints import ALL_KINDS, MAX_HINT_COLUMN, Hint, HintKind, hints
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from ide.hover.test_result_values import ASYNC, ASYNC_USES, ASYNC_VALUES
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
    found = [hint for part in hints(Compile(files), file, kinds=kinds) for hint in part]
    return {(hint.line, hint.column): hint for hint in found}


def shown_hints(text: str) -> list[str]:
    """Return the text before each hint, and its label."""
    file = DumpFile.of_text(text)
    found = [hint for part in hints(Compile([file]), file) for hint in part]
    return [f"{file.lines[hint.line][: hint.column]}|{hint.label}" for hint in found]


def labels(marked: Marked, kind: HintKind, *, neighbours: str = "") -> dict[str, str]:
    """Return the labels of a kind by mark; each label must have one."""
    places = {place.position: name for name, place in marked.marks.items()}
    found = hint_labels(marked.text, frozenset({kind}), neighbours=neighbours)
    return {places[place]: hint.label for place, hint in found.items()}


def test_padded_shapes_have_size_hints() -> None:
    assert labels(MODULE, HintKind.PADDED_SIZE, neighbours=DUMP) == {
        "x-shape": "padded from 16 B",
        "add-shape": "padded from 16 B",
        "pair-first": "padded 512 B",
        "mul-shape": "padded from 16 B",
    }


def test_names_have_size_and_space_hints() -> None:
    assert labels(MODULE, HintKind.ALLOCATION, neighbours=DUMP) == {
        "x-end": "512 B HBM",
        "add-end": "512 B VMEM",
        "mul-end": "512 B HBM",
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
    value = " value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}"
    assert [each for each in shown_hints(DUMP) if "<2" in each or each.startswith("    add")] == [
        f"{value}|padded from 16 B",
        f"{value}|live 1-2, at the peak",
        "<2 add @1>|512 B VMEM",
        "<2 add @1>|live 1-2, at the peak",
        "    add{}|512 B VMEM",
        "    add{}|512 B VMEM",
    ]


def test_thread_local_values_have_no_hints() -> None:
    head = "allocation 2: size 1024, color 1, preallocated-temp:"
    assert head in DUMP
    hidden = DUMP.replace(head, "allocation 2: size 1024, color 1, thread-local:")
    assert [each for each in shown_hints(DUMP) if each.startswith(" value: <2")]
    assert not [each for each in shown_hints(hidden) if each.startswith(" value: <2")]


def test_labels_of_a_line_fit_in_vscode() -> None:
    names = ", ".join(["%add"] * 6)
    text = MODULE.text.replace("multiply(", f"tuple({names}, ")
    file = DumpFile.of_text(text)
    dump = Compile([file, DumpFile.of_text(DUMP)])
    lengths: Counter[int] = Counter()
    for hint in (hint for part in hints(dump, file) for hint in part):
        lengths[hint.line] += len(hint.label)
    assert max(lengths.values()) <= 43
    wide = next(line for line, text in enumerate(file.lines) if "%mul" in text)
    assert [hint.kind for part in hints(dump, file, wide, wide + 1) for hint in part] == [
        HintKind.STEP,
        HintKind.ALLOCATION,
        HintKind.PADDED_SIZE,
        HintKind.SOURCE,
    ]


def test_step_is_the_first_hint_to_go() -> None:
    text = MODULE.text.replace("/a/b.py", f"{'b' * 29}.py")
    kinds = frozenset({HintKind.SOURCE, HintKind.OPERAND_SHAPE, HintKind.STEP})
    file = DumpFile.of_text(text)
    line = next(line for line, text in enumerate(file.lines) if "%mul" in text)
    found = hints(Compile([file, DumpFile.of_text(DUMP)]), file, line, line + 1, kinds)
    assert {hint.kind for part in found for hint in part} == kinds - {HintKind.STEP}


def test_moved_data_shows_the_line_of_its_origin() -> None:
    text = MODULE.text.replace("multiply(f32[4]{0:T(128)} %add, %add)", "copy(%add)")
    text = text.replace(', metadata={source_file="/a/b.py" source_line=7}', "")
    found = hint_labels(text, frozenset({HintKind.SOURCE}), neighbours=DUMP)
    assert [hint.label for hint in found.values()] == ["train.py:212", "train.py:212"]


def test_library_frames_are_skipped() -> None:
    text = MODULE.text.replace(
        '/home/me/train.py"', '/home/me/train.py"\n2 "/lib/python3.12/nn.py"'
    )
    text = text.replace(
        "column=1 end_column=2}\n",
        "column=1 end_column=2}\n"
        "2 {file_name_id=2 function_name_id=1 line=9 end_line=9 column=1 end_column=2}\n",
    )
    text = text.replace(
        "parent_frame_id=1}\n", "parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}\n"
    )
    text = text.replace("stack_frame_id=1", "stack_frame_id=2")
    found = list(hint_labels(text, frozenset({HintKind.SOURCE})).values())
    assert [hint.label for hint in found] == ["train.py:212", "b.py:7"]
    assert found[0].tooltip == "/lib/python3.12/nn.py:9\n/home/me/train.py:212"


_REPORT = """\
Memory Space: vmem (color=1)
Total bytes: 1024 (1.00KiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
       512B(100%);       512B;          512;                1; f32[4]

"""


def test_rows_of_reports_show_the_origin_of_their_largest_value() -> None:
    report = DumpFile.of_text(_REPORT)
    files = [report, DumpFile.of_text(DUMP), DumpFile.of_text(MODULE.text)]
    (hint,) = (hint for part in hints(Compile(files), report) for hint in part)
    assert hint.label.startswith("train.py:212")
    assert report.lines[hint.line][: hint.column].endswith("f32[4]")
    assert "produced by add" in hint.tooltip


def test_size_mismatch_has_no_padding_hint() -> None:
    wrong = DUMP.replace("<2 add @1> (size=512", "<2 add @1> (size=520")
    assert DUMP.count("(size=512") == wrong.count("(size=512") + 1
    right, left = [
        sum(each.endswith("|padded from 16 B") for each in shown_hints(text))
        for text in (DUMP, wrong)
    ]
    assert left == right - 2  # on the value, and on its instruction


def test_tooltips_explain_labels() -> None:
    found = hint_labels(MODULE.text, neighbours=DUMP)
    assert found[MODULE["add-end"].position].tooltip == (
        "<2 add @1>: 512 B at offset 512 of allocation 2 (1,024 B (1.0 KiB));"
        " live 1-2 (1 step): add -> mul"
    )
    assert found[MODULE["mul-shape"].position].tooltip == (
        "512 B in memory, 16 B without padding: padded to T(128) (dim 0 4 -> 128)"
    )
    assert found[MODULE["add-source"].position].tooltip == "/home/me/train.py:212"
    assert found[MODULE["mul-start"].position].tooltip == "runs at step 2 of 3"


@pytest.mark.parametrize("text", [MODULE.text, DUMP], ids=["module", "memory"])
def test_hints_of_one_line_equal_hints_of_file(text: str) -> None:
    file = DumpFile.of_text(text)
    dump = Compile([file])
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
    name = "m" * MAX_HINT_COLUMN
    text = MODULE.text.replace("%mul", f"%{name}")
    file = DumpFile.of_text(text)
    dump = Compile([file, DumpFile.of_text(DUMP.replace("mul", name))])
    columns = [hint.column for part in hints(dump, file) for hint in part]
    assert max(columns) <= MAX_HINT_COLUMN
    assert HintKind.STEP in {hint.kind for part in hints(dump, file) for hint in part}


def test_copies_show_the_line_of_their_data() -> None:
    files = [DumpFile.of_text(text) for text in (ASYNC, ASYNC_VALUES, ASYNC_USES)]
    kinds = frozenset({HintKind.ALLOCATION, HintKind.SOURCE})
    found: dict[str, list[str]] = {}
    for hint in (hint for part in hints(Compile(files), files[0], kinds=kinds) for hint in part):
        name = files[0].lines[hint.line].partition("=")[0].split()[-1]
        found.setdefault(name, []).append(hint.label)
    assert found == {
        "%mul": ["16 B memory space 1", "train.py:25"],
        "%copy-start": ["16 B memory space 0", "train.py:25"],
        "%copy-done": ["16 B memory space 0", "train.py:25"],
        "%pair": ["48 B memory space 0"],
        "%all": ["16 B memory space 0"],
    }


def test_source_hint_is_that_of_the_instruction() -> None:
    text = ASYNC.replace(
        "copy-done(%copy-start)",
        'copy-done(%copy-start), metadata={source_file="/a/train.py" source_line=27}',
    )
    files = [DumpFile.of_text(each) for each in (text, ASYNC_VALUES, ASYNC_USES)]
    kinds = frozenset({HintKind.SOURCE})
    line = next(row for row, each in enumerate(files[0].lines) if "%copy-done =" in each)
    ((hint,),) = hints(Compile(files), files[0], line, line + 1, kinds)
    assert (hint.label, hint.tooltip) == ("train.py:27", "/a/train.py:27")
