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
    "defined_by", "positions", "uses", "op_name", "source",
    "metadata_from", "path", "line",
}  # fmt: skip
INSTRUCTION = [
    "kind", "name", "opcode", "shape", "logical_bytes", "padded_bytes", "global_shape",
    "cuts", "computation", "is_root", "operands", "users", "called", "axes", "role", "op_name",
    "source", "metadata_from", "stack", "values",
    "allocation", "live_range", "path", "line",
]  # fmt: skip
NO_TIMES = {"cost": None, "measured": None}


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


def test_assignment_alone_has_values(compiled: Compiled) -> None:
    files = compiled("cpu")
    wanted = run("inspect", files.module, "--instruction", "while.5", "--format", "json").json
    files.values.unlink()
    files.live_range.unlink()
    found = run("inspect", files.module, "--instruction", "while.5", "--format", "json").json
    assert found["values"] == wanted["values"] != []
    assert found["allocation"] == wanted["allocation"]
    assert found["live_range"] is None


@pytest.mark.parametrize("name", ["one file", "tpu", "cpu", "gpu"])
def test_whole_dump_is_printed_without_selector(compiled: Compiled, name: str) -> None:
    files = compiled(name)
    result = run("inspect", files.assignment, "--format", "json")
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
    assert {**result.json["values"][0], **NO_TIMES} == {**one, **NO_TIMES}


def test_module_has_instructions_and_computations(compiled: Compiled) -> None:
    files = compiled("tpu")
    found = run("inspect", files.module, "--format", "json").json
    assert set(found) == {"kind", "file_kind", "path", "instructions", "computations"}
    assert (found["kind"], found["file_kind"]) == ("dump", "module")
    assert all(list(one) == INSTRUCTION for one in found["instructions"])
    assert all(
        list(one) == ["name", "is_entry", "root", "parameters", "instructions"]
        for one in found["computations"]
    )
    alone = found["instructions"][-1]["name"]
    one = run("inspect", files.module, "--instruction", alone, "--format", "json").json
    assert {**found["instructions"][-1], **NO_TIMES} == one
    names = [name for one in found["computations"] for name in one["instructions"]]
    assert names == [one["name"] for one in found["instructions"]]
    assert [one["is_entry"] for one in found["computations"]].count(True) == 1


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


def test_selected_instruction_and_computation_have_their_times(timed: Path) -> None:
    """The profile has two runs of 10 µs of ``dot`` and 30 µs of ``neg``."""
    options = ("--chip", "v5e", "--format", "json")
    negate = run("inspect", timed, "--instruction", "neg", *options).json
    cost = {key: negate["cost"][key] for key in ("flops", "bytes_accessed", "executions", "bound")}
    assert cost == {
        "flops": 65_536, "bytes_accessed": 524_288, "executions": 1, "bound": "memory",
    }  # fmt: skip
    assert negate["cost"]["least_seconds"] == pytest.approx(524_288 / 819e9)
    measured = {key: negate["measured"][key] for key in ("executions", "occurrences", "own_ps")}
    assert measured == {"executions": 2, "occurrences": 2, "own_ps": 60_000_000}
    assert run("inspect", timed, "--at", "6:4", *options).json == negate
    entry = run("inspect", timed, "--computation", "e", *options).json
    assert entry["measured"] == {"executions": 2, "own_ps": 80_000_000, "share": 1.0}
    assert entry["cost"]["flops"] == 2 * 256**3 + 2 * 65_536
