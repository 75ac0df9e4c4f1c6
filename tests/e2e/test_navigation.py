"""Jumps and references, from every file of a compile into its neighbours."""

from collections.abc import Callable

import pytest

from e2e.asking import declaration, definition, highlights, references, type_definition
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


@pytest.mark.parametrize("name", CASES)
async def test_the_entry_leads_to_the_allocation_and_back(
    neovim: Editor, compiled: Compiled, name: str
) -> None:
    files = compiled(name)
    _, mention, _, _ = CASES[name]
    entries = files.assignment if name == "one file" else files.values
    assigned = await definition(neovim.open(entries), mention)
    assert assigned is not None
    assert (assigned.file, assigned.selected) == (files.assignment.name, mention)
    assert assigned.line.startswith(f" value: {mention} (size=")
    file = neovim.open(files.assignment)
    assert await definition(file, assigned.line, mention) == Spot(entries.name, mention, mention)


async def test_definition_of_report_row_is_the_value_entry(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    values, ranges = neovim.open(files.values), neovim.open(files.live_range)
    entry = Spot(files.values.name, "<21 add.6 @0>", "<21 add.6 @0>")
    assert await definition(values, "  add.6", "add.6") == entry
    assert await definition(values, " from instruction: %tuple.12", "add.6") == entry
    assert await definition(ranges, "    20:add.6", "add.6") == entry
    assert await definition(ranges, "    add.6{}: 4 bytes", "add.6") == entry
    whole = Spot(files.values.name, "<24 tuple.12{} @0>", "<24 tuple.12{} @0>")
    assert await definition(values, "  tuple.12, operand 0", "tuple.12") == whole


async def test_definition_without_value_is_in_module_text(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    ranges = neovim.open(files.live_range)
    line = "    19:get-tuple-element.37"
    found = await definition(ranges, line, "get-tuple")
    assert found is not None
    assert (found.file, found.selected) == (files.module.name, "get-tuple-element.37")
    assert found.line.startswith("  %get-tuple-element.37 = ")
    flowing = await type_definition(ranges, line, "get-tuple")
    assert flowing is not None
    assert flowing.selected == "<39 wide.arg_tuple.0{0} (phi) @0>"
    for text in files.module.parent.glob("*optimizations*.txt"):
        if text.stem.endswith(("optimizations", "_buffer_assignment", "_codegen")):
            text.unlink()  # the text after buffer assignment is the same again
    found = await definition(ranges, line, "get-tuple")
    assert found == Spot(files.live_range.name, line, "get-tuple-element.37")


async def test_a_thunk_leads_to_its_instruction(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("gpu")
    found = await definition(neovim.open(files.thunks), "    008: kCustomKernel", "gemm")
    assert found is not None
    assert found.file == files.module.name
    assert found.line.strip().startswith("%gemm_fusion_dot = ")


@pytest.mark.parametrize("name", CASES)
async def test_references_are_what_xla_printed(
    any_editor: Editor, compiled: Compiled, name: str
) -> None:
    files = compiled(name)
    value, mention, row, use = CASES[name]
    file = any_editor.open(files.assignment)
    line = next(line for line in file.text.lines if line.startswith(f" value: {mention}"))
    found = await references(file, line, mention)
    assert {spot.selected for spot in found if spot.line.startswith((" value", "<"))} == {mention}
    rows = [spot.line.strip() for spot in found]
    assert row in rows
    assert use in rows
    assert len(set(found)) == len(found)
    mentions = await references(file, line, mention, with_declaration=False)
    declared = [spot for spot in found if spot not in mentions]
    assert declared + mentions == found
    headers = [spot for spot in found if spot.line.startswith((" value", "<"))]
    assert set(headers) <= set(declared)
    assert {spot.file for spot in set(declared) - set(headers)} <= {files.module.name}
    assert any(spot.line.startswith(f"    {value}") for spot in mentions)


async def test_references_are_the_same_from_everywhere(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("tpu")
    found = await references(neovim.open(files.values), "<23 fusion.9 @0>")
    assert {spot.file for spot in found} == {
        files.assignment.name, files.values.name, files.live_range.name, files.report.name,
        files.module.name,
    }  # fmt: skip
    ranges = neovim.open(files.live_range)
    assert await references(ranges, "    fusion.9{}:25-27", "fusion.9") == found
    assert await references(ranges, "    fusion.9{}: 262144", "fusion.9") == found


async def test_references_of_an_instruction_reach_the_module_text(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    found = await references(neovim.open(files.live_range), "    20:add.6", "add.6")
    lines = {(spot.file, spot.line.split(" = ")[0].strip()) for spot in found}
    assert (files.module.name, "%add.6") in lines
    assert (files.module.name, "ROOT %tuple.12") in lines
    assert (files.values.name, "add.6") in lines
    assert (files.live_range.name, "20:add.6") in lines


async def test_highlights_stay_in_the_file(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").live_range)
    assert await highlights(file, "    fusion.9{}:25-27", "fusion.9") == [
        ("    fusion.9{}:25-27", "read"),
        ("    fusion.9{}: 262144 bytes (cumulative: 524288 bytes)", "read"),
    ]
    entries = any_editor.open(compiled("tpu").values)
    assert await highlights(entries, "<23 fusion.9 @0>") == [
        ("<23 fusion.9 @0>", "write"),
        ("  fusion.9", "read"),
        ("  tuple.12 {1}", "read"),
        ("  tuple.12, operand 1", "read"),
    ]


async def test_labels_and_blank_lines_lead_nowhere(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("tpu").values)
    for go in (definition, declaration, type_definition):
        assert await go(file, "Used values") is None
        assert await go(file, "") is None
    assert await references(file, "Used values") == []
    assert await highlights(file, "Used values") == []
