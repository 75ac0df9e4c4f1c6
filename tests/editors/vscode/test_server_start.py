"""Tests for the choice of the server: the bundled one or the one in the setting."""

import sys
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.dump_rows import rows
from editors.vscode.host import Spot, hover, spot
from editors.vscode.marks import vscode
from editors.vscode.processes import command, is_served, server
from editors.vscode.pythons import old_python, plain_python
from editors.vscode.waiting import until
from editors.vscode.window import IDLE, Window

pytestmark = vscode(2)
MESSAGE = ".notifications-center .notification-list-item-message:visible"
NO_PYTHON = "The HLO language server requires Python 3.10 or newer, but none was found."
SCRIPT = Path("bundled", "tool", "hlo_lsp_main.py")


@pytest.fixture
def at(dump: Compile) -> Spot:
    return spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")


async def started(window: Window, at: Spot) -> list[str]:
    """Wait for a hover, and return the command line of the server."""
    assert "1,048,576 B (1.00 MiB): fits T(8,128)" in await until(lambda: hover(window.host, at))
    return command(await server(window))


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


async def test_selected_interpreter_runs_bundled_server_unless_setting_names_another(
    pythons: tuple[Path, Path], plain_window: Window, at: Spot, tmp_path: Path
) -> None:
    window = plain_window
    old_python(pythons[0])
    python = plain_python(tmp_path / "plain")
    values = {"python.otherInterpreterPath": str(python)}
    await window.host.configure(values, "Global")
    await window.open(at)
    await window.host.command("hlo.restartServer")
    toast = await window.notification(NO_PYTHON)
    buttons = toast.locator(".monaco-button")
    labels = [each.strip() for each in await buttons.all_inner_texts()]
    assert labels == ["Select Interpreter", "Open Settings", "Show Log"]
    assert await hover(window.host, at) == ""
    assert not is_served(window)
    await show_not_running(window)
    await window.page.mouse.move(*IDLE)  # the hover of the status item covers the button

    await buttons.get_by_text("Select Interpreter").click()
    await window.open(at)
    assert await started(window, at) == [str(python), await script(window), "--stdio"]
    before = await server(window)
    await window.host.configure({"hlo.server.path": sys.executable}, "Global")
    await server(window, but=before)
    assert await started(window, at) == [sys.executable, "-m", "hlo_lsp", "--stdio"]


async def test_wrong_setting_and_failing_server_are_reported_once_until_one_runs(
    pythons: tuple[Path, Path], plain_window: Window, at: Spot, tmp_path: Path
) -> None:
    window = plain_window
    plain_python(pythons[0])
    program = tmp_path / "hlo-lsp"
    await window.open(at)
    await window.host.configure({"hlo.server.path": str(program)}, "Global")
    await window.notification("names a program that does not exist")
    message = f"The setting hlo.server.path names a program that does not exist: {program}"
    assert (await window.texts(MESSAGE)).count(message) == 1
    assert not is_served(window)

    for command_title in ("HLO: Summary", "HLO: Memory Map"):
        await window.clear_notifications()
        await window.run(command_title)
        await window.notification("The HLO language server does not run.")
    assert [tab["file"] for tab in await window.host.ask("tabs")] == [str(at.path)]
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
