"""Tests for the colors of tokens on the screen."""

import json
from pathlib import Path

import pytest_asyncio

from editors.client import FOLDER as CLIENT
from editors.vscode.dump import lines
from editors.vscode.host import Spot, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.themes import color_of, colors
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
# The colors of places in lines of text: [[line, column], ...] -> [color, ...].
_COLORS = """(places) => {
  const lines = [...document.querySelectorAll(".editor-instance .view-line")];
  return places.map(([text, column]) => {
    const line = lines.find((each) => each.textContent.replaceAll("\u00a0", " ") === text);
    const walker = line && document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let at = 0; walker?.nextNode(); at += walker.currentNode.length) {
      if (column < at + walker.currentNode.length) {
        return getComputedStyle(walker.currentNode.parentElement).color;
      }
    }
    return null;
  });
}"""
# What VS Code takes for a type of its own (tokenClassificationRegistry.ts) when a theme does not
# name ours; of those that are super types here the ones that differ from our scopes.
_OF_VSCODE = {"macro": ["entity.name.function.preprocessor"]}
WRITTEN = """\
HloModule small

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %idle = f32[4] negate(%x)
  ROOT %sum = f32[4] add(%x, %x)
}
"""
Token = tuple[str, int, int]  # type, line and column from 0
THEME, THEME_FILE = "Default Light+", "light_plus.json"


def scopes_of(kind: str, modifiers: list[str]) -> list[str]:
    """Return the TextMate scopes of a token from the client's manifest.

    VS Code uses the most specific selector that matches.
    """
    contributes = json.loads((CLIENT / "package.json").read_text("utf-8"))["contributes"]
    (declared,) = contributes["semanticTokenScopes"]
    fitting = [
        selector.split(".")
        for selector in declared["scopes"]
        if set(selector.split(".")) <= {kind, *modifiers}
    ]
    longest = max(fitting, key=len)
    scopes: list[str] = declared["scopes"][".".join(longest)]
    supers = {each["id"]: each["superType"] for each in contributes["semanticTokenTypes"]}
    return [*scopes, *_OF_VSCODE.get(supers.get(kind, ""), [])]


@pytest_asyncio.fixture(loop_scope="session")
async def theme(window: Window) -> str:
    """Set a theme, without hints."""
    chosen = {
        "workbench.colorTheme": THEME,
        "editor.inlayHints.enabled": "off",
        "editor.stickyScroll.enabled": False,
    }
    await window.host.configure(chosen)
    return THEME


async def test_tokens_have_colors_of_their_scopes(theme: str, folder: Path, window: Window) -> None:
    path = folder / "written.hlo"
    path.write_text(WRITTEN, "utf-8")
    at = spot(path, "%^idle")
    expected = await colors_by_token(theme, at, window)
    assert {kind for kind, _, _ in expected} >= {"elementType", "opcode", "instruction", "number"}
    assert len(set(expected.values())) >= 4
    comment = colors(THEME_FILE)["comment"]
    faint = [token for token, color in expected.items() if color == comment]
    assert faint == [("instruction", at.line, at.column - 1)]  # nothing uses it
    await on_the_screen(expected, lines(path), window)


async def colors_by_token(theme: str, at: Spot, window: Window) -> dict[Token, str]:
    """Return the expected colors of the tokens around a place."""
    await window.open(at)
    tokens = await until(lambda: window.host.ask("tokens", uri(at.path)))
    by_scope = colors(THEME_FILE)
    return {
        (kind, line, column): color_of(scopes_of(kind, modifiers), by_scope)
        for line, column, length, kind, modifiers in tokens
        if abs(line - at.line) < 12 and column + length < 90
    }


async def on_the_screen(expected: dict[Token, str], text: list[str], window: Window) -> None:
    """Wait until tokens have their colors."""

    async def wrong() -> dict[Token, tuple[str, str]]:
        places = [[text[line], column] for _, line, column in expected]
        shown = await window.page.evaluate(_COLORS, places)
        return {
            token: (color, right)
            for (token, right), color in zip(expected.items(), shown, strict=True)
            if color != right
        }

    await until(wrong, lambda found: found == {})
