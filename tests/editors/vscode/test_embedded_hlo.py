"""Tests for HLO in other languages: colors, hovers, definitions, completion, and problems."""

from functools import partial
from pathlib import Path

import pytest

from editors.vscode.host import Spot, hover, places, problems, spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.processes import is_served, server
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


_WRONG = (
    "HloModule m\n\nENTRY e {\n  p = f32[8,128] parameter(0)\n  ROOT t = f32[8,64] tanh(p)\n}\n"
)
_WRONG_TEXTS = {
    "notes.md": f"# Notes\n\n```hlo\n{_WRONG}```\n",
    "model.py": f'text = """{_WRONG}"""\nlast = "HloModule"\n',
    "test.cc": f'const char* text = R"({_WRONG})";\n',
}


@pytest.fixture(params=_WRONG_TEXTS)
def host_file(request: pytest.FixtureRequest, folder: Path) -> Path:
    """Return a file with a module whose root has a wrong shape."""
    path = folder / str(request.param)
    path.write_text(_WRONG_TEXTS[path.name], "utf-8")
    return path


async def test_embedded_text_has_hover_and_problems(host_file: Path, window: Window) -> None:
    at = spot(host_file, "  ROOT t = f32[8,64] ^tanh(p)")
    await window.open(at)

    async def found() -> list[tuple[str, int]]:
        listed = await problems(window.host, host_file)
        return [(each["code"]["value"], each["range"][0]) for each in listed]

    await until(found, lambda listed: listed == [("shape-mismatch", at.line)])
    await until(lambda: hover(window.host, at), lambda text: "**`t` tanh**" in text)
    operand = Spot(host_file, at.line, at.column + len("tanh("))
    await until(
        lambda: places(window.host, "Definition", operand),
        lambda targets: targets == [(host_file, at.line - 1)],
    )
    assert "hlo" not in await hover(window.host, Spot(host_file, 0, 1))


async def test_problem_goes_with_the_correction(host_file: Path, window: Window) -> None:
    at = spot(host_file, "  ROOT t = f32[8,^64] tanh(p)")
    await window.open(at)
    await until(lambda: problems(window.host, host_file))
    place = {"$range": [at.line, at.column, at.line, at.column + 2]}
    await window.host.ask("edit", uri(host_file), place, "128")
    await until(lambda: problems(window.host, host_file), lambda listed: listed == [])


async def test_embedded_text_has_completion(folder: Path, window: Window) -> None:
    path = folder / "model.py"
    path.write_text(_WRONG_TEXTS["model.py"], "utf-8")
    at = spot(path, "tanh(^p)")
    await window.open(at)

    async def offered() -> list[str]:
        found = await window.host.command(
            "vscode.executeCompletionItemProvider", uri(path), at.position
        )
        return [str(getattr(each["label"], "label", each["label"])) for each in found["items"]]

    await until(offered, lambda labels: any("p" in label for label in labels))


async def test_file_without_hlo_starts_no_server(folder: Path, window: Window) -> None:
    other, model = folder / "other.cc", folder / "model.py"
    other.write_text("HloModule module(name);\n", "utf-8")
    model.write_text(_WRONG_TEXTS["model.py"], "utf-8")
    assert await window.open(other) == "cpp"
    extension = partial(window.host.ask, "extension", "hlo-lsp.hlo-lsp")
    await until(extension, lambda found: found["isActive"])
    assert not is_served(window)
    await window.open(model)
    await server(window)


async def test_setting_leaves_other_languages_alone(host_file: Path, window: Window) -> None:
    at = spot(host_file, "  ROOT t = f32[8,64] ^tanh(p)")
    await window.open(at)
    await until(lambda: problems(window.host, host_file))
    await window.host.ask("set", "hlo", "embeddedHlo", False)
    await until(lambda: problems(window.host, host_file), lambda listed: listed == [])
    assert not await hover(window.host, at)
