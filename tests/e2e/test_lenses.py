"""Code lenses of real dumps, word for word."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from e2e.asking import lenses
from e2e.compiles import Compile
from e2e.editor import Editor, editor

Compiled = Callable[[str], Compile]


async def test_every_lens_of_a_one_file_dump(any_editor: Editor, compiled: Compiled) -> None:
    found = await lenses(any_editor.open(compiled("one file").assignment))
    titles = [title for _, title in found]
    assert titles[:5] == [
        "1 value, 512 B",
        "live 0-8 (8 steps): constant.15 -> xor.5",
        "2 values, 1.0 KiB, 2 share offset 0",
        "live 2-9 (7 steps): fusion.16 -> add_add_fusion | at the peak",
        "live 12-13 (1 step): pad_add_fusion -> the end of the program",
    ]
    assert found[-1] == (
        "  Live ranges at 9 (peak):",
        "declared by XLA: 60 B at step 9 | HBM: 2.5 KiB occupied, the maximum",
    )
    lines = [line for line, _ in found]
    heads = ("allocation ", " value: <", "<", "  Live ranges at", "Total bytes used")
    everything = any_editor.files[next(iter(any_editor.files))].text.lines
    assert lines == [line for line in everything if line.startswith(heads)]


@pytest.mark.parametrize(
    ("name", "temp", "peak"),
    [
        (
            "tpu",
            "7 values, 16.5 KiB, 5 share offset 16,384",
            "declared by XLA: 768.0 KiB at step 25 | HBM: 516.0 KiB occupied, "
            "1.0 KiB more at step 14",
        ),
        (
            "cpu",
            "8 values, 256.0 KiB, 5 share offset 262,144",
            "declared by XLA: 1.00 MiB at step 19 | main memory: 768.0 KiB occupied, the maximum",
        ),
        (
            "gpu",
            "9 values, 1.00 MiB, 5 share offset 1,048,576",
            "declared by XLA: 512.0 KiB at step 22 | device memory: 512.1 KiB occupied, "
            "1024.0 KiB more at step 20",
        ),
    ],
)
async def test_lenses_of_split_dumps_know_the_neighbours(
    neovim: Editor, compiled: Compiled, name: str, temp: str, peak: str
) -> None:
    files = compiled(name)
    found = await lenses(neovim.open(files.assignment))
    temps = [title for line, title in found if "color" not in line and "preallocated" in line]
    assert temps == [temp]
    assert any(title.startswith("live ") for _, title in found)
    ((line, title),) = await lenses(neovim.open(files.live_range))
    assert line.startswith("  Live ranges at ")
    assert title == peak


async def test_lenses_of_values_are_those_of_the_allocation(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    assigned = dict(await lenses(neovim.open(files.assignment)))
    entries = dict(await lenses(neovim.open(files.values)))
    titles = {line.split(" (size")[0].removeprefix(" value: "): t for line, t in assigned.items()}
    (total,) = [entries.pop(line) for line in list(entries) if line.startswith("Total")]
    assert total.startswith("HBM ")
    assert entries == {line: titles[line] for line in entries}
    assert entries["<23 fusion.9 @0>"] == "live 25-27 (2 steps): fusion.9 -> while | at the peak"
    assert entries["<0 reduce_max.3 @0>"] == "thread-local, not scheduled"


async def test_files_without_allocations_or_values_have_no_lenses(
    neovim: Editor, compiled: Compiled
) -> None:
    assert await lenses(neovim.open(compiled("tpu").report)) == []
    assert await lenses(neovim.open(compiled("gpu").thunks)) == []


async def test_lenses_follow_edits(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("one file").assignment)
    file.substitute("    fusion.16{0}:2-9", "    fusion.16{0}:2-13")
    file.substitute("size 4608, color 1", "size 1048576, color 1")
    found = dict(await lenses(file))
    assert found["<166 fusion.16{0} @0>"] == (
        "live 2-13 (11 steps): fusion.16 -> the end of the program | at the peak"
    )
    assert found["allocation 3: size 1048576, color 1, preallocated-temp:"] == "2 values, 1.00 MiB"


async def test_a_client_may_have_all_texts_at_once(
    neovim: Editor, tmp_path: Path, compiled: Compiled
) -> None:
    path = compiled("one file").assignment
    resolved = await lenses(neovim.open(path))
    options = {"lensTexts": "at once"}
    async with editor("neovim@v0.11", tmp_path / "log", options) as eager:
        params = types.CodeLensParams(eager.open(path).document)
        found = await eager.reply(eager.client.text_document_code_lens_async(params))
    assert [lens.command and lens.command.title for lens in found or ()] == [
        title for _, title in resolved
    ]
