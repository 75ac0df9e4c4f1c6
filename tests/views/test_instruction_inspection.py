"""The JSON of an instruction, from the module text or from the entries of its values."""

from typing import Any

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.views.inspection import instruction_json

MODULE = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "/home/user/m.py"

FunctionNames
1 "f"
2 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=4 end_column=9}
2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=0 end_column=3}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %neg = f32[4]{0} negate(%p)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %sum = f32[4]{0} add(%x, %x), metadata={op_name="jit(f)/add" stack_frame_id=2}
  ROOT %fusion.1 = f32[4]{0} fusion(%sum), kind=kLoop, calls=%fused
}
"""
ENTRY = """\
Total bytes used: 16 (16B)

Used values:
<2 sum @0>
 positions:
  sum
 uses:
  fusion.1, operand 0
 from instruction: %sum = f32[4]{0} add(%x, %x), metadata={op_name="jit(f)/add"}
"""


def instruction(name: str, *texts: str) -> dict[str, Any] | None:
    names = ("m.cpu_after_optimizations.txt", "m.cpu_after_optimizations-x.txt")
    files = [DumpFile.of_text(text, f"/d/{name}") for text, name in zip(texts, names, strict=False)]
    return instruction_json(DumpSet(files), name)


def test_an_instruction_says_all_of_its_facts() -> None:
    assert instruction("sum", MODULE, ENTRY) == {
        "kind": "instruction",
        "name": "sum",
        "opcode": "add",
        "shape": "f32[4]{0}",
        "logical_bytes": 16,
        "padded_bytes": 16,
        "computation": "main",
        "is_root": False,
        "operands": ["x", "x"],
        "users": ["fusion.1"],
        "called": [],
        "op_name": "jit(f)/add",
        "source": {"file": "/home/user/m.py", "line": 7},
        "stack": [
            {"function": "f", "file": "/home/user/m.py", "line": 7},
            {"function": "main", "file": "/home/user/m.py", "line": 9},
        ],
        "values": [2],
        "allocation": None,
        "live_range": None,
        "path": "/d/m.cpu_after_optimizations.txt",
        "line": 26,
    }


def test_a_fusion_names_what_it_calls_and_that_it_is_the_root() -> None:
    facts = instruction("fusion.1", MODULE)
    assert facts is not None
    assert (facts["called"], facts["is_root"], facts["users"]) == (["fused"], True, [])
    inner = instruction("neg", MODULE)
    assert inner is not None
    assert (inner["computation"], inner["operands"]) == ("fused", ["p"])


def test_without_the_module_text_the_entry_is_asked() -> None:
    facts, whole = instruction("sum", ENTRY), instruction("sum", MODULE, ENTRY)
    assert facts is not None
    assert whole is not None
    assert list(facts) == list(whole)
    assert (facts["opcode"], facts["operands"], facts["op_name"]) == (
        "add", ["x", "x"], "jit(f)/add"
    )  # fmt: skip
    assert (facts["computation"], facts["is_root"], facts["stack"]) == (None, None, [])


def test_a_step_of_the_schedule_is_enough_to_know_an_instruction() -> None:
    text = "HloLiveRange (max 2):\n  InstructionSequence:\n    0:x\n    1:gte.1\n"
    facts = instruction("gte.1", text)
    assert facts is not None
    assert (facts["name"], facts["line"], facts["opcode"], facts["shape"]) == (
        "gte.1", 4, None, None
    )  # fmt: skip


def test_a_name_that_nobody_mentions_is_unknown() -> None:
    assert instruction("nobody", MODULE, ENTRY) is None
    assert instruction("", MODULE, ENTRY) is None
