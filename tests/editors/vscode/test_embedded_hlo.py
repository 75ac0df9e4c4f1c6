"""Tests for HLO in other languages: colors, hovers, definitions, completion, and problems."""

from pathlib import Path

from editors.vscode.host import Spot, hover, places, problems, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.test_colors import _COLORS, THEME, THEME_FILE
from editors.vscode.themes import color_of, colors
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
_HLO = "HloModule jit_f\nENTRY %main {\n  ROOT %x = f32[8] parameter(0)\n}\n"
_TEXTS = {
    "notes.md": f"# Notes\n\n```hlo\n{_HLO}```\n",
    "model.py": f'text = """\n{_HLO}"""\nlast = "HloModule"\n',
    "test.cc": f'const char* text = R"(\n{_HLO})";\n',
}


async def test_embedded_texts_have_colors_of_hlo(folder: Path, window: Window) -> None:
    await window.host.configure({"workbench.colorTheme": THEME})
    known = colors(THEME_FILE)
    expected = [
        color_of(["keyword.control.module.hlo"], known),
        color_of(["storage.type.element.hlo"], known),
    ]
    places = [["HloModule jit_f", 0], ["  ROOT %x = f32[8] parameter(0)", 12]]

    async def shown() -> list[str]:
        found: list[str] = await window.page.evaluate(_COLORS, places)
        return found

    for name, text in _TEXTS.items():
        path = folder / name
        path.write_text(text, "utf-8")
        await window.open(path)
        await until(shown, lambda found: found == expected)
        await window.host.command("workbench.action.closeAllEditors")


_WRONG = (
    "HloModule m\n\nENTRY e {\n  p = f32[8,128] parameter(0)\n  ROOT t = f32[8,64] tanh(p)\n}\n"
)


async def test_embedded_text_has_features_until_disabled(folder: Path, window: Window) -> None:
    path = folder / "model.py"
    path.write_text(f'text = """{_WRONG}"""\nlast = "HloModule"\n', "utf-8")
    at = spot(path, "  ROOT t = f32[8,^64] tanh(p)")
    await window.open(at)

    async def found() -> list[tuple[str, int]]:
        listed = await problems(window.host, path)
        return [(each["code"]["value"], each["range"][0]) for each in listed]

    await until(found, lambda listed: listed == [("shape-mismatch", at.line)])
    opcode = spot(path, "  ROOT t = f32[8,64] ^tanh(p)")
    await until(lambda: hover(window.host, opcode), lambda text: "**`t` tanh**" in text)
    operand = spot(path, "tanh(^p)")
    await until(
        lambda: places(window.host, "Definition", operand),
        lambda targets: targets == [(path, at.line - 1)],
    )
    completion = await window.host.command(
        "vscode.executeCompletionItemProvider", uri(path), operand.position
    )
    labels = [str(each["label"]) for each in completion["items"]]
    assert any("p" in label for label in labels)
    assert "hlo" not in await hover(window.host, Spot(path, 0, 1))
    place = {"$range": [at.line, at.column, at.line, at.column + 2]}
    await window.host.ask("edit", uri(path), place, "128")
    await until(found, lambda listed: listed == [])

    place = {"$range": [at.line, at.column, at.line, at.column + 3]}
    await window.host.ask("edit", uri(path), place, "64")
    await until(lambda: problems(window.host, path))
    await window.host.configure({"hlo.embeddedHlo": False})
    await until(lambda: problems(window.host, path), lambda listed: listed == [])
    assert not await hover(window.host, opcode)
