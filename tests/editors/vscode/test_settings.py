"""Tests for changes of settings with open dumps."""

import re
import shutil
from pathlib import Path

from dumps import CORPUS_PROGRAMS
from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, MODULE, lines
from editors.vscode.host import Spot, problems, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
SQUIGGLE = ".editor-instance .squiggly-error"
RIGHT = "<235 fusion @1> (size=1048576,"


async def test_ignored_rule_reports_nothing(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    path.write_text(path.read_text("utf-8").replace(RIGHT, RIGHT.replace("76", "77")), "utf-8")
    await window.open(spot(path, "<235 ^fusion @1>"))
    await until(
        lambda: problems(window.host, path),
        lambda found: [each["code"]["value"] for each in found] == ["size-mismatch"],
    )
    squiggle = window.page.locator(SQUIGGLE)
    await squiggle.first.wait_for()
    await window.host.configure({"hlo.check.ignore": ["size-mismatch"]})
    await until(squiggle.count, lambda count: count == 0)
    await until(lambda: problems(window.host, path), lambda found: found == [])
    await window.host.configure({"hlo.check.ignore": []})
    await squiggle.first.wait_for()


async def _link(window: Window, path: Path, row: int) -> str:
    """Return the file that a link on a line leads to, empty without one."""
    found = await window.host.command("vscode.executeLinkProvider", uri(path), 1000)
    targets = [str(each["target"]) for each in found if each["range"][0] == row]
    return targets[-1].partition("#")[0].removeprefix("file://") if targets else ""


async def test_accepted_offer_maps_sources(dump: Compile, window: Window) -> None:
    path = dump.path(MODULE)
    row = lines(path).index("FileNames") + 1
    sources = dump.folder / "models" / "programs.py"
    sources.parent.mkdir()
    shutil.copy(CORPUS_PROGRAMS / "programs.py", sources)
    await window.open(path)
    notice = await window.notification("The sources of this dump seem to be in the workspace")
    assert "/home/user" in await notice.inner_text()
    await notice.locator(".monaco-button", has_text="Map Folder").click()
    await until(lambda: _link(window, path, row), str(sources).__eq__)


async def test_source_map_finds_moved_sources(dump: Compile, window: Window) -> None:
    path = dump.path(MODULE)
    row = next(n for n, line in enumerate(lines(path)) if line.startswith("FileLocations")) + 5
    place = re.search(r"line=(\d+) ", lines(path)[row])
    assert place
    moved = dump.folder / "moved" / "programs.py"
    moved.parent.mkdir()
    shutil.copy(CORPUS_PROGRAMS / "programs.py", moved)

    await window.open(Spot(path, row, 0))
    await until(lambda: problems(window.host, path), lambda found: isinstance(found, list))
    relative = str(moved.parent.relative_to(window.folder))
    await window.host.configure({"hlo.sourceMap": {"/home/user/models": relative}})

    await until(lambda: _link(window, path, row), str(moved).__eq__)
    # VS Code asks for the links of an editor when it is opened.
    await window.host.command("workbench.action.closeAllEditors")
    await window.open(Spot(path, row, place.start()))
    await (await window.line(lines(path)[row])).locator(".detected-link").first.wait_for()
    await window.host.command("editor.action.openLink")
    await until(lambda: window.host.ask("active"), lambda it: it and it["file"] == str(moved))
    await until(window.cursor, lambda cursor: cursor[0] == int(place[1]))
