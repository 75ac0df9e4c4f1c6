"""Tests for companion files: open files with unsaved edits, the others with their text on disk."""

from collections.abc import Callable

from e2e.asking import definition, hover_facts, references
from e2e.compiles import Compile
from e2e.editor import Editor

Compiled = Callable[[str], Compile]
ROW = "    fusion.9{}:25-27"


async def test_companion_files_use_unsaved_edits(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("tpu")
    ranges, values = neovim.open(files.live_range), neovim.open(files.values)
    assert (await hover_facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"
    line = values.text.line("  tuple.12, operand 1")
    values.edit(((line, 0), (line, 0), "  typed.1, operand 7\n"))
    assert (await hover_facts(ranges, ROW, "fusion.9"))["uses"] == "2: typed.1, tuple.12"
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
    assert (await hover_facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"
    text = files.values.read_text("utf-8")
    files.values.write_text(text.replace("tuple.12, operand 1", "rewritten, operand 1"), "utf-8")
    assert (await hover_facts(ranges, ROW, "fusion.9"))["uses"] == "1: rewritten"
    files.values.unlink()
    assert "uses" not in await hover_facts(ranges, ROW, "fusion.9")
    files.values.write_text(text, "utf-8")
    assert (await hover_facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"


async def test_unreadable_companion_files_are_ignored(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("tpu")
    files.values.unlink()
    files.values.mkdir()
    files.report.write_bytes(b"\0\xff\xfe" * 1000)
    files.module.write_text("", "utf-8")
    ranges = neovim.open(files.live_range)
    facts = await hover_facts(ranges, ROW, "fusion.9")
    assert facts["allocation"].startswith("5, maybe-live-out")
    assert "op_name" not in facts
