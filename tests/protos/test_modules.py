"""Modules are printed as XLA prints them."""

from hlo_lsp.protos.modules import ModulePrinter
from protos.messages import MODULE, MODULE_TEXT, message


def _lines(text: str) -> list[str]:
    return list(ModulePrinter(message("HloModuleProto", text)).lines())


def test_modules() -> None:
    assert "\n".join(_lines(MODULE)) == MODULE_TEXT


def test_scheduled_instructions_are_in_schedule_order() -> None:
    swapped = MODULE.replace("instruction_ids: 21 instruction_ids: 22", (
        "instruction_ids: 22 instruction_ids: 21"))  # fmt: skip
    names = [line.split()[0] for line in _lines(swapped) if line.startswith("  %")]
    assert names == ["%p", "%fusion", "%x"]


def test_header() -> None:
    text = """name: "m"
      input_output_alias {
        entries { output_shape_index: 0 parameter_number: 1 kind: 1 }
        entries { output_shape_index: 1 parameter_shape_index: 2 kind: 2 }
      }
      buffer_donor { entries { parameter_number: 3 } }
      frontend_attributes { map { key: "k" value: "v" } }"""
    assert _lines(text)[0] == (
        "HloModule m, input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {2}, must-alias) },"
        ' buffer_donor={ (3, {}) }, frontend_attributes={k="v"}'
    )


def test_stack_frames() -> None:
    text = """name: "m" stack_frame_index {
      file_names: "a.py" function_names: "f"
      file_locations { file_name_id: 1 function_name_id: 1 line: 2 end_line: 3 column: 4
        end_column: 5 }
      stack_frames { file_location_id: 1 }
      stack_frames { file_location_id: 1 parent_frame_id: 1 }
    }"""
    assert _lines(text)[1:] == [
        "",
        "FileNames",
        '1 "a.py"',
        "",
        "FunctionNames",
        '1 "f"',
        "",
        "FileLocations",
        "1 {file_name_id=1 function_name_id=1 line=2 end_line=3 column=4 end_column=5}",
        "",
        "StackFrames",
        "1 {file_location_id=1 parent_frame_id=1}",
        "2 {file_location_id=1 parent_frame_id=2}",
        "",
        "",
        "",
    ]


def test_callees_precede_callers() -> None:
    text = """name: "m" entry_computation_id: 3
      computations { id: 1 name: "second" }
      computations { id: 2 name: "first" }
      computations { id: 3 name: "main" root_id: 9
        instructions { id: 9 name: "b" opcode: "call" called_computation_ids: 1 }
        instructions { id: 8 name: "a" opcode: "call" called_computation_ids: 2 } }"""
    heads = [line for line in _lines(text) if line.endswith("{")]
    assert [head.split()[0] for head in heads] == ["%first", "%second", "ENTRY"]


def test_other_threads_are_named() -> None:
    text = 'computations { id: 1 name: "c" execution_thread: "sparsecore" }'
    assert '}, execution_thread="sparsecore"' in _lines(text)
