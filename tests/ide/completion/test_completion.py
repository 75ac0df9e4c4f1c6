"""Completion in unfinished lines."""

import pytest

from completion_cursor import MODULE, candidates_at, in_entry, labels_at, split_at_cursor
from hlo_lsp.ide.completion.candidates import CandidateKind
from hlo_lsp.ide.completion.completion import completions, file_start_completions


def test_result_offers_shapes_types_and_opcodes() -> None:
    found = labels_at(in_entry("  %r = |"))
    assert found[:5] == ["f32[]", "s32[]", "f32[8,4]{1,0}", "f32", "bf16"]
    assert "add" in found


def test_tuple_element_offers_only_shapes() -> None:
    found = candidates_at(in_entry("  %r = (f32[8], |"))
    assert {candidate.kind for candidate in found} == {CandidateKind.SHAPE, CandidateKind.TYPE}


@pytest.mark.parametrize("line", ["%a (x: |", "%a (x: f32[2], y: (f32[2], |", "%a (x: f32[]) -> |"])
def test_signature_offers_element_types(line: str) -> None:
    found = candidates_at(split_at_cursor(f"HloModule m\n\n{line}"))
    assert found[0].label == "f32"
    assert {candidate.kind for candidate in found} == {CandidateKind.TYPE}


def test_recently_used_opcodes_come_first() -> None:
    found = candidates_at(in_entry("  %r = f32[8] |"))
    assert [candidate.label for candidate in found[:3]] == ["constant", "parameter", "abs"]
    by_name = {candidate.label: candidate for candidate in found}
    assert by_name["parameter"].snippet == "parameter(${1:2})"
    assert by_name["compare"].detail == "(lhs, rhs)"
    assert by_name["tuple"].detail == "(operands...)"


def test_operands_come_nearest_first() -> None:
    found = candidates_at(in_entry("  %r = (s32[]) custom-call(|"))
    assert [(candidate.label, candidate.detail) for candidate in found] == [
        ("%zero", "f32[]"),
        ("%n", "s32[]"),
        ("%p", "f32[8,4]{1,0}"),
    ]


def test_later_instructions_are_not_offered() -> None:
    place = split_at_cursor(MODULE.replace("%n = s32[] parameter(1)", "%n = s32[] negate(|)"))
    assert labels_at(place) == ["%p"]


def test_matching_operands_come_first() -> None:
    assert labels_at(in_entry("  %r = f32[8,4] add(%p, %|"))[0] == "%p"
    assert labels_at(in_entry("  %r = f32[] add(%zero, |"))[0] == "%zero"
    pair = "  %t = (f32[], s32[]) tuple(%zero, %n)\n  %z2 = f32[] copy(%zero)\n"
    assert labels_at(in_entry(f"{pair}  %e = f32[] get-tuple-element(|"))[0] == "%t"


def test_names_of_broken_lines_are_offered() -> None:
    assert labels_at(in_entry("  %half = f32[8] add(%p,\n  %r = f32[8] negate(|"))[0] == "%half"


def test_nested_and_wrapped_operands() -> None:
    assert "%p" in labels_at(in_entry("  %r = f32[8] add(%p, negate(|"))
    assert "%p" in labels_at(in_entry("  %r = f32[8] add(%p,\n      |"))


def test_names_have_percent_sign_as_in_text() -> None:
    place = split_at_cursor(
        "HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] negate(|\n}"
    )
    assert labels_at(place) == ["a"]
    with_sign = "HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] negate(%|\n}"
    assert labels_at(split_at_cursor(with_sign)) == ["%a"]
    short = "HloModule m\n\nENTRY e { a = f32[] parameter(0) b = f32[] negate(|"
    assert labels_at(split_at_cursor(short)) == ["a"]


def test_inline_computation_has_its_own_scope() -> None:
    inline = "  %r = f32[8] reduce(%p, %zero), dimensions={1}, to_apply={ a = f32[] parameter(0)"
    assert labels_at(in_entry(f"{inline} b = f32[] parameter(1) ROOT c = f32[] add(a, |")) == [
        "b",
        "a",
    ]


def test_parameter_numbers_and_boolean_constants() -> None:
    assert labels_at(in_entry("  %q = f32[] parameter(|")) == ["2"]
    assert labels_at(in_entry("  %q = pred[] constant(|")) == ["true", "false"]
    assert labels_at(in_entry("  %q = f32[] constant(|")) == []


def test_required_attributes_come_first_without_present_ones() -> None:
    found = candidates_at(in_entry("  %r = f32[8] reduce(%p, %zero), |"))
    assert [candidate.label for candidate in found[:3]] == ["dimensions", "to_apply", "sharding"]
    assert [candidate.detail for candidate in found[:3]] == ["required", "required", "common"]
    line = "  %r = f32[8] reduce(%p, %zero), dimensions={1}, |, to_apply=%sum, metadata={}"
    assert labels_at(in_entry(line))[0] == "sharding"
    assert not {"dimensions", "to_apply", "metadata"} & set(labels_at(in_entry(line)))


def test_branch_attributes_exclude_each_other() -> None:
    found = labels_at(
        in_entry("  %c = f32[8,4] conditional(%n, %p, %p), true_computation=%twice, |")
    )
    assert "false_computation" in found
    assert "branch_computations" not in found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("compare(%p, %p), direction=|", ["EQ", "NE", "GE", "GT", "LE", "LT"]),
        ("sort(%p), is_stable=|", ["true", "false"]),
        ("negate(%p), control-predecessors={|", ["%zero", "%n", "%p"]),
        ("negate(%p), control-predecessors={%n, |}", ["%zero", "%p"]),
        ("negate(%p), control-predecessors=|", ["{%zero}", "{%n}", "{%p}"]),
        ("dot(%p, %p), operand_precision={high|", ["default", "high", "highest"]),
        ("broadcast(%p), dimensions=|", ["{0,1}"]),
        ("all-reduce(%p), replica_groups=|", ["{{0,1},{2,3}}"]),
        ("fusion(%p), calls=|", ["%twice", "%sum"]),
        ("all-reduce(%p), to_apply=%t|", ["%twice", "%sum"]),
    ],
)
def test_attribute_values(line: str, expected: list[str]) -> None:
    assert labels_at(in_entry(f"  %r = f32[8] {line}")) == expected


