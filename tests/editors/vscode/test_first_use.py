"""What a newcomer meets: no Python has the server, and the extension brings it, without network."""

import os
import sys
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.vscode.conftest import Serve, Show
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import hover, spot
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until

pytestmark = VSCODE
NOTICE = ".notifications-toasts .notification-list-item-message"


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH on which Python has nothing but its standard library."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("python3", "python"):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{_base_python()}" -S "$@"\n', "utf-8")
        program.chmod(0o755)
    return os.pathsep.join((str(programs), "/usr/bin", "/bin"))


def _base_python() -> Path:
    """The interpreter below the environment of these tests."""
    return Path(sys._base_executable).resolve()  # type: ignore[attr-defined]


async def test_the_server_is_set_up_when_the_user_agrees(
    serve: Serve, show: Show, dump: Compile, bare_path: str
) -> None:
    server = await serve(bare_path, {})
    window = await show(server, dump.folder)
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    (question,) = await until(window.shown(NOTICE))
    assert question.startswith("No Python here has hlo-lsp")
    assert question.endswith("needs no network.")
    assert await hover(window.host, at) == ""
    await window.page.locator(".notifications-toasts .monaco-button", has_text="Set Up").click()

    told = await until(lambda: hover(window.host, at), seconds=180)
    assert "1,048,576 B (1.00 MiB): fits T(8,128)" in told
    await until(window.shown(NOTICE), lambda shown: shown == [])
    (environment,) = (server.storage / "server").iterdir()
    packages = next(environment.glob("lib/python3*/site-packages"))
    assert (packages / "hlo_lsp").is_dir()


async def test_who_declines_has_colours_and_is_told_by_the_status(
    serve: Serve, show: Show, dump: Compile, bare_path: str
) -> None:
    server = await serve(bare_path, {})
    window = await show(server, dump.folder)
    await window.open(dump.path(ASSIGNMENT))
    await until(window.shown(NOTICE))
    await window.host.command("notifications.clearAll")
    item = window.page.locator("[id='status.languageStatus']")
    await item.hover()
    await until(
        window.shown(".hover-language-status"),
        lambda told: any("hlo-lsp does not run" in each for each in told),
    )
    assert not (server.storage / "server").exists()
