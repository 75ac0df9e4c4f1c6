"""The commands of the client that print in a terminal."""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, printed
from editors.vscode.host import hover, spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window

pytestmark = vscode(1)
TERMINAL = ".part.panel .xterm-rows > div"


async def test_terminal_shows_findings_and_cursor_target(dump: Compile, window: Window) -> None:
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

    at = spot(path, "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    await window.choose("Inspect at Cursor")
    size = f"{printed(path, '<235 fusion @1>').allocation_size:,} B"
    # A command prints its lines one after another.
    await until(window.shown(TERMINAL), lambda shown: size in "".join(shown), seconds=120)
