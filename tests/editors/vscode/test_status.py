"""The language status item: which server runs, and what it found in the file in front."""

from editors.vscode.dump import LIVE_RANGE
from editors.vscode.host import problems
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window
from hlo_lsp import __version__

pytestmark = VSCODE


async def test_it_tells_the_version_and_the_problems(reading: Window) -> None:
    path = reading.dump.path(LIVE_RANGE)
    await reading.open(path)
    found = await until(lambda: problems(reading.host, path))
    assert len(found) == 1  # peak-understated, information
    item = reading.page.locator("[id='status.languageStatus']")
    await item.hover()
    shown = await until(
        reading.shown(".hover-language-status"),
        lambda told: any("1 problem here" in each for each in told),
    )
    assert any(f"hlo-lsp {__version__}" in each for each in shown)
