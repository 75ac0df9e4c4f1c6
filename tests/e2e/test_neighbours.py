"""Files of one compile are one thing: open ones as they are edited, the others as on disk."""

import os
from collections.abc import Callable

from e2e.asking import card, definition, facts, hover, references
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


async def test_edits_here_are_seen_from_there(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("cpu")
    ranges, assignment = neovim.open(files.live_range), neovim.open(files.assignment)
    told = await facts(assignment, " value: <29 ynn_fusion", "ynn")
    assert told["live range"].startswith("17-19 (2 steps)")
    ranges.substitute("ynn_fusion{}:17-19", "ynn_fusion{}:17-25")
    told = await facts(assignment, " value: <29 ynn_fusion", "ynn")
    assert told["live range"].startswith("17-25 (8 steps)")


async def test_closing_without_saving_lets_the_disk_count_again(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    ranges, values = neovim.open(files.live_range), neovim.open(files.values)
    values.set(values.text.whole.replace("tuple.12, operand 1", "changed, operand 1"))
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "1: changed"
    values.close()
    assert (await facts(ranges, ROW, "fusion.9"))["uses"] == "1: tuple.12"
    spot = await definition(ranges, ROW, "fusion.9")
    assert spot is not None
    assert spot.line == "<23 fusion.9 @0>"


async def test_a_neighbour_emptied_in_the_editor_is_empty(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    ranges, values = neovim.open(files.live_range), neovim.open(files.values)
    values.set("")
    assert "uses" not in await facts(ranges, ROW, "fusion.9")
    spot = await definition(ranges, ROW, "fusion.9")
    assert spot is not None
    assert spot.file == files.assignment.name


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


async def test_the_same_names_in_another_folder_are_strangers(
    neovim: Editor, compiled: Compiled
) -> None:
    tpu, cpu = compiled("tpu"), compiled("cpu")
    other = neovim.open(cpu.folder / tpu.live_range.name, tpu.live_range.read_text("utf-8"))
    assert (await facts(other, ROW, "fusion.9"))["title"] == "fusion.9"
    assert "allocation" not in await facts(other, ROW, "fusion.9")


async def test_folder_name_may_have_spaces_and_symbols(
    any_editor: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    folder = files.folder.with_name("a b#c%20d [é]")
    os.rename(files.folder, folder)
    ranges = any_editor.open(folder / files.live_range.name)
    spot = await definition(ranges, ROW, "fusion.9")
    assert spot is not None
    assert spot.selected == "<23 fusion.9 @0>"
    assert await hover(ranges, ROW, "fusion.9")


async def test_unsaved_file_has_no_companion_files(neovim: Editor, compiled: Compiled) -> None:
    text = compiled("one file").assignment.read_text("utf-8")
    for uri in ("untitled:Untitled-1", "file:///nowhere/dump.txt", "vscode-vfs://h/dump.txt"):
        file = neovim.open(uri, text)
        assert (await facts(file, "<166 "))["title"] == "fusion.16{0}"
        assert await file.codes() == []
        assert await card(file, file.text.at("    fusion.16{0}:2-9")) is not None
