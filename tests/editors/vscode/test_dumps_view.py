"""Tests for the view *HLO Dumps*."""

from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.vscode.conftest import copied
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.dump_rows import ROW, choose, expand, rows
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE


async def test_compile_shows_files_and_buffers(dump: Compile, window: Window) -> None:
    await window.host.command("hlo.dumps.focus")
    await until(lambda: rows(window), lambda shown: shown[:1] == ["jit_mlp_trainHBM peak 1.61 MiB"])
    await expand(window, "jit_mlp_train")
    await expand(window, "largest buffers")
    await until(
        lambda: rows(window),
        lambda shown: (
            {"buffer assignment", "after optimizations"} <= set(shown)
            and any("1.00 MiB · f32[" in row for row in shown)
        ),
    )
    await window.page.locator(ROW, has_text="buffer assignment").first.click()
    await until(window.front, lambda front: front[0] == dump.path(ASSIGNMENT))


@pytest.mark.parametrize("title", ["Memory Summary", "Memory Map"])
async def test_menu_opens_view_of_compile(title: str, dump: Compile, window: Window) -> None:
    assert dump.path(ASSIGNMENT).is_file()
    await window.host.command("hlo.dumps.focus")
    await choose(window, "jit_mlp_train", title)
    shown = (
        "Preview Memory Summary.md" if title == "Memory Summary" else "Memory Map: jit_mlp_train"
    )
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: shown in {tab["label"] for tab in tabs},
    )


async def test_view_follows_files(folder: Path, compile_v5e: Compile, window: Window) -> None:
    await window.host.command("hlo.dumps.focus")
    welcome = window.page.locator(".welcome-view-content:visible")
    await until(welcome.all_inner_texts, lambda texts: "xla_dump_to" in "".join(texts))
    copied(compile_v5e, folder)
    await until(lambda: rows(window), lambda shown: any("jit_mlp_train" in row for row in shown))
