"""JSON of values, allocations, and whole dumps."""

import json
from typing import Any

import pytest

from hlo_lsp.ide.inspection import allocation_json, dump_json, value_json
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

DUMP = """\
BufferAssignment:
allocation 0: size 512, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <1 x @0> (size=512,offset=0): f32[4]{0:T(128)}
allocation 1: size 1024, color 1, preallocated-temp:
 value: <2 while.5{1} (phi) @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}
allocation 2: size 512, thread-local:
 value: <3 add @0> (size=512,offset=0): f32[]{:T(128)}

Total bytes used: 2048 (2.0KiB)

Used values:
<1 x @0>
 positions:
  x
  t {0}
 uses:
  while.5, operand 0 {0}
  copy, operand 0
 from instruction: %x = f32[4]{0:T(128)} parameter(0), \
metadata={op_name="x" source_file="/home/user/m.py" source_line=7}
<2 while.5{1} (phi) @1>
 positions:
  while.5 {1}
 uses:
  (none)
 from instruction: %while.5 = (f32[4]{0:T(128)}, f32[4]{0:T(128)S(1)}) while(%t)
<3 add @0>
 positions:
  add
 uses:
 from instruction: %add = f32[]{:T(128)} add(%a, %b)


HloLiveRange (max 9):
  InstructionSequence:
    0:x
    4:while.5
  BufferLiveRange:
    x{}:0-9
    while.5{1}:4-6
  Live ranges at 2 (peak):
    x{}: 16 bytes (cumulative: 16 bytes)
"""
VALUE_KEYS = [
    "kind", "id", "name", "index", "phi", "shape", "logical_bytes", "padded_bytes", "size",
    "offset", "allocation", "memory_space", "memory_space_name", "live_range", "at_declared_peak",
    "defined_by", "positions", "uses", "op_name", "source",
    "metadata_from", "path", "line",
]  # fmt: skip


def dump_of(text: str) -> tuple[Compile, DumpFile]:
    file = DumpFile.of_text(text, "/dumps/d.txt")
    return Compile([file]), file


def value(value_id: int, text: str = DUMP) -> dict[str, Any]:
    dump, _ = dump_of(text)
    found = dump.value(value_id)
    assert found is not None
    return value_json(dump, found)


def test_value_json_has_all_facts() -> None:
    assert value(1) == {
        "kind": "value",
        "id": 1,
        "name": "x",
        "index": None,
        "phi": False,
        "shape": "f32[4]{0:T(128)}",
        "logical_bytes": 16,
        "padded_bytes": 512,
        "size": 512,
        "offset": 0,
        "allocation": 0,
        "memory_space": 0,
        "memory_space_name": "HBM",
        "live_range": [0, 9],
        "at_declared_peak": True,
        "defined_by": "x",
        "positions": [{"instruction": "x", "index": None}, {"instruction": "t", "index": "{0}"}],
        "uses": [
            {"instruction": "while.5", "operand": 0, "index": "{0}"},
            {"instruction": "copy", "operand": 0, "index": None},
        ],
        "op_name": "x",
        "source": {"file": "/home/user/m.py", "line": 7},
        "metadata_from": "x",
        "path": "/dumps/d.txt",
        "line": 3,
    }


def test_merged_leaf_is_a_phi() -> None:
    facts = value(2)
    assert (facts["name"], facts["index"], facts["phi"]) == ("while.5", "{1}", True)
    assert (facts["memory_space"], facts["memory_space_name"]) == (1, "VMEM")
    assert (facts["allocation"], facts["offset"], facts["line"]) == (1, 512, 5)
    assert (facts["live_range"], facts["at_declared_peak"]) == ([4, 6], False)
    assert (facts["uses"], facts["op_name"], facts["source"]) == ([], None, None)


@pytest.mark.parametrize("value_id", [1, 2, 3])
def test_value_keys_are_stable(value_id: int) -> None:
    assert list(value(value_id)) == VALUE_KEYS


def test_missing_facts_are_null() -> None:
    allocations, _, rest = DUMP.partition("\nTotal")
    alone = value(1, allocations)
    assert list(alone) == VALUE_KEYS
    unknown = [
        "live_range",
        "at_declared_peak",
        "positions",
        "uses",
        "op_name",
        "source",
        "metadata_from",
    ]
    assert [alone[key] for key in unknown] == [None] * len(unknown)
    entry = value(1, f"\nTotal{rest.partition('HloLiveRange')[0]}")
    assert list(entry) == VALUE_KEYS
    unknown = ["size", "offset", "allocation", "live_range", "at_declared_peak"]
    assert [entry[key] for key in unknown] == [None] * len(unknown)
    assert (entry["line"], entry["shape"]) == (5, "f32[4]{0:T(128)}")


def test_zero_is_not_null() -> None:
    text = "BufferAssignment:\nallocation 0: size 0, constant:\n"
    text += " value: <0 c @0> (size=0,offset=0): f32[0]{0:T(128)}\n"
    facts = value(0, text)
    assert [facts[key] for key in ("id", "size", "offset", "allocation", "memory_space")] == [0] * 5
    assert (facts["logical_bytes"], facts["padded_bytes"]) == (0, 0)


def test_invalid_shape_has_no_sizes() -> None:
    facts = value(1, DUMP.replace("512,offset=0): f32[4]{0:T(128)}", "512,offset=0): f32[4"))
    assert (facts["shape"], facts["logical_bytes"], facts["padded_bytes"]) == ("f32[4", None, None)
    assert facts["size"] == 512


def test_allocation_json_lists_values() -> None:
    dump, _ = dump_of(DUMP)
    first, second, third = (allocation_json(dump, found) for found in dump.allocations())
    assert first == {
        "kind": "allocation",
        "number": 0,
        "size": 512,
        "memory_space": 0,
        "memory_space_name": "HBM",
        "parameter": 0,
        "parameter_index": "{}",
        "parameter_shape": "f32[4]",
        "output_shape": None,
        "constant": False,
        "thread_local": False,
        "maybe_live_out": False,
        "preallocated_temp": False,
        "values": [1],
        "path": "/dumps/d.txt",
        "line": 2,
    }
    assert (second["memory_space"], second["preallocated_temp"], second["values"]) == (1, True, [2])
    assert (third["thread_local"], third["values"]) == (True, [3])


def test_dump_json_has_all_parts() -> None:
    dump, file = dump_of(DUMP)
    facts = dump_json(dump, file)
    assert list(facts) == [
        "kind", "path", "file_kind", "values", "allocations", "live_ranges", "total_bytes"
    ]  # fmt: skip
    assert (facts["kind"], facts["path"]) == ("dump", "/dumps/d.txt")
    assert facts["file_kind"] == "buffer-assignment"
    assert facts["values"] == [value(1), value(2), value(3)]
    assert [allocation["number"] for allocation in facts["allocations"]] == [0, 1, 2]
    assert facts["live_ranges"] == {"max": 9, "declared_peak": 2}
    assert facts["total_bytes"] == 2048
    assert json.loads(json.dumps(facts)) == facts


def test_missing_parts_are_null() -> None:
    facts = dump_json(*dump_of(DUMP.partition("\nTotal")[0]))
    assert facts["live_ranges"] == {"max": None, "declared_peak": None}
    assert facts["total_bytes"] is None
    assert len(facts["values"]) == 3
