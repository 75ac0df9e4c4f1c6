"""Edits: what they do not touch stays alive, and in the end all is as if freshly opened."""

from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.asking import definition, hover, references, symbol_names
from e2e.compiles import Compile, copied
from e2e.editor import Editor, OpenFile
from e2e.everything import difference, everything

Compiled = Callable[[str], Compile]
Pair = Callable[[str], tuple[Compile, Compile]]


async def same_as_fresh(file: OpenFile, fresh: Compile) -> list[str]:
    """How the file differs from another one, opened now with its text and equal neighbours."""
    other = file.editor.open(fresh.folder / Path(file.uri).name, file.text.whole)
    assert other.uri != file.uri
    found = difference(await everything(file), await everything(other))
    other.close()
    return found


@pytest.fixture
def pair(compiled: Compiled, corpus_small: Path, tmp_path: Path) -> Pair:
    return lambda name: (compiled(name), copied(corpus_small, name, tmp_path / "fresh"))


async def alive(file: OpenFile) -> None:
    """Check features on lines that the test never edits."""
    assert "leaf {1} of `fusion.16`" in await hover(file, " value: <167", "fusion.16")
    assert "`add_add_fusion{1}`" in await hover(file, "    add_add_fusion{1}:9-12", "add")
    found = await definition(file, "    add_add_fusion{1}:9-12", "add")
    assert found is not None
    assert found.selected == "<173 add_add_fusion{1} @1>"
    mentions = await references(file, "<173 add_add_fusion{1} @1>")
    assert "    add_add_fusion{1}:9-12" in [spot.line for spot in mentions]
    assert {"167 fusion.16{1}", "173 add_add_fusion{1}"} <= set(await symbol_names(file))


async def test_a_broken_line_breaks_itself_only(neovim: Editor, pair: Pair) -> None:
    files, _ = pair("one file")
    file = neovim.open(files.assignment)
    before = await everything(file)
    damages = {
        " value: <166 fusion.16{0} @0>": " value: <166 fusion.16{0} @0",
        "<168 xor.4 @6>": "<168 xor.4 @6",
        "    7:xor.4": "    7 xor.4",
        "    xor.4{}:7-8": "    xor.4{}:7-",
        "    xor.5{}: 4 bytes": "    xor.5{}: 4 bites",
        "Total bytes used: 40448": "Total bytes used 40448",
        "  xor.4, operand 1": "  xor.4, opera",
        " from instruction: %xor.4": " from instructio %xor.4",
    }
    for whole, broken in damages.items():
        file.substitute(whole, broken)
        assert "syntax" in await file.codes(), broken
        await alive(file)
        file.substitute(broken, whole)
    assert difference(await everything(file), before) == []


async def test_breaking_the_first_line_leaves_the_rest_alive(neovim: Editor, pair: Pair) -> None:
    files, fresh = pair("one file")
    file = neovim.open(files.assignment)
    for first in ("BufferAssig", "xyz", "", "   ", "BufferAssignment"):
        file.edit(((0, 0), (0, len(file.text.lines[0])), first))
        await alive(file)
        assert await same_as_fresh(file, fresh) == []
    file.edit(((0, 0), (1, 0), ""))
    await alive(file)
    assert await same_as_fresh(file, fresh) == []


async def test_another_dump_pasted_over_and_undone(
    neovim: Editor, pair: Pair, compiled: Compiled
) -> None:
    files, fresh = pair("tpu")
    file = neovim.open(files.values)
    whole = file.text.whole
    before = await everything(file)
    for other in (compiled("cpu").values, compiled("gpu").assignment, compiled("cpu").module):
        last = len(file.text.lines) - 1
        file.edit(((0, 0), (last, len(file.text.lines[last])), other.read_text("utf-8")))
        assert await same_as_fresh(file, fresh) == []
    file.set(whole)
    assert difference(await everything(file), before) == []


async def test_many_edits_in_one_notification(any_editor: Editor, pair: Pair) -> None:
    files, fresh = pair("tpu")
    file = any_editor.open(files.live_range)
    row = file.text.line("      │   └── wide.region")
    file.edit(
        ((0, 0), (0, 0), "\n\n"),
        ((row + 2, 10), (row + 2, 14), "├─── 𝔸 "),  # columns behind boxes and astral signs
        ((row + 2, 20), (row + 2, 24), "ü"),
        ((0, 0), (2, 0), ""),
        ((row, 0), (row + 1, 0), ""),
    )
    assert await same_as_fresh(file, fresh) == []
