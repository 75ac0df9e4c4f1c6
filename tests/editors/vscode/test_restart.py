"""Tests for the restart of a killed server."""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import hover, problems, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.processes import is_served, kill, server
from editors.vscode.waiting import eventually, until
from editors.vscode.window import LENS, Window

pytestmark = vscode(1)
LOG = ".part.panel .view-line"
RESTARTS = 4  # within three minutes: the default of vscode-languageclient


async def test_restarted_server_knows_unsaved_text_until_crashes_repeat(
    dump: Compile, window: Window
) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1> (size=1048576,")
    size = spot(at.path, "<235 fusion @1> (size=^1048576,")
    await window.open(at)
    await window.host.command("hlo.restartServer")  # which forgets earlier crashes
    await until(lambda: hover(window.host, at), lambda text: "steps " in text)
    edited = [size.line, size.column, size.line, size.column + len("1048576")]
    await window.host.ask("edit", uri(at.path), {"$range": edited}, "1048577")
    process = await kill(window)
    await until(lambda: hover(window.host, at), lambda after: "1,048,577" in after)
    await until(lambda: problems(window.host, at.path), lambda found: len(found) == 1)
    await until(window.shown(LENS))
    await window.no_notification()

    for _ in range(RESTARTS):
        await until(lambda: hover(window.host, at))
        process = await kill(window, but=process)
    notice = await window.notification("crashed 5 times in the last 3 minutes")
    assert not is_served(window)
    shown = await window.texts(".notifications-center .notification-list-item:visible")
    assert sum("server" in text for text in shown) == 1
    await notice.locator(".monaco-button", has_text="Go to output").click()
    await window.run("HLO: Restart Server")
    await server(window, but=process)
    await until(lambda: hover(window.host, at))

    async def logged() -> None:
        text = " ".join(await window.texts(LOG))
        assert re.search(r"\[info\] starting \S+python\S* -m hlo_lsp", text)

    await eventually(logged)
