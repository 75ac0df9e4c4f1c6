"""Scenes for the pictures of the client: each prepares a window, and returns its texts by kind."""

import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import ViewportSize

from dumps import CORPUS_PROGRAMS
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.dump_rows import choose, expand, rows
from editors.vscode.host import Spot, hover, problems, spot, uri
from editors.vscode.waiting import until
from editors.vscode.window import HOVER, LENS, Window

Texts = dict[str, list[str]]
SIZE = ViewportSize(width=1280, height=800)
SCALE = 1.5
# Only views with facts about the dump.
SETTINGS: Mapping[str, object] = {
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.activityBar.location": "hidden",
    "workbench.statusBar.visible": False,
    "workbench.layoutControl.enabled": False,
    "workbench.editor.editorActionsLocation": "hidden",
    "window.commandCenter": False,
    "window.menuBarVisibility": "hidden",
    "breadcrumbs.enabled": False,
    "editor.minimap.enabled": False,
    "editor.stickyScroll.enabled": False,
    "editor.guides.indentation": False,
    "editor.lightbulb.enabled": "off",
    "editor.occurrencesHighlight": "off",
    "editor.hover.delay": 100,
    "editor.hover.above": False,
    "problems.showCurrentInStatus": False,
    "hlo.sourceMap": {"/home/user/models": "models"},
}
_MORE = 150  # pixels
_BREATH = 700  # milliseconds in which a hover is there as a whole
_PROBLEM = ".markers-panel .monaco-list-row"


@dataclass(frozen=True)
class Scene:
    """The files, the height of the picture in pixels, and what prepares the window."""

    files: Callable[[Path, Path], None]
    height: int
    show: Callable[[Window], Awaitable[Texts]]


