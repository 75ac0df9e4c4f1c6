"""Tests for hovers in memory files."""

from collections.abc import Callable

from e2e.asking import hover_facts, hover_text, request_hover
from e2e.compiles import Compile
from e2e.editor import Editor

Compiled = Callable[[str], Compile]


async def test_hover_of_value_has_all_facts(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").assignment)
    facts = await hover_facts(file, " value: <23 fusion.9", "fusion.9")
    assert facts["title"] == "fusion.9"
    assert facts["headline"] == (
        "256.0 KiB in HBM · whole program, for data of steps 25-27 · programs.py:53 dot_general"
    )
    assert facts["value"].startswith("23")
    assert "f32[256,256]{1,0:T(8,128)}" in facts["shape"]
    for word in ("float", "256 x 256", "row-major", "tiles (8,128)"):
        assert word in facts["shape"]
    assert facts["padded size"].startswith("262,144 B (256.0 KiB)")
    assert not facts.keys() & {"padding", "logical size"}
    assert facts["memory space"].startswith("0, HBM on TPU")
    assert facts["allocation"].startswith("5, maybe-live-out, 262,144 B (256.0 KiB)")
    assert facts["allocation"].endswith("bytes 0 to 262,144")
    assert "copy.9 4-7" in facts["shares memory with"]
    assert facts["live range"].startswith("25-27 (2 steps): fusion.9 -> while; its bytes are ")
    assert facts["uses"] == "1: tuple.12"
    assert facts["op_name"] == "jit(while_fn)/while/body/dot_general"
    assert facts["source"].startswith("/home/user/models/programs.py:53 in whileloop.<locals>.")


async def test_every_mention_of_value_has_same_hover(
    any_editor: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    assignment, values, ranges = map(
        any_editor.open, (files.assignment, files.values, files.live_range)
    )
    whole = await hover_text(assignment, " value: <23 fusion.9", "fusion.9")
    assert whole
    assert await hover_text(values, "<23 fusion.9", "fusion.9") == whole
    assert await hover_text(ranges, "    fusion.9{}:25-27", "fusion.9") == whole
    assert await hover_text(ranges, "    fusion.9{}: 262144", "fusion.9") == whole


async def test_reports_and_thunks_have_hovers(neovim: Editor, compiled: Compiled) -> None:
    report = neovim.open(compiled("tpu").report)
    assert (await hover_facts(report, "Memory Space: vmem"))["title"] == "memory space 1: VMEM"
    assert (await hover_facts(report, "  cumulative_size"))["title"] == "report table"
    thunks = neovim.open(compiled("gpu").thunks)
    facts = await hover_facts(thunks, "    008: kCustomKernel", "gemm_fusion_dot")
    assert facts["instruction"] == "gemm_fusion_dot"
    assert "allocation" in facts


async def test_columns_are_correct_after_non_ascii_character(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("tpu").report)
    line = next(line for line in file.text.lines if line.endswith("5×f32[256,256]"))
    found = await request_hover(file, file.text.at(line, "f32["))
    assert found is not None
    assert found.range is not None
    assert file.text.spot("", found.range).selected == "f32[256,256]"
