"""``hlo-lsp inspect --format json``, a public interface."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import run
from e2e.compiles import Compile

Compiled = Callable[[str], Compile]
VALUE = {
    "kind", "id", "name", "index", "phi", "shape", "logical_bytes", "padded_bytes", "size",
    "offset", "allocation", "memory_space", "memory_space_name", "live_range", "at_declared_peak",
    "defined_by", "positions", "uses", "op_name", "source", "path", "line",
}  # fmt: skip
INSTRUCTION = [
    "kind", "name", "opcode", "shape", "logical_bytes", "padded_bytes", "computation", "is_root",
    "operands", "users", "called", "op_name", "source", "stack", "values", "allocation",
    "live_range", "path", "line",
]  # fmt: skip


def test_value_has_exactly_the_documented_keys(sample: Path) -> None:
    result = run("inspect", sample, "--value", "166", "--format", "json")
    assert (result.status, result.err) == (0, "")
    assert result.json == {
        "kind": "value",
        "id": 166,
        "name": "fusion.16",
        "index": "{0}",
        "phi": False,
        "shape": "u32[1]{0:T(128)}",
        "logical_bytes": 4,
        "padded_bytes": 512,
        "size": 512,
        "offset": 0,
        "allocation": 1,
        "memory_space": 0,
        "memory_space_name": "HBM",
        "live_range": [2, 9],
        "at_declared_peak": True,
        "defined_by": "fusion.16",
        "positions": [
            {"instruction": "fusion.16", "index": "{0}"},
            {"instruction": "bitcast.1", "index": None},
            {"instruction": "get-tuple-element", "index": None},
        ],
        "uses": [
            {"instruction": "add_add_fusion", "operand": 2, "index": None},
            {"instruction": "xor.4", "operand": 1, "index": None},
            {"instruction": "bitcast.1", "operand": 0, "index": None},
        ],
        "op_name": "jit(_threefry_split)/jit(main)/slice",
        "source": {"file": "/home/ptoulme/tpu.py", "line": 79},
        "path": str(sample),
        "line": 5,
    }
    assert set(result.json) == VALUE
    assert list(result.json) == list(
        run("inspect", sample, "--value", "164", "--format", "json").json
    )


def test_absent_facts_are_null(sample: Path) -> None:
    facts = run("inspect", sample, "--value", "169", "--format", "json").json
    assert set(facts) == VALUE
    assert (facts["index"], facts["op_name"], facts["source"]) == (None, None, None)


def test_position_selects_its_target(sample: Path) -> None:
    value = run("inspect", sample, "--value", "174", "--format", "json").json
    for place in ("6", "95", "128:6"):
        assert run("inspect", sample, "--at", place, "--format", "json").json == value
    allocation = run("inspect", sample, "--at", "9", "--format", "json").json
    assert (allocation["kind"], allocation["number"], allocation["values"]) == (
        "allocation", 3, [172, 173]
    )  # fmt: skip
    instruction = run("inspect", sample, "--at", "58", "--format", "json").json
    assert (instruction["kind"], instruction["name"]) == ("instruction", "xor.4")
    other = run("inspect", sample, "--at", "9:32", "--format", "json").json
    assert (other["kind"], other["title"]) == ("other", "memory space 1: VMEM")


def test_instruction_has_operands_and_users(compiled: Compiled) -> None:
    files = compiled("tpu")
    facts = run("inspect", files.live_range, "--instruction", "fusion.9", "--format", "json").json
    assert (facts["kind"], facts["name"], facts["opcode"]) == ("instruction", "fusion.9", "fusion")
    assert facts["shape"] == "f32[256,256]{1,0:T(8,128)}"
    assert facts["logical_bytes"] == facts["padded_bytes"] == 262_144
    assert (facts["operands"], facts["users"]) == (["copy.11"], ["tuple.12"])
    assert facts["called"] == ["fused_computation.2.clone.1"]
    assert facts["computation"] == "wide.region_0.1.sunk"
    assert facts["is_root"] is False
    assert facts["source"] == {"file": "/home/user/models/programs.py", "line": 53}
    assert [frame["function"] for frame in facts["stack"]][-1] == "<module>"
    assert (facts["values"], facts["allocation"], facts["live_range"]) == ([23], 5, [25, 27])
    assert facts["path"] == str(files.module)


def test_assignment_alone_has_values(compiled: Compiled) -> None:
    files = compiled("cpu")
    wanted = run("inspect", files.module, "--instruction", "while.5", "--format", "json").json
    files.values.unlink()
    files.live_range.unlink()
    found = run("inspect", files.module, "--instruction", "while.5", "--format", "json").json
    assert found["values"] == wanted["values"] != []
    assert found["allocation"] == wanted["allocation"]
    assert found["live_range"] is None


def test_computation_has_contents_and_callers(compiled: Compiled) -> None:
    files = compiled("tpu")
    name = "wide.region_0.1.sunk"
    facts = run("inspect", files.values, "--computation", f"%{name}", "--format", "json").json
    assert list(facts) == [
        "kind", "name", "is_entry", "root", "parameters", "instructions", "callers", "path", "line"
    ]  # fmt: skip
    (whole,) = [
        one for one in run("inspect", files.module).json["computations"] if one["name"] == name
    ]
    assert {key: facts[key] for key in whole} == whole
    assert (facts["kind"], facts["callers"]) == ("computation", ["while"])
    place = files.module.read_text("utf-8").split("\n")[facts["line"] - 1]
    assert place.startswith(f"%{name} (")
    for spot in (f"{facts['line']}", f"{facts['line']}:3"):
        assert run("inspect", files.module, "--at", spot, "--format", "json").json == facts
    result = run("inspect", files.module, "--computation", name)
    assert result.out.startswith(f"computation {name}")


@pytest.mark.parametrize("name", ["one file", "tpu", "cpu", "gpu"])
def test_whole_dump_is_printed_without_selector(compiled: Compiled, name: str) -> None:
    files = compiled(name)
    result = run("inspect", files.assignment)
    assert (result.status, result.err) == (0, "")
    assert list(result.json) == [
        "kind", "path", "file_kind", "values", "allocations", "live_ranges", "total_bytes"
    ]  # fmt: skip
    assert (result.json["kind"], result.json["path"]) == ("dump", str(files.assignment))
    assert result.json["file_kind"] == "buffer-assignment"
    assert all(set(value) == VALUE for value in result.json["values"])
    lines = files.assignment.read_text("utf-8").split("\n")
    assert len(result.json["values"]) == sum(line.startswith(" value: ") for line in lines)
    assert len(result.json["allocations"]) == sum(line.startswith("allocation ") for line in lines)
    assert result.json["total_bytes"] == sum(a["size"] for a in result.json["allocations"])
    ids = [value["id"] for value in result.json["values"]]
    assert ids == sorted(set(ids))
    assert result.json["live_ranges"]["max"] >= result.json["live_ranges"]["declared_peak"]
    one = run("inspect", files.assignment, "--value", str(ids[0]), "--format", "json").json
    assert result.json["values"][0] == one


def test_module_has_instructions_and_computations(compiled: Compiled) -> None:
    files = compiled("tpu")
    found = run("inspect", files.module).json
    assert set(found) == {"kind", "file_kind", "path", "instructions", "computations"}
    assert (found["kind"], found["file_kind"]) == ("dump", "module")
    assert all(list(one) == INSTRUCTION for one in found["instructions"])
    assert all(
        list(one) == ["name", "is_entry", "root", "parameters", "instructions"]
        for one in found["computations"]
    )
    alone = found["instructions"][-1]["name"]
    assert (
        found["instructions"][-1]
        == run("inspect", files.module, "--instruction", alone, "--format", "json").json
    )
    names = [name for one in found["computations"] for name in one["instructions"]]
    assert names == [one["name"] for one in found["instructions"]]
    assert [one["is_entry"] for one in found["computations"]].count(True) == 1


def test_companion_files_give_the_same_values(compiled: Compiled) -> None:
    files = compiled("tpu")
    whole = run("inspect", files.assignment).json
    kinds = {
        files.values: "buffer-assignment-values",
        files.live_range: "live-range",
        files.report: "memory-usage-report",
    }
    for path, kind in kinds.items():
        found = run("inspect", path).json
        assert (found["path"], found["file_kind"]) == (str(path), kind)
        assert {**found, "path": "", "file_kind": ""} == {**whole, "path": "", "file_kind": ""}


def test_paths_are_printed_as_given(sample: Path) -> None:
    name = os.path.join(".", sample.name)
    facts = run("inspect", sample.name, "--value", "166", "--format", "json", cwd=sample.parent)
    assert facts.json["path"] == sample.name
    dotted = run("inspect", name, "--value", "166", "--format", "json", cwd=sample.parent)
    assert Path(dotted.json["path"]) == Path(name)


def test_piped_json_is_one_line(sample: Path) -> None:
    for more in ((), ("--value", "166"), ("--at", "1"), ("--instruction", "xor.4")):
        out = run("inspect", sample, *more, "--format", "json").out
        assert out.count("\n") == 1
        assert out.endswith("\n")