def replace_files(folder: Path, write: Callable[[Path], None]) -> None:
    """Delete the files of earlier scenes but for the settings, and write others."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != ".vscode":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    write(folder)


def intact(source: Path, folder: Path) -> None:
    """Write the files of a real compile with shorter names, and its program."""
    _dump(source, folder, is_damaged=False)


def damaged(source: Path, folder: Path) -> None:
    """Write the same files with one wrong digit."""
    _dump(source, folder, is_damaged=True)


def _dump(source: Path, folder: Path, is_damaged: bool) -> None:
    stem = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"
    for path in source.glob(f"tpu_v5e/{stem}[-.]*"):
        text = path.read_text("utf-8")
        if is_damaged and path.name == f"{stem}{ASSIGNMENT}.txt":
            right = "<235 fusion @1> (size=1048576,"
            assert text.count(right) == 1
            text = text.replace(right, right.replace("1048576", "1048676"))
        name = path.name.replace(stem, "jit_mlp_train.after_optimizations")
        (folder / name).write_text(text, "utf-8")
    models = folder / "models"
    models.mkdir()
    shutil.copy(CORPUS_PROGRAMS / "programs.py", models)


def two_targets(source: Path, folder: Path) -> None:
    """Write real compiles of three functions for two generations of TPU."""
    for target in ("v5e", "v5p"):
        (folder / target).mkdir()
        for name in ("jit_rm", "jit_mlp_train", "jit_scan_g"):
            for path in source.glob(f"tpu_{target}/*.{name}.cl_*"):
                shutil.copy(path, folder / target)


async def hovered(window: Window) -> Texts:
    """Show the hover of a value that is live at the peak and shares memory."""
    at = _spot(window, ASSIGNMENT, "<243 ^")
    lenses = await _shown(window, at, above=4, lines=6)
    await until(lambda: hover(window.host, at))
    text = await _pointed(window)
    await _stretched(window)
    return {"lenses": lenses, "hover": text}


async def lensed(window: Window) -> Texts:
    """Show the lenses and hints of an allocation whose values share memory."""
    at = _spot(window, ASSIGNMENT, "^allocation 25:")
    return {"lenses": await _shown(window, at, above=1, lines=18)}


async def wrong(window: Window) -> Texts:
    """Show a wrong size, in the text and in the Problems panel."""
    at = _spot(window, ASSIGNMENT, "<235 fusion @1> (size=^1048676")
    await window.open(at)
    await until(lambda: problems(window.host, at.path))
    await window.host.command("workbench.actions.view.problems")
    await until(window.shown(_PROBLEM))
    await window.host.command("workbench.action.focusActiveEditorGroup")
    await _shown(window, at, above=5, lines=9)
    await window.page.locator(".editor-instance .squiggly-error").first.wait_for()
    return {"hover": await _pointed(window), "problems": await window.texts(_PROBLEM)}


async def listed(window: Window) -> Texts:
    """Show the compiles of a folder, and the answer to how two of them differ."""
    await window.host.command("hlo.dumps.focus")
    await until(lambda: rows(window), lambda shown: any("jit_rm" in row for row in shown))
    await expand(window, "jit_rm")
    await compare(window)
    await expand(window, "v5e")
    await expand(window, "largest buffers")
    await until(lambda: rows(window), lambda shown: sum("at the peak" in r for r in shown) == 1)
    await window.page.locator(".webview.ready").first.wait_for()
    await window.page.wait_for_timeout(_BREATH)
    return {"rows": await rows(window)}


async def compared(window: Window) -> Texts:
    """Show the texts of two compiles side by side."""
    await window.host.command("hlo.dumps.focus")
    await until(lambda: rows(window), lambda shown: any("jit_rm" in row for row in shown))
    await expand(window, "jit_rm")
    await compare(window)
    await window.host.command("workbench.action.closeActiveEditor")
    await window.host.command("workbench.action.closeSidebar")
    lines = ".editor.modified .line-insert"
    await until(window.page.locator(lines).count)
    return {"tabs": [tab["label"] for tab in await window.host.ask("tabs")]}


async def compare(window: Window, row: str = "v5e", name: str = "jit_rm") -> None:
    """Compare a compile of the expanded function with its other one."""

    async def asked() -> bool:
        await choose(window, row, "Compare...")
        (title,) = await until(window.shown(".quick-input-title:visible"))
        # VS Code gives the command no row if the view is refreshed while the menu is open.
        if name not in title:
            await window.page.keyboard.press("Escape")
        return name in title

    await until(asked)
    pick = ".quick-input-list .monaco-list-row"
    await until(window.shown(pick), lambda shown: len(shown) > 1)
    await window.page.locator(".quick-input-widget input.input").fill(name)
    await until(window.shown(pick), lambda shown: len(shown) == 1)
    await window.accept()
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: any(tab["isActive"] and "Preview" in tab["label"] for tab in tabs),
    )


SCENES: Mapping[str, Scene] = {
    "hover": Scene(intact, 620, hovered),
    "lenses": Scene(intact, 680, lensed),
    "problems": Scene(damaged, 800, wrong),
    "dumps": Scene(two_targets, 560, listed),
    "comparison": Scene(two_targets, 460, compared),
}


def _spot(window: Window, suffix: str, marked: str) -> Spot:
    return spot(window.folder / f"jit_mlp_train.after_optimizations{suffix}.txt", marked)


async def _shown(window: Window, at: Spot, above: int, lines: int) -> list[str]:
    """Show a place some lines below the top, and wait for the lenses below it."""
    await window.open(at)
    top = at.line - above
    found = await until(
        lambda: window.host.command("vscode.executeCodeLensProvider", uri(at.path), 1000)
    )
    below = range(top + 1, top + lines)
    positioned = sorted(
        (each["range"][0], each["command"]["title"]) for each in found if each["range"][0] in below
    )
    lenses = [title for _, title in positioned]

    async def shown() -> list[str]:
        await window.host.command("revealLine", {"lineNumber": top, "at": "top"})
        return await window.texts(LENS)

    await until(shown, lambda shown: set(lenses) <= set(shown))
    return lenses


async def _pointed(window: Window) -> list[str]:
    async def pointed() -> bool:
        await window.point()
        return True

    await until(pointed)
    return await _steady(window, HOVER)


async def _stretched(window: Window) -> None:
    """Enlarge the hover until all of it is visible."""
    box = await window.page.locator(".monaco-resizable-hover").bounding_box()
    assert box is not None
    middle, edge = box["x"] + box["width"] / 2, box["y"] + box["height"]
    await window.page.mouse.move(middle, edge - 1, steps=4)
    await window.page.mouse.down()
    await window.page.mouse.move(middle, edge + _MORE, steps=4)
    await window.page.mouse.up()


async def _steady(window: Window, selector: str) -> list[str]:
    """Return the texts on the screen once they no longer change."""
    before: list[str] = []

    async def texts() -> list[str]:
        nonlocal before
        now = await window.texts(selector)
        steady, before = now == before, now
        await window.page.wait_for_timeout(_BREATH)
        return now if steady else []

    return await until(texts)
