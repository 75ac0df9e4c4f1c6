"""Tests for the choice of the server: the bundled one or the one in the setting."""

import os
import sys
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.vscode.conftest import Serve, Show
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import Spot, hover, spot
from editors.vscode.marks import VSCODE
from editors.vscode.processes import command, is_served, server
from editors.vscode.pythons import old_python, plain_python
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
TOAST = ".notifications-toasts .notification-list-item"
MESSAGE = f"{TOAST}-message"
NO_PYTHON = "The HLO language server requires Python 3.10 or newer, but none was found."
SCRIPT = Path("bundled", "tool", "hlo_lsp_main.py")


@pytest.fixture
def at(dump: Compile) -> Spot:
    return spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")


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


async def test_bundled_server_starts_on_plain_python(
    serve: Serve, show: Show, at: Spot, tmp_path: Path
) -> None:
    python = plain_python(tmp_path / "plain")
    path = os.pathsep.join((str(python.parent), "/usr/bin", "/bin"))
    window = await show(await serve(path, {}), at.path.parent)
    await window.open(at)
    assert await started(window, at) == [str(python), await script(window), "--stdio"]
    assert not await window.texts(TOAST)


async def test_old_python_on_path_is_skipped(
    serve: Serve, show: Show, at: Spot, tmp_path: Path
) -> None:
    python = plain_python(tmp_path / "plain").with_name("python")
    python.with_name("python3").unlink()
    path = os.pathsep.join((str(old_python(tmp_path / "old").parent), str(python.parent)))
    window = await show(await serve(path, {}), at.path.parent)
    await window.open(at)
    assert await started(window, at) == [str(python), await script(window), "--stdio"]


async def test_selected_interpreter_runs_bundled_server(
    serve: Serve, show: Show, at: Spot, tmp_path: Path, python_extension: Path
) -> None:
    first, second = (plain_python(tmp_path / name) for name in ("first", "second"))
    settings = {
        "python.defaultInterpreterPath": str(first),
        "python.otherInterpreterPath": str(second),
    }
    path = str(plain_python(tmp_path / "third").parent)
    window = await show(await serve(path, settings, [python_extension]), at.path.parent)
    await window.open(at)
    assert await started(window, at) == [str(first), await script(window), "--stdio"]

    before = await server(window)
    await window.host.command("python.setInterpreter")
    await server(window, but=before)
    assert (await started(window, at))[0] == str(second)


async def test_setting_wins_over_selected_interpreter(
    serve: Serve, show: Show, at: Spot, tmp_path: Path, python_extension: Path
) -> None:
    settings = {
        "hlo.server.path": sys.executable,
        "python.defaultInterpreterPath": str(plain_python(tmp_path / "plain")),
    }
    window = await show(await serve("/nowhere", settings, [python_extension]), at.path.parent)
    await window.open(at)
    assert await started(window, at) == [sys.executable, "-m", "hlo_lsp", "--stdio"]


async def test_missing_python_is_reported_until_setting_names_one(
    serve: Serve, show: Show, at: Spot, tmp_path: Path
) -> None:
    path = str(old_python(tmp_path / "old").parent)
    window = await show(await serve(path, {}), at.path.parent)
    await window.open(at)
    assert await until(window.shown(MESSAGE)) == [NO_PYTHON]
    buttons = await window.texts(f"{TOAST} .monaco-button")
    assert [each.strip() for each in buttons] == ["Select Interpreter", "Open Settings", "Show Log"]
    assert await hover(window.host, at) == ""
    assert not is_served(window)
    await show_not_running(window)
    await window.page.locator(f"{TOAST} .monaco-button", has_text="Open Settings").click()
    await window.page.locator(".settings-editor [data-key='hlo.server.path']").first.wait_for()

    python = str(plain_python(tmp_path / "plain"))
    await window.host.ask("set", "hlo", "server.path", python, "Global")
    await window.open(at)
    assert await started(window, at) == [python, await script(window), "--stdio"]


async def test_button_selects_interpreter_in_python_extension(
    serve: Serve, show: Show, at: Spot, tmp_path: Path, python_extension: Path
) -> None:
    python = str(plain_python(tmp_path / "plain"))
    settings = {"python.otherInterpreterPath": python}
    window = await show(await serve("/nowhere", settings, [python_extension]), at.path.parent)
    await window.open(at)
    assert await until(window.shown(MESSAGE)) == [NO_PYTHON]
    await window.page.locator(f"{TOAST} .monaco-button", has_text="Select Interpreter").click()
    assert await started(window, at) == [python, await script(window), "--stdio"]


async def test_wrong_setting_is_reported(
    serve: Serve, show: Show, at: Spot, tmp_path: Path
) -> None:
    path = str(plain_python(tmp_path / "plain").parent)
    window = await show(await serve(path, {"hlo.server.path": "/gone/hlo-lsp"}), at.path.parent)
    await window.open(at)
    assert await until(window.shown(MESSAGE)) == [
        "The setting hlo.server.path names a program that does not exist: /gone/hlo-lsp"
    ]
    assert not is_served(window)


async def test_failing_server_is_reported_once(
    serve: Serve, show: Show, at: Spot, tmp_path: Path
) -> None:
    program = tmp_path / "hlo-lsp"
    program.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    program.chmod(0o755)
    window = await show(await serve("/nowhere", {"hlo.server.path": str(program)}), at.path.parent)
    await window.open(at)
    await until(window.shown(MESSAGE))
    await show_not_running(window)
    assert await window.texts(MESSAGE) == ["HLO client: couldn't create connection to server."]
    assert not is_served(window)
