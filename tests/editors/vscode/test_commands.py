"""Tests for the commands of the client in the command palette."""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, printed
from editors.vscode.host import hover, spot
from editors.vscode.marks import vscode
from editors.vscode.processes import server
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window

pytestmark = vscode(1)
LOG = ".part.panel .view-line"
TERMINAL = ".part.panel .xterm-rows > div"


async def test_check_folder_prints_findings(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    text = path.read_text("utf-8")
    path.write_text(
        text.replace("<235 fusion @1> (size=1048576,", "<235 fusion @1> (size=1048577,")
    )
    at = spot(path, "<235 fusion @1> (size=^1048577,")
    await window.open(dump.path(LIVE_RANGE))
    await window.run("HLO: Check Folder")
    place = re.compile(rf"\b{at.line + 1}:{at.column + 1}\s+error\b")

    async def printed_findings() -> None:
        shown = "".join(await window.texts(TERMINAL))
        assert at.path.name in shown
        assert place.search(shown)
        assert "size-mismatch" in shown

    await eventually(printed_findings, seconds=120)


async def test_inspect_prints_cursor_target(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    value = printed(at.path, "<235 fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    await window.run("HLO: Inspect at Cursor")
    size = f"{value.allocation_size:,} B"
    # A command prints its lines one after another.
    await until(window.shown(TERMINAL), lambda shown: size in "".join(shown), seconds=120)


async def test_timeline_prints_chart(dump: Compile, window: Window) -> None:
    await window.open(dump.path(ASSIGNMENT))
    await window.run("HLO: Show Timeline")
    await until(
        window.shown(TERMINAL),
        lambda shown: any("jit_mlp_train" in row for row in shown) and "█" in "".join(shown),
        seconds=120,
    )


async def test_restart_starts_server_that_log_names(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    await window.run("HLO: Show Log")
    before = await server(window)
    await until(window.shown(LOG))
    await window.host.command("workbench.output.action.clearOutput")
    await until(window.shown(LOG), lambda shown: shown == [])
    await window.run("HLO: Restart Server")

    async def logged() -> None:
        text = " ".join(await window.texts(LOG))
        assert "exited with code 0" in text
        assert "[Error" not in text
        assert re.search(r"\[info\] starting \S+python\S* -m hlo_lsp", text)

    await eventually(logged)
    assert await server(window, but=before) != before
    await until(lambda: hover(window.host, at))
