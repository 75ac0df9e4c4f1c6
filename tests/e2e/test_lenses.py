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
    assert titles[0].startswith("HBM: ")
    assert titles[1] == "1 value, 512 B"
    assert "2 values, 1.0 KiB, 2 share offset 0" in titles
    assert "1.0 KiB in HBM · steps 12-13 · tpu.py:79 concatenate" in titles
    assert found[-2:] == [
        ("  Live ranges at 9 (peak):", "declared by XLA: 60 B at step 9"),
        ("  Live ranges at 9 (peak):", "HBM: 2.5 KiB occupied, the maximum"),
    ]
    everything = any_editor.files[next(iter(any_editor.files))].text.lines
    heads = [line for line in everything if line.startswith("allocation ")]
    assert [line for line, _ in found if line.startswith("allocation ")] == heads


@pytest.mark.parametrize(
    ("name", "temp", "peak"),
    [
        (
            "tpu",
            "7 values, 16.5 KiB, 5 share offset 16,384",
            [
                "declared by XLA: 768.0 KiB at step 25",
                "HBM: 516.0 KiB occupied, 1.0 KiB more at step 14",
            ],
        ),
        (
            "cpu",
            "8 values, 256.0 KiB, 5 share offset 262,144",
            [
                "declared by XLA: 1.00 MiB at step 19",
                "main memory: 768.0 KiB occupied, the maximum",
            ],
        ),
        (
            "gpu",
            "9 values, 1.00 MiB, 5 share offset 1,048,576",
            [
                "declared by XLA: 512.0 KiB at step 22",
                "device memory: 512.1 KiB occupied, 1024.0 KiB more at step 20",
            ],
        ),
    ],
)
async def test_lenses_of_split_dumps_know_the_neighbours(
    neovim: Editor, compiled: Compiled, name: str, temp: str, peak: list[str]
) -> None:
    files = compiled(name)
    found = await lenses(neovim.open(files.assignment))
    temps = [title for line, title in found if "color" not in line and "preallocated" in line]
    assert temps == [temp]
    assert any(" · steps " in title for _, title in found)
    shown = await lenses(neovim.open(files.live_range))
    assert all(line.startswith("  Live ranges at ") for line, _ in shown)
    assert [title for _, title in shown] == peak


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
    assert entries["<23 fusion.9 @0>"] == (
        "256.0 KiB in HBM · steps 25-27 · programs.py:53 dot_general"
    )
    assert "<0 reduce_max.3 @0>" not in entries


async def test_files_without_allocations_or_values_have_a_summary_at_most(
    neovim: Editor, compiled: Compiled
) -> None:
    ((_, summary),) = await lenses(neovim.open(compiled("tpu").report))
    assert summary.startswith("HBM: ")
    assert await lenses(neovim.open(compiled("gpu").thunks)) == []


async def test_lenses_follow_edits(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("one file").assignment)
    file.substitute("    fusion.16{0}:2-9", "    fusion.16{0}:2-13")
    file.substitute("size 4608, color 1", "size 1048576, color 1")
    found = dict(await lenses(file))
    assert " · steps 2-13" in found["<166 fusion.16{0} @0>"]
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
    _, *titles = [lens.command and lens.command.title for lens in found or ()]
    assert titles == [title for _, title in resolved[1:]]  # the summary is resolved by all clients
