"""Tests for the colors of HLO inside of other languages."""

from pathlib import Path

import pytest

from editors.vscode.marks import VSCODE
from editors.vscode.test_colors import _COLORS, THEMES
from editors.vscode.themes import color_of, colors
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
_HLO = "HloModule jit_f\nENTRY %main {\n  ROOT %x = f32[8] parameter(0)\n}\n"
_TEXTS = {
    "notes.md": f"# Notes\n\n```hlo\n{_HLO}```\n",
    "model.py": f'text = """\n{_HLO}"""\nlast = "HloModule"\n',
    "test.cc": f'const char* text = R"(\n{_HLO})";\n',
}


@pytest.mark.parametrize("name", _TEXTS)
async def test_embedded_text_has_colors_of_hlo(name: str, folder: Path, window: Window) -> None:
    theme = "Default Dark+"
    await window.host.ask("set", "workbench", "colorTheme", theme)
    path = folder / name
    path.write_text(_TEXTS[name], "utf-8")
    await window.open(path)
    known = colors(THEMES[theme])
    expected = [
        color_of(["keyword.control.module.hlo"], known),
        color_of(["storage.type.element.hlo"], known),
    ]
    places = [["HloModule jit_f", 0], ["  ROOT %x = f32[8] parameter(0)", 12]]

    async def shown() -> list[str]:
        found: list[str] = await window.page.evaluate(_COLORS, places)
        return found

    await until(shown, lambda found: found == expected)
