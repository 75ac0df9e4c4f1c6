"""Tests for the restart of a killed server."""

import sys
from pathlib import Path

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import hover, problems, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.processes import command, is_served, kill, server
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
RESTARTS = 4  # within three minutes: the default of vscode-languageclient


async def test_restarted_server_knows_unsaved_text(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1> (size=1048576,")
    size = spot(at.path, "<235 fusion @1> (size=^1048576,")
    await window.open(at)
    before = await until(lambda: hover(window.host, at), lambda text: "steps " in text)
    edited = [size.line, size.column, size.line, size.column + len("1048576")]
    await window.host.ask("edit", uri(at.path), {"$range": edited}, "1048577")
    problem = await until(lambda: mismatch(window, at.path))
    first = await kill(window)

    assert await server(window, but=first) != first
    first_line = before.splitlines()[0]
    await until(
        lambda: hover(window.host, at),
        lambda after: "1,048,577" in after and after.startswith(f"{first_line}\n"),
    )
    await until(lambda: mismatch(window, at.path), lambda again: again == problem)
    await until(window.shown(".editor-instance .codelens-decoration"))
    await window.no_notification()


async def mismatch(window: Window, path: Path) -> tuple[list[int], str] | None:
    """Return the range and the message of the only problem of a file."""
    found = await problems(window.host, path)
    return (found[0]["range"], found[0]["message"]) if len(found) == 1 else None


async def test_repeated_crashes_stop_restarts(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await window.host.command("hlo.restartServer")  # which forgets earlier crashes
    process = None
    for _ in range(RESTARTS + 1):
        await until(lambda: hover(window.host, at))
        process = await kill(window, but=process)

    notice = await window.notification("crashed 5 times in the last 3 minutes")
    buttons = await notice.locator(".monaco-button").all_inner_texts()
    assert [each.strip() for each in buttons] == ["Go to output"]
    assert not is_served(window)
    shown = await window.texts(".notifications-center .notification-list-item:visible")
    assert sum("server" in text for text in shown) == 1
    await notice.locator(".monaco-button", has_text="Go to output").click()
    await window.page.locator(".part.panel .output-view").wait_for()

    await window.run("HLO: Restart Server")
    await server(window, but=process)
    await until(lambda: hover(window.host, at))


async def test_missing_program_is_reported_after_crash(
    dump: Compile, folder: Path, window: Window
) -> None:
    program = folder / "hlo-lsp"
    # Python ignores the unknown option -Xprogram, by which the test knows this server.
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -Xprogram -m hlo_lsp "$@"\n', "utf-8")
    program.chmod(0o755)
    await window.host.configure({"hlo.server.path": f"./{folder.name}/hlo-lsp"})
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)

    async def runs_program() -> bool:
        return "-Xprogram" in command(await server(window))

    # The server of the setting before answers until the new one starts.
    await until(runs_program)
    await until(lambda: hover(window.host, at))
    program.unlink()
    await kill(window)

    await window.notification("couldn't create connection to server")
    await window.run("HLO: Restart Server")
    wrong = await window.notification("names a program that does not exist")
    await wrong.locator(".monaco-button", has_text="Open Settings").wait_for()
