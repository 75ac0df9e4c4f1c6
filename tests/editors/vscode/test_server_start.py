"""Tests for the choice of the server: the bundled one or the one in the setting."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.vscode.conftest import Show
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.dump_rows import rows
from editors.vscode.host import Spot, hover, spot
from editors.vscode.marks import vscode
from editors.vscode.processes import command, is_served, server
from editors.vscode.pythons import old_python, plain_python
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(2)
TOAST = ".notifications-toasts .notification-list-item"
MESSAGE = ".notifications-center .notification-list-item-message:visible"
NO_PYTHON = "The HLO language server requires Python 3.10 or newer, but none was found."
SCRIPT = Path("bundled", "tool", "hlo_lsp_main.py")


@pytest.fixture
def at(dump: Compile) -> Spot:
    return spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")


@pytest.fixture
def pythons(plain_server: CodeServer) -> Iterator[tuple[Path, Path]]:
    """Return the folders of the first and second Python on PATH; neither has one yet."""
    first, second = (Path(each).parent for each in plain_server.path.split(os.pathsep))
    yield first, second
    for folder in (first, second):
        shutil.rmtree(folder, ignore_errors=True)


async def started(window: Window, at: Spot, but: int | None = None) -> list[str]:
    """Wait for a hover, and return the command line of the server."""
    assert "1,048,576 B (1.00 MiB): fits T(8,128)" in await until(lambda: hover(window.host, at))
    return command(await server(window, but))


async def script(window: Window) -> str:
    """Return the script of the installed extension that runs the bundled server."""
    extension = await window.host.ask("extension", "hlo-lsp.hlo-lsp")
    return str(Path(extension["path"]) / SCRIPT)


async def show_not_running(window: Window) -> None:
    """Wait until the language status item shows that no server runs."""
    await window.page.locator("[id='status.languageStatus']").hover()
    await until(
        window.shown(".hover-language-status"),
        lambda texts: any("hlo-lsp is not running" in each for each in texts),
    )


async def test_bundled_server_starts_on_first_supported_python(
    plain_server: CodeServer, pythons: tuple[Path, Path], show: Show, at: Spot
) -> None:
    first, second = pythons
    old_python(first)
    python = plain_python(second).with_name("python")
    python.with_name("python3").unlink()
    plain_server.configure({})
    window = await show(plain_server, at.path.parent)
    await window.open(at)
    assert await started(window, at) == [str(python), await script(window), "--stdio"]
    assert not await window.texts(TOAST)


async def test_selected_interpreter_runs_bundled_server_unless_setting_names_another(
    plain_server: CodeServer, pythons: tuple[Path, Path], show: Show, at: Spot, tmp_path: Path
) -> None:
    plain_python(pythons[0])
    first, second = (plain_python(tmp_path / name) for name in ("first", "second"))
    plain_server.configure(
        {
            "python.defaultInterpreterPath": str(first),
            "python.otherInterpreterPath": str(second),
        }
    )
    window = await show(plain_server, at.path.parent)
    await window.open(at)
    assert await started(window, at) == [str(first), await script(window), "--stdio"]

    before = await server(window)
    await window.host.command("python.setInterpreter")
    after = await server(window, but=before)
    assert (await started(window, at))[0] == str(second)

    await window.host.configure({"hlo.server.path": sys.executable}, "Global")
    await server(window, but=after)
    assert await started(window, at) == [sys.executable, "-m", "hlo_lsp", "--stdio"]


async def test_missing_python_is_reported_until_one_is_selected(
    plain_server: CodeServer, pythons: tuple[Path, Path], show: Show, at: Spot, tmp_path: Path
) -> None:
    old_python(pythons[0])
    python = str(plain_python(tmp_path / "plain"))
    plain_server.configure({"python.otherInterpreterPath": python})
    window = await show(plain_server, at.path.parent)
    await window.open(at)
    toast = await window.notification(NO_PYTHON)
    buttons = toast.locator(".monaco-button")
    labels = [each.strip() for each in await buttons.all_inner_texts()]
    assert labels == ["Select Interpreter", "Open Settings", "Show Log"]
    assert await hover(window.host, at) == ""
    assert not is_served(window)
    await show_not_running(window)
    await buttons.get_by_text("Open Settings").click()
    await window.page.locator(".settings-editor [data-key='hlo.server.path']").first.wait_for()

    # The button closes the notification, and the next start shows it again.
    await window.host.command("hlo.restartServer")
    toast = await window.notification(NO_PYTHON)
    await toast.locator(".monaco-button", has_text="Select Interpreter").click()
    await window.open(at)
    assert await started(window, at) == [python, await script(window), "--stdio"]


async def test_wrong_setting_and_failing_server_are_reported_once_until_one_runs(
    plain_server: CodeServer, pythons: tuple[Path, Path], show: Show, at: Spot, tmp_path: Path
) -> None:
    plain_python(pythons[0])
    program = tmp_path / "hlo-lsp"
    plain_server.configure({"hlo.server.path": str(program)})
    window = await show(plain_server, at.path.parent)
    await window.open(at)
    await window.notification("names a program that does not exist")
    message = f"The setting hlo.server.path names a program that does not exist: {program}"
    assert await window.texts(MESSAGE) == [message]
    assert not is_served(window)

    for command_title in ("HLO: Memory Summary", "HLO: Memory Map"):
        await window.clear_notifications()
        await window.run(command_title)
        await window.notification("The HLO language server does not run.")
    assert [tab["label"] for tab in await window.host.ask("tabs")] == [at.path.name]
    await window.host.command("hlo.dumps.focus")
    welcome = window.page.locator(".welcome-view-content")
    await welcome.get_by_text("The HLO language server does not run").wait_for()

    program.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    program.chmod(0o755)
    await window.clear_notifications()
    await window.run("HLO: Restart Server")
    await window.notification("couldn't create connection to server")
    await show_not_running(window)
    message = "HLO client: couldn't create connection to server."
    await until(lambda: window.texts(MESSAGE), [message].__eq__)
    assert not is_served(window)

    await window.host.configure({"hlo.server.path": ""}, "Global")
    await until(lambda: rows(window), lambda shown: any("jit_mlp_train" in row for row in shown))
