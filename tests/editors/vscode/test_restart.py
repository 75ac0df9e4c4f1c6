"""The server is killed: it comes back by itself, or the user is told, with what helps."""

import json
import sys
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import hover, problems, spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.processes import is_served, kill, server
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
NOTIFICATION = ".notifications-toasts .notification-list-item"
STARTS = 5  # after as many deaths within three minutes it is started again, and then no more


@pytest.fixture
def program(folder: Path) -> Path:
    """The setting of the folder names this program of its own."""
    program = folder / "hlo-lsp"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hlo_lsp "$@"\n', "utf-8")
    program.chmod(0o755)
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hlo.server.path": "./hlo-lsp"}), "utf-8")
    return program


async def test_it_comes_back_and_knows_what_is_not_saved(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1> (size=1048576,")
    size = spot(at.path, "<235 fusion @1> (size=^1048576,")
    await window.open(at)
    before = await until(lambda: hover(window.host, at))
    edited = [size.line, size.column, size.line, size.column + len("1048576")]
    await window.host.ask("edit", uri(at.path), {"$range": edited}, "1048577")
    (told,) = await until(lambda: problems(window.host, at.path))
    first = await kill(window)

    assert await server(window, but=first) != first
    after = await until(lambda: hover(window.host, at))
    assert "1,048,577" in after
    assert after.splitlines()[0] == before.splitlines()[0]
    (again,) = await until(lambda: problems(window.host, at.path))
    assert (again["range"], again["message"]) == (told["range"], told["message"])
    await until(window.shown(".editor-instance .codelens-decoration"))
    assert not await window.texts(NOTIFICATION)  # what mends itself bothers nobody


async def test_one_that_ends_again_and_again_is_given_up(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    process = None
    for _ in range(STARTS + 1):
        process = await kill(window, but=process)

    notice = window.page.locator(NOTIFICATION, has_text="ended again and again")
    await notice.wait_for()
    buttons = await notice.locator(".monaco-button").all_inner_texts()
    assert [each.strip() for each in buttons] == ["Choose Python", "Open Settings", "Show Log"]
    assert not is_served(window)
    assert await window.page.locator(NOTIFICATION).count() == 1
    await notice.locator(".monaco-button", has_text="Show Log").click()
    await window.page.locator(".part.panel .output-view").wait_for()

    await window.run("HLO: Restart Server")
    await server(window, but=process)
    await until(lambda: hover(window.host, at))


async def test_one_that_was_removed_is_missed(program: Path, dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    program.unlink()
    await kill(window)

    notice = window.page.locator(NOTIFICATION, has_text="could not be started again")
    await notice.wait_for()
    assert await notice.locator(".monaco-button", has_text="Open Settings").count() == 1
    assert await window.page.locator(NOTIFICATION).count() == 1
