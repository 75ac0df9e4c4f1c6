"""Compiles of an edited text in VS Code, with a stand-in of the compiler."""

from pathlib import Path

from compiling.stand_in import copy_of, stand_in_python, write_dump
from editors.vscode.host import spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
LENSES = ".codelens-decoration a"


async def test_edited_text_is_compiled_and_compared(
    folder: Path, window: Window, tmp_path: Path
) -> None:
    dump = write_dump(folder / "dump")
    larger = copy_of(dump, tmp_path / "larger", "f32[512]", "f32[1024]")
    await window.host.configure({"hlo.compile.python": str(stand_in_python(tmp_path, larger))})
    text = next(dump.glob("*.before_optimizations.txt"))
    await window.open(spot(text, "^add(x, y)"))
    await window.page.keyboard.press("Delete")
    lens = window.page.locator(LENSES).get_by_text("compile", exact=True)
    await lens.click()
    label = "jit_f → compiled (before ↔ after)"
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: {label, "Preview jit_f → compiled.md"} <= {tab["label"] for tab in tabs},
    )
    assert "ROOT r = f32[256]{0} dd(x, y)" in (tmp_path / "requests").read_text("utf-8")

    await window.open(text)
    found = window.page.locator(LENSES).get_by_text("compiled: allocated ")
    await found.wait_for()
