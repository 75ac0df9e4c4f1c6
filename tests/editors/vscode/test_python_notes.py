"""Tests for the memory of Python lines in VS Code."""

from pathlib import Path

import pytest_asyncio

from dumps import unpacked
from editors.vscode.host import Spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import LENS, Window

pytestmark = vscode(1)
_SAMPLE = Path(__file__).resolve().parents[3] / "vscode-client" / "sample"
_LOGITS = "76.00 MiB at the peak · 3 buffers"


def write_program(folder: Path) -> Path:
    """Return a copy of the program of the sample dump, with the dump in the same folder."""
    unpacked(_SAMPLE / "dump.tar.xz", folder)
    program = folder / "train.py"
    program.write_bytes((_SAMPLE / "train.py").read_bytes())
    return program


@pytest_asyncio.fixture(loop_scope="session")
async def program(folder: Path, window: Window) -> Path:
    """Show the program, with its loss in the middle: not below the sticky headers."""
    await window.host.configure({"hlo.sourceMap": {"/home/user/hlo-sample": folder.name}})
    program = write_program(folder)
    await window.open(Spot(program, 34, 0))
    return program


async def test_notes_follow_edits_and_settings_and_list_buffers(
    program: Path, window: Window
) -> None:
    async def notes() -> dict[int, str]:
        lenses = await window.host.command("vscode.executeCodeLensProvider", uri(program), 1000)
        return {lens["range"][0]: lens["command"]["title"] for lens in lenses}

    before = await until(notes, lambda found: _LOGITS in found.values())
    assert before[34] == _LOGITS
    await window.host.ask("edit", uri(program), {"$range": [0, 0, 0, 0]}, "# new\n# new\n")
    expected = {line + 2: title for line, title in before.items()}
    await until(notes, lambda found: found == expected)
    await until(window.shown(LENS), lambda shown: _LOGITS in shown)

    large = await until(window.shown(LENS), lambda shown: _LOGITS in shown)
    await window.host.configure({"hlo.pythonNotes": "all"})
    await until(window.shown(LENS), lambda shown: len(shown) > len(large))
    await window.host.configure({"hlo.pythonNotes": "off"})
    await until(window.shown(LENS), lambda shown: shown == [])

    await window.host.configure({"hlo.pythonNotes": "large"})
    rows = ".quick-input-list .monaco-list-row"
    await window.click(window.page.locator(f"{LENS} a", has_text=_LOGITS), rows)
    listed = await until(window.shown(rows), lambda texts: len(texts) == 3)
    assert "64.00 MiB · bf16[8,512,8192]{2,1,0:T(8,128)(2,1)}" in listed[0]
    await window.accept()
    path, line = await until(window.front, lambda front: front[0] != program)
    assert path.name.endswith(".after_optimizations.txt")
    assert listed[0].split("{")[0].split("\n")[0] in line
