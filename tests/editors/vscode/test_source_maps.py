"""The offer to map the sources of a dump."""

import re
import shutil
from pathlib import Path

from dumps import CORPUS_PROGRAMS
from editors.conftest import Compile
from editors.vscode.dump import MODULE, lines
from editors.vscode.host import Spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)


async def _link(window: Window, path: Path, row: int) -> str:
    """Return the file that a link on a line leads to, empty without one."""
    found = await window.host.command("vscode.executeLinkProvider", uri(path), 1000)
    targets = [str(each["target"]) for each in found if each["range"][0] == row]
    return targets[-1].partition("#")[0].removeprefix("file://") if targets else ""


async def test_accepted_offer_maps_sources_that_links_open(dump: Compile, window: Window) -> None:
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
    # VS Code asks for the links of an editor when it is opened.
    await window.host.command("workbench.action.closeAllEditors")
    place = next(n for n, line in enumerate(lines(path)) if line.startswith("FileLocations")) + 5
    number = re.search(r"line=(\d+) ", lines(path)[place])
    assert number
    await window.open(Spot(path, place, number.start()))
    await (await window.line(lines(path)[place])).locator(".detected-link").first.wait_for()
    await window.host.command("editor.action.openLink")
    await until(lambda: window.host.ask("active"), lambda it: it and it["file"] == str(sources))
    await until(window.cursor, lambda cursor: cursor[0] == int(number[1]))
