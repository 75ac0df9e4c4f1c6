"""Files of one compile are one thing: open ones as they are edited, the others as on disk."""

from collections.abc import Callable

from e2e.asking import definition, facts, references
from e2e.compiles import Compile
from e2e.editor import Editor

Compiled = Callable[[str], Compile]
ROW = "    fusion.9{}:25-27"


async def test_unsaved_edits_are_what_the_others_see(
    any_editor: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    ranges, values = any_editor.open(files.live_range), any_editor.open(files.values)
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"
    line = values.text.line("  tuple.12, operand 1")
    values.edit(((line, 0), (line, 0), "  typed.1, operand 7\n"))
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "2: typed.1, tuple.12"
    found = await references(ranges, ROW, "fusion.9")
    assert "  typed.1, operand 7" in [spot.line for spot in found]
    values.edit(((0, 0), (0, 0), "\n\n\n"))
    found_entry = await definition(ranges, ROW, "fusion.9")
    assert found_entry is not None
    assert found_entry.selected == "<23 fusion.9 @0>"


async def test_companion_file_rewritten_on_disk_is_read_again(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    ranges = neovim.open(files.live_range)
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"
    text = files.values.read_text("utf-8")
    files.values.write_text(text.replace("tuple.12, operand 1", "rewritten, operand 1"), "utf-8")
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "1: rewritten"
    files.values.unlink()
    assert "uses" not in await facts(ranges, ROW, "fusion.9")
    files.values.write_text(text, "utf-8")
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"


async def test_neighbours_that_cannot_be_read_are_passed_over(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    files.values.unlink()
    files.values.mkdir()
    files.report.write_bytes(b"\0\xff\xfe" * 1000)
    files.module.write_text("", "utf-8")
    ranges = neovim.open(files.live_range)
    told = await facts(ranges, ROW, "fusion.9")
    assert told["allocation"].startswith("5, maybe-live-out")
    assert "op_name" not in told