def test_tuple_indices_have_element_shapes() -> None:
    pair = "  %t = (f32[]{:T(128)}, s32[], (f32[])) tuple(%zero, %n, %u)\n"
    taken = candidates_at(in_entry(f"{pair}  %e = s32[] get-tuple-element(%t), index=|"))
    assert [(candidate.label, candidate.detail) for candidate in taken] == [
        ("0", "f32[]"), ("1", "s32[]"), ("2", "(f32[])")
    ]  # fmt: skip
    assert labels_at(in_entry("  %e = s32[] get-tuple-element(%lost), index=|")) == ["2"]


def test_metadata_keys_and_stack_frames() -> None:
    line = '  %r = f32[8] negate(%p), metadata={op_name="jit(f)" |'
    found = labels_at(in_entry(line))
    assert found[:2] == ["stack_frame_id", "source_file"]
    assert "op_name" not in found
    tables = (
        'HloModule m\n\nFileNames\n1 "f.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
        "1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}\n\n"
        "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
    )
    frame = MODULE.replace("HloModule m\n", tables) + line.replace("|", "stack_frame_id=|}")
    assert [(c.label, c.detail) for c in candidates_at(split_at_cursor(frame))] == [("1", "f.py:7")]


def test_module_header_attributes() -> None:
    assert labels_at(split_at_cursor("HloModule m, |"))[0] == "is_scheduled"
    assert "is_scheduled" not in labels_at(split_at_cursor("HloModule m, is_scheduled=true, |"))
    assert labels_at(split_at_cursor("HloModule m, is_scheduled=|")) == ["true", "false"]


def test_start_of_line() -> None:
    assert labels_at(in_entry("  R|")) == ["ROOT"]
    assert labels_at(in_entry("  ROOT %a = f32[] negate(%zero)\n  R|")) == []
    outside = labels_at(split_at_cursor("HloModule m\n\nE|"))
    assert outside == ["ENTRY", "FileNames", "FunctionNames", "FileLocations", "StackFrames"]
    assert labels_at(split_at_cursor(f"{MODULE}}}\n\nE|")) == []
    assert labels_at(split_at_cursor("|ENTRY %e {\n  a = f32[] parameter(0)\n}")) == [
        "HloModule", "FileNames", "FunctionNames", "FileLocations", "StackFrames"
    ]  # fmt: skip


@pytest.mark.parametrize("trigger", [" ", "%", "{"])
def test_trigger_characters_do_nothing_at_line_start(trigger: str) -> None:
    assert labels_at(in_entry(f"  {trigger.strip()}|"), trigger) == []


@pytest.mark.parametrize(
    "line",
    [
        "  %new|", "  ROOT %new|", "  %r = f32[8,|", "  %r = f32[8]{|",
        "  %r = f32[8] add(%p, %p) |", '  %r = f32[8] add(%p, %p), metadata={op_name="|',
        "  // %r = f32[8] add(|", "  %r = f32[8] /* add(|",
        "  %r = f32[8] add(%p, %p), sharding={devices=[2,|",
        "  %r = f32[8] compare(%p, %p), nothing=|", "  %r = f32[8] broadcast(%p), dimensions={|",
    ],
)  # fmt: skip
def test_unknown_context_offers_nothing(line: str) -> None:
    assert labels_at(in_entry(line)) == []


def test_whole_word_at_cursor_is_replaced() -> None:
    place = in_entry("  %r = f32[8] reduce(%p, %zero), to_apply=%su|mmer, metadata={}")
    offer = completions(*place)
    assert offer is not None
    assert place[0].lines[place[1]][offer.start : offer.end] == "%summer"
    shape = in_entry("  %r = f32[8|")
    assert completions(*shape) is None
    pair = in_entry("  %r = (f32[8]{0}, s3|) tuple(%p)")
    offer = completions(*pair)
    assert offer is not None
    assert pair[0].lines[pair[1]][offer.start : offer.end] == "s3"


def test_memory_files_have_no_completion() -> None:
    assert (
        completions(*split_at_cursor("BufferAssignment:\nallocation 0: size 8|, constant:")) is None
    )


@pytest.mark.parametrize(("text", "offers"), [("H|", True), ("\n Hlo|\n", False), ("H|\nx", False)])
def test_empty_file_offers_module_header(text: str, offers: bool) -> None:
    assert (file_start_completions(*split_at_cursor(text)) is not None) is offers


@pytest.mark.parametrize(
    ("operand", "shapes"),
    [
        ("%t#|", ["f32[8]", "(s32[],f32[4])"]),
        ("t#1#|", ["s32[]", "f32[4]"]),
        ("%t#0#|", []),
        ("%nobody#|", []),
    ],
)
def test_number_sign_offers_elements_of_tuple(operand: str, shapes: list[str]) -> None:
    holder = "  %t = (f32[8]{0}, (s32[], f32[4]{0})) parameter(0)"
    found = candidates_at(in_entry(f"{holder}\n  %r = f32[8] negate({operand})"))
    assert [(each.label, each.detail) for each in found] == [
        (str(number), shape) for number, shape in enumerate(shapes)
    ]
