"""An out-of-memory message: its language, outline, and lens."""

import shutil
from pathlib import Path

import pytest

from editors.vscode.dump import lines
from editors.vscode.host import Spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import LENS, Window
from oom_messages import DUMP, LONG, text_of

pytestmark = vscode(1)
_MODE = "[id='status.editor.mode']"
_ROW = ".outline-pane .monaco-list-row"
_TITLE = "XLA Out-of-Memory Message"


@pytest.fixture
def log(folder: Path) -> Path:
    """Return a log with a message, beside the dump that belongs to it."""
    for path in DUMP.iterdir():
        shutil.copy(path, folder)
    path = folder / "train.log"
    path.write_text("step 1\n" * 100 + text_of(LONG), "utf-8")
    return path


def _at(path: Path, text: str) -> Spot:
    number = next(n for n, line in enumerate(lines(path)) if text in line)
    return Spot(path, number, lines(path)[number].index(text))


async def test_log_has_language_outline_and_report(log: Path, window: Window) -> None:
    (table,) = log.parent.glob("*.oom_top_memory_consuming_instructions")
    for path in (table, log):
        await window.open(path)
        await until(window.shown(_MODE), [_TITLE].__eq__)
    await window.host.command("outline.focus")
    await until(window.shown(_ROW), lambda rows: rows[:1] == ["hbm: 15.75G of 15.75G"])
    await window.open(_at(log, "RESOURCE_EXHAUSTED"))
    lens = window.page.locator(f"{LENS} a", has_text="jit_train_step: not enough HBM")
    await window.click(lens.first, ".tab[aria-label*='Preview Summary']")
