"""The records of module text."""

import pytest

from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.records import BlankLine, BrokenRecord
from hlo_lsp.syntax.scanners import module_scanner
from syntax.record_fields import record_fields


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        ("HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}",
         "ModuleHeader", {"name": "jit_f"}),
        ("HloModule jit__lambda.3", "ModuleHeader", {"name": "jit__lambda.3"}),
        ("FileNames", "TableLabel", {"table": "FileNames"}),
        ("StackFrames", "TableLabel", {"table": "StackFrames"}),
        ('1 "/home/user/models/a b.py"', "NameRow",
         {"number": 1, "text": "/home/user/models/a b.py"}),
        ('5 "f.<locals>.<lambda>"', "NameRow", {"number": 5, "text": "f.<locals>.<lambda>"}),
        ("3 {file_name_id=1 function_name_id=2 line=55 end_line=56 column=4 end_column=47}",
         "LocationRow", {"number": 3, "file": 1, "function": 2, "source_line": 55}),
        ("3 {file_name_id=1 function_name_id=2 line=55}",
         "LocationRow", {"number": 3, "file": 1, "function": 2, "source_line": 55}),
        ("1 {file_location_id=4 parent_frame_id=1}", "FrameRow",
         {"number": 1, "location": 4, "parent": None}),
        ("3 {file_location_id=5 parent_frame_id=3}", "FrameRow",
         {"number": 3, "location": 5, "parent": 2}),
        ("3 {file_location_id=5}", "FrameRow", {"number": 3, "location": 5, "parent": None}),
        ("%body.2 (p: (s32[], f32[2]{0})) -> (s32[], f32[2]{0}) {", "ComputationLine",
         {"name": "body.2", "is_entry": False}),
        ("ENTRY %main (a: f32[2]) -> f32[2] {", "ComputationLine",
         {"name": "main", "is_entry": True}),
        ("ENTRY %main () -> f32[2] {", "ComputationLine", {"name": "main", "is_entry": True}),
        ("ENTRY main.16 {", "ComputationLine", {"name": "main.16", "is_entry": True}),
        ("region_0.10 {", "ComputationLine", {"name": "region_0.10", "is_entry": False}),
        ("}", "ComputationEnd", {}),
        ('}, execution_thread="sparsecore"', "ComputationEnd", {}),
        ("} // main", "ComputationEnd", {}),
    ],
)  # fmt: skip
def test_lines_of_a_module(line: str, kind: str, fields: dict[str, object]) -> None:
    found, said_fields = record_fields(module_scanner().read([line], 0))
    assert (found, {name: said_fields[name] for name in fields}) == (kind, fields)


@pytest.mark.parametrize(
    ("line", "name", "is_root", "shape", "opcode"),
    [
        ("  %add.5 = f32[2]{0:T(128)} add(%a, %b), metadata={op_name=\"x\"}",
         "add.5", False, "f32[2]{0:T(128)}", "add"),
        ("  ROOT %tuple = (f32[2]{0}, /*index=1*/s32[]) tuple(%a, %b)",
         "tuple", True, "(f32[2]{0}, /*index=1*/s32[])", "tuple"),
        ("  add.5 = f32[] add(a, b)", "add.5", False, "f32[]", "add"),
        ("  ROOT x = f32[2,3]{1,0} dot(f32[2]{0} a, f32[3]{0} b), lhs_contracting_dims={}",
         "x", True, "f32[2,3]{1,0}", "dot"),
        ("  %t = () tuple()", "t", False, "()", "tuple"),
        ("  %s = ((f32[2]{0}), f32[2]{0:S(1)}, u32[]{:S(2)}) async-start(%a), calls=%c",
         "s", False, "((f32[2]{0}), f32[2]{0:S(1)}, u32[]{:S(2)})", "async-start"),
        ("  %k = token[] after-all()", "k", False, "token[]", "after-all"),
        ("  %c = f32[2,2]{1,0} constant({ {1, 2}, {3, 4} })",
         "c", False, "f32[2,2]{1,0}", "constant"),
        ("  %d = f32[<=7]{0:T(128)M(1024)} set-dimension-size(%a, %b), dimensions={0}",
         "d", False, "f32[<=7]{0:T(128)M(1024)}", "set-dimension-size"),
        ("%a = pred[] parameter(0)", "a", False, "pred[]", "parameter"),
    ],
)  # fmt: skip
def test_an_instruction(line: str, name: str, is_root: bool, shape: str, opcode: str) -> None:
    record = module_scanner().read([line], 0)
    assert isinstance(record, InstructionLine)
    found = record.name, record.is_root, record.shape, record.opcode, record.text
    assert found == (name, is_root, shape, opcode, line)


@pytest.mark.parametrize(
    "line",
    [
        "  %a = f32[] add(%b, %c",
        "  %a = f32[]",
        "  %a f32[] add(%b)",
        "  = f32[] add(%b)",
        "%c (p: f32[]) -> f32[]",
        "1 {file_name_id=1}",
        '1 "open',
        "HloModule",
        "Tables",
        "Lorem ipsum",
    ],
)
def test_a_broken_line_is_kept_as_it_is(line: str) -> None:
    record = module_scanner().read([line], 0)
    assert isinstance(record, BrokenRecord)
    assert record.text == line


def test_an_empty_line_separates() -> None:
    assert type(module_scanner().read([""], 0)) is BlankLine


def test_equal_shapes_and_opcodes_are_kept_once() -> None:
    def shape_and_opcode(name: str) -> tuple[object, object]:
        line = f"  %{name} = f32[123,456]{{1,0:T(8,128)}} custom-op-1(%a)"
        record = module_scanner().read([line], 0)
        return getattr(record, "shape", name), getattr(record, "opcode", name)

    (shape, opcode), (other_shape, other_opcode) = shape_and_opcode("x"), shape_and_opcode("y")
    assert shape is other_shape
    assert opcode is other_opcode
