"""Compiles of an edited text in VS Code, with a stand-in of the compiler."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from compiling.stand_in import copy_of, stand_in_python, write_dump
from editors.vscode.host import spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
LENSES = ".codelens-decoration a"


async def test_edited_text_is_compiled_and_compared(
    folder: Path, window: Window, tmp_path: Path
) -> None:
    dump = write_dump(folder / "dump")
    larger = copy_of(dump, tmp_path / "larger", "f32[512]", "f32[1024]")
    await window.host.configure({"hlo.compile.python": str(stand_in_python(tmp_path, larger))})
    text = next(dump.glob("*.before_optimizations.txt"))
    await window.open(spot(text, "^add(x, y)"))
    await window.page.keyboard.press("Delete")
    lens = window.page.locator(LENSES).get_by_text("compile", exact=True)
    await lens.click()
    label = "jit_f → compiled (before ↔ after)"
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: {label, "Preview jit_f → compiled.md"} <= {tab["label"] for tab in tabs},
    )
    assert "ROOT r = f32[256]{0} dd(x, y)" in (tmp_path / "requests").read_text("utf-8")

    await window.open(text)
    found = window.page.locator(LENSES).get_by_text("compiled: allocated ")
    await found.wait_for()

    # The rows of a list are clicked: pressing Enter can be too early.
    compiling = asyncio.create_task(window.host.command("hlo.compileWith"))
    row = window.page.locator(".quick-input-list .monaco-list-row")
    await row.filter(has_text="Another option of the compiler").click()
    await row.filter(has_text="xla_tpu_limit").click()
    box = window.page.locator(".quick-input-widget input.input")
    await until(box.input_value, lambda value: value == "5")
    await box.fill("7")
    await window.accept()
    await compiling
    assert '"options": {"xla_tpu_limit": "7"}' in (tmp_path / "requests").read_text("utf-8")


async def test_compile_can_be_cancelled(folder: Path, window: Window, tmp_path: Path) -> None:
    started = tmp_path / "started"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] || {{ echo $$ >"{started}"; exec sleep 60; }}\n')
    python.chmod(0o755)
    await window.host.configure({"hlo.compile.python": str(python)})
    text = next(write_dump(folder / "dump").glob("*.before_optimizations.txt"))
    await window.open(text)
    compiling = asyncio.create_task(window.host.command("hlo.compile"))
    notification = await window.notification("Compiling module_0001.jit_f.cl_12.before_optim")
    await until(_content(started), bool)
    await notification.get_by_role("button", name="Cancel").click()
    await compiling
    await until(
        _content(Path("/proc", started.read_text("utf-8").strip())), lambda found: not found
    )
    await window.no_notification()


def _content(path: Path) -> Callable[[], Awaitable[bool]]:
    async def found() -> bool:
        return path.is_dir() or (path.exists() and path.stat().st_size > 0)

    return found
