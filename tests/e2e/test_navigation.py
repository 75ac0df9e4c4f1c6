"""Tests for navigation between the companion files of a compile."""

from collections.abc import Callable

import pytest

from e2e.asking import declaration, definition, references, type_definition
from e2e.compiles import Compile
from e2e.editor import Editor
from e2e.text import Spot

Compiled = Callable[[str], Compile]
# By compile: a value, its mention in the allocation, its live range, and a use of it.
CASES = {
    "one file": (
        "fusion.16{0}", "<166 fusion.16{0} @0>", "fusion.16{0}:2-9", "xor.4, operand 1"
    ),
    "tpu": ("fusion.9", "<23 fusion.9 @0>", "fusion.9{}:25-27", "tuple.12, operand 1"),
    "cpu": (
        "ynn_fusion", "<29 ynn_fusion @0>", "ynn_fusion{}:17-19",
        "multiply_add_fusion, operand 1",
    ),
    "gpu": (
        "gemm_fusion_dot", "<38 gemm_fusion_dot @0>", "gemm_fusion_dot{}:20-21",
        "loop_add_fusion, operand 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_definition_of_live_range_is_the_value_entry(
    any_editor: Editor, compiled: Compiled, name: str
) -> None:
    files = compiled(name)
    _, mention, row, _ = CASES[name]
    path, entry = files.assignment, files.assignment
    if name != "one file":
        path, entry = files.live_range, files.values
    file = any_editor.open(path)
    assert await definition(file, f"    {row}", row) == Spot(entry.name, mention, mention)
    declared = await declaration(file, f"    {row}", row)
    assert declared is not None
    assert declared.file == files.assignment.name
    assert declared.line.startswith("allocation ")
    assert await type_definition(file, f"    {row}", row) == Spot(entry.name, mention, mention)


async def test_definition_of_thunk_is_its_instruction(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("gpu")
    found = await definition(neovim.open(files.thunks), "    008: kCustomKernel", "gemm")
    assert found is not None
    assert found.file == files.module.name
    assert found.line.strip().startswith("%gemm_fusion_dot = ")


async def test_references_are_the_same_in_every_file(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("tpu")
    found = await references(neovim.open(files.values), "<23 fusion.9 @0>")
    assert {spot.file for spot in found} == {
        files.assignment.name, files.values.name, files.live_range.name, files.report.name,
        files.module.name,
    }  # fmt: skip
    ranges = neovim.open(files.live_range)
    assert await references(ranges, "    fusion.9{}:25-27", "fusion.9") == found
    assert await references(ranges, "    fusion.9{}: 262144", "fusion.9") == found
