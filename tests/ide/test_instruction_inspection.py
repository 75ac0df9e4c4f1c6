"""JSON of instructions, from module text or from the entries of their values."""

from typing import Any

import pytest

from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.inspection import instruction_json
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

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


def _dump(*texts: str) -> Compile:
    names = ("m.cpu_after_optimizations.txt", "m.cpu_after_optimizations-x.txt")
    files = [DumpFile.of_text(text, f"/d/{name}") for text, name in zip(texts, names, strict=False)]
    return Compile(files)


def instruction(name: str, *texts: str) -> dict[str, Any] | None:
    return instruction_json(_dump(*texts), name)


def test_instruction_json_has_all_facts() -> None:
    assert instruction("sum", MODULE, ENTRY) == {
        "kind": "instruction",
        "name": "sum",
        "opcode": "add",
        "shape": "f32[4]{0}",
        "logical_bytes": 16,
        "padded_bytes": 16,
        "global_shape": None,
        "cuts": [],
        "computation": "main",
        "is_root": False,
        "operands": ["x", "x"],
        "users": ["fusion.1"],
        "called": [],
        "axes": None,
        "role": None,
        "op_name": "jit(f)/add",
        "source": {"file": "/home/user/m.py", "line": 7},
        "metadata_from": "sum",
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


def test_fusion_json_names_callee_and_root() -> None:
    facts = instruction("fusion.1", MODULE)
    assert facts is not None
    assert (facts["called"], facts["is_root"], facts["users"]) == (["fused"], True, [])
    inner = instruction("neg", MODULE)
    assert inner is not None
    assert (inner["computation"], inner["operands"]) == ("fused", ["p"])


def test_entry_replaces_missing_module_text() -> None:
    facts, whole = instruction("sum", ENTRY), instruction("sum", MODULE, ENTRY)
    assert facts is not None
    assert whole is not None
    assert list(facts) == list(whole)
    assert (facts["opcode"], facts["operands"], facts["op_name"]) == (
        "add", ["x", "x"], "jit(f)/add"
    )  # fmt: skip
    assert (facts["computation"], facts["is_root"], facts["stack"]) == (None, None, [])


def test_schedule_step_identifies_instruction() -> None:
    text = "HloLiveRange (max 2):\n  InstructionSequence:\n    0:x\n    1:gte.1\n"
    facts = instruction("gte.1", text)
    assert facts is not None
    assert (facts["name"], facts["line"], facts["opcode"], facts["shape"]) == (
        "gte.1", 4, None, None
    )  # fmt: skip


def test_unmentioned_name_is_unknown() -> None:
    assert instruction("nobody", MODULE, ENTRY) is None
    assert instruction("", MODULE, ENTRY) is None


FORWARDING = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[16,1]) -> f32[16] {
  %x = f32[16,1]{1,0} parameter(0)
  %all-reduce-start = f32[16,1]{1,0} all-reduce-start(%x), to_apply=%max
  %all-reduce-done = f32[16,1]{1,0} all-reduce-done(%all-reduce-start)
  %pair = (f32[16,1]{1,0}, f32[16,1]{1,0}) tuple(%x, %all-reduce-done)
  %barrier = (f32[16,1]{1,0}, f32[16,1]{1,0}) opt-barrier(%pair)
  %element = f32[16,1]{1,0} get-tuple-element(%barrier), index=1
  ROOT %bitcast = f32[16]{0} bitcast(%element)
}
"""
FORWARDED = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16,1]| at ShapeIndex {}:
 value: <0 x @0> (size=64,offset=0): f32[16,1]{1,0}
allocation 1: size 64, maybe-live-out:
 value: <1 all-reduce-start @0> (size=64,offset=0): f32[16,1]{1,0}
allocation 2: size 16, preallocated-temp:
 value: <2 pair{} @0> (size=16,offset=0): (f32[16,1]{1,0}, f32[16,1]{1,0})

Total bytes used: 144 (144B)

Used values:
<0 x @0>
 positions:
  x
  pair {0}
  barrier {0}
 uses:
  all-reduce-start, operand 0
 from instruction: %x = f32[16,1]{1,0} parameter(0)
<1 all-reduce-start @0>
 positions:
  all-reduce-start
  all-reduce-done
  pair {1}
  barrier {1}
  element
  bitcast
 uses:
  all-reduce-done, operand 0
 from instruction: %all-reduce-start = f32[16,1]{1,0} all-reduce-start(%x), to_apply=%max
<2 pair{} @0>
 positions:
  pair {}
  barrier {}
 uses:
  barrier, operand 0 {}
 from instruction: %pair = (f32[16,1]{1,0}, f32[16,1]{1,0}) tuple(%x, %all-reduce-done)

HloLiveRange (max 7):
  InstructionSequence:
    0:x
  BufferLiveRange:
    x{}:0-7
    all-reduce-start{}:1-7
    pair{}:3-5
"""


@pytest.mark.parametrize("name", ["all-reduce-done", "element", "bitcast"])
def test_forwarding_instruction_has_memory_of_forwarded_value(name: str) -> None:
    facts = instruction(name, FORWARDING, FORWARDED)
    assert facts is not None
    assert (facts["allocation"], facts["live_range"], facts["padded_bytes"]) == (1, [1, 7], 64)
    assert facts["values"] == []  # it defines none


def test_forwarded_tuple_has_memory_of_its_table() -> None:
    facts = instruction("barrier", FORWARDING, FORWARDED)
    assert facts is not None
    assert (facts["allocation"], facts["live_range"], facts["padded_bytes"]) == (2, [3, 5], 16)


@pytest.mark.parametrize("name", ["all-reduce-done", "element", "bitcast", "barrier"])
def test_hover_agrees_with_json_on_forwarded_values(name: str) -> None:
    dump = _dump(FORWARDING, FORWARDED)
    facts, card = instruction_json(dump, name), instruction_card(dump, name)
    assert facts is not None
    assert card is not None
    shown = {fact.label: fact.text for fact in card.facts}
    assert shown["allocation"].startswith(f"{facts['allocation']} at offset 0, ")
    live = shown.get("live range", "3-5 ")  # that of the table is not shown beside its parts
    assert live.startswith("{}-{} ".format(*facts["live_range"]))
    size = shown["tuple table" if name == "barrier" else "padded size"]
    assert size.startswith(f"{facts['padded_bytes']} B")


def test_position_of_two_values_has_no_memory_facts() -> None:
    damaged = FORWARDED.replace("  barrier {0}\n", "  barrier {0}\n  bitcast\n")
    facts = instruction("bitcast", FORWARDING, damaged)
    assert facts is not None
    assert (facts["allocation"], facts["live_range"], facts["padded_bytes"]) == (None, None, None)


def test_collective_has_axes_in_hover_and_json() -> None:
    text = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %main {
  %x = f32[8] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  ROOT %a = f32[8] all-reduce(%x), channel_id=1, replica_groups={{0,1},{2,3}}, \
use_global_device_ids=true
}
"""
    dump = Compile([DumpFile.of_text(text, "m.txt")])
    found, card = instruction_json(dump, "a"), instruction_card(dump, "a")
    assert found is not None
    assert card is not None
    assert found["axes"] == [{"name": "model", "size": 2, "stride": None}]
    assert [fact.text for fact in card.facts if fact.label == "axes"] == [
        "over `model` (2 devices) of the mesh data=2, model=2"
    ]
