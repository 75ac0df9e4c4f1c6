"""Tests for the exact texts of code lenses in real dumps."""

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.asking import code_lens_titles
from e2e.compiles import Compile
from e2e.editor import Editor, editor

Compiled = Callable[[str], Compile]


async def test_one_file_dump_has_expected_lenses(any_editor: Editor, compiled: Compiled) -> None:
    found = await code_lens_titles(any_editor.open(compiled("one file").assignment))
    titles = [title for _, title in found]
    assert titles[0].startswith("HBM: ")
    assert "1 value, 512 B" not in titles
    assert "2 values, 4.5 KiB, 2 at the peak" in titles
    assert not [title for title in titles if "share offset" in title]
    assert any(
        title.startswith("1.0 KiB in HBM · whole program, written at step 12 · tpu.py:79")
        for title in titles
    )
    assert found[-2:] == [
        ("  Live ranges at 9 (peak):", "declared by XLA: 60 B at step 9"),
        ("  Live ranges at 9 (peak):", "HBM: 2.5 KiB occupied, the maximum"),
    ]


async def test_lens_texts_are_sent_at_once_if_configured(
    neovim: Editor, tmp_path: Path, compiled: Compiled
) -> None:
    path = compiled("one file").assignment
    resolved = await code_lens_titles(neovim.open(path))
    options = {"lensTexts": "at once"}
    async with editor("neovim@v0.11", tmp_path / "log", options) as eager:
        params = types.CodeLensParams(eager.open(path).document)
        found = await eager.reply(eager.client.text_document_code_lens_async(params))
    _, *titles = [lens.command and lens.command.title for lens in found or ()]
    assert titles == [
        title for _, title in resolved[1:]
    ]  # The first lens is always resolved later.
