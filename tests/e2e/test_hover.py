"""Everything of the four memory files says what it is."""

from collections.abc import Callable

from e2e.asking import card, facts, hover
from e2e.compiles import Compile
from e2e.editor import Editor

Compiled = Callable[[str], Compile]


async def test_value_has_all_its_facts(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").assignment)
    told = await facts(file, " value: <23 fusion.9", "fusion.9")
    assert told["title"] == "fusion.9"
    assert told["headline"] == "256.0 KiB in HBM · steps 25-27 · programs.py:53 dot_general"
    assert told["value"].startswith("23")
    assert "f32[256,256]{1,0:T(8,128)}" in told["shape"]
    for word in ("float", "256 x 256", "row-major", "tiles (8,128)"):
        assert word in told["shape"]
    assert told["padded size"].startswith("262,144 B (256.0 KiB)")
    assert not told.keys() & {"padding", "logical size"}
    assert told["memory space"].startswith("0, HBM on TPU")
    assert told["allocation"].startswith("5, maybe-live-out, 262,144 B (256.0 KiB)")
    assert told["allocation"].endswith("bytes 0 to 262,144")
    assert "copy.9 4-7" in told["shares memory with"]
    assert told["live range"].startswith("25-27 (2 steps): fusion.9 -> while, at XLA's peak")
    assert told["uses"] == "1: tuple.12"
    assert told["op_name"] == "jit(while_fn)/while/body/dot_general"
    assert told["source"].startswith("/home/user/models/programs.py:53 in whileloop.<locals>.")


async def test_every_mention_of_a_value_has_its_card(
    any_editor: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    assignment, values, ranges = map(
        any_editor.open, (files.assignment, files.values, files.live_range)
    )
    whole = await hover(assignment, " value: <23 fusion.9", "fusion.9")
    assert whole
    assert await hover(values, "<23 fusion.9", "fusion.9") == whole
    assert await hover(ranges, "    fusion.9{}:25-27", "fusion.9") == whole
    assert await hover(ranges, "    fusion.9{}: 262144", "fusion.9") == whole


async def test_reports_and_thunks_are_explained(neovim: Editor, compiled: Compiled) -> None:
    report = neovim.open(compiled("tpu").report)
    assert (await facts(report, "Memory Space: vmem"))["title"] == "memory space 1: VMEM"
    assert (await facts(report, "  cumulative_size"))["title"] == "report table"
    thunks = neovim.open(compiled("gpu").thunks)
    told = await facts(thunks, "    008: kCustomKernel", "gemm_fusion_dot")
    assert told["instruction"] == "gemm_fusion_dot"
    assert "allocation" in told


async def test_columns_behind_a_sign_outside_ascii_are_right(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("tpu").report)
    line = next(line for line in file.text.lines if line.endswith("5×f32[256,256]"))
    found = await card(file, file.text.at(line, "f32["))
    assert found is not None
    assert found.range is not None
    assert file.text.spot("", found.range).selected == "f32[256,256]"
