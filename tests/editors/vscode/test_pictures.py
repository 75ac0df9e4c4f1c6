"""Tests for the pictures of the client.

    pytest tests/editors/vscode/test_pictures.py --take-pictures    # takes them again

Fonts differ between machines, so the tests compare the texts on the screen, kept beside each
picture, instead of pixels.
"""

import io
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext

from editors.node import ROOT
from editors.vscode import scenes
from editors.vscode.marks import vscode
from editors.vscode.serving import CodeServer
from editors.vscode.window import Window

pytestmark = vscode(2)
PICTURES = ROOT / "vscode-client" / "pictures"
BYTES = 250_000
COLORS = 128
_WITH_JAX = "compile"  # of tools/corpus/what_if.py, compiled with donations; not taken again here


@pytest.fixture
def takes_pictures(request: pytest.FixtureRequest) -> bool:
    """Return whether to take the pictures again."""
    return bool(request.config.getoption("--take-pictures", default=False))


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser, takes_pictures: bool) -> AsyncIterator[BrowserContext]:
    scale = scenes.SCALE if takes_pictures else 1  # drawing more pixels takes longer
    context = await browser.new_context(viewport=scenes.SIZE, device_scale_factor=scale)
    yield context
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def stage(
    code_server: CodeServer, context: BrowserContext, folder: Path
) -> AsyncIterator[Window]:
    """Return a window of the size of the pictures."""
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(scenes.SETTINGS), "utf-8")
    window = await Window.show(code_server, context, folder)
    yield window
    await window.close()


async def test_pictures_match_vs_code(
    stage: Window, corpus_small: Path, takes_pictures: bool
) -> None:
    files = None
    for name, scene in scenes.SCENES.items():
        await stage.reset()
        if scene.files is not files:
            files = scene.files
            scenes.replace_files(stage.folder, partial(files, corpus_small))
        await stage.host.command("workbench.action.closeSidebar")
        texts = await scene.show(stage)
        kept = PICTURES / f"{name}.json"
        if takes_pictures:
            PICTURES.mkdir(exist_ok=True)
            # Shadows and fading end with the animations.
            screen = await stage.page.screenshot(
                animations="disabled",
                caret="hide",
                clip={"x": 0, "y": 0, "width": scenes.SIZE["width"], "height": scene.height},
            )
            (PICTURES / f"{name}.png").write_bytes(_small(screen))
            kept.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", "utf-8")
        assert json.loads(kept.read_text("utf-8")) == texts, (
            f"take the pictures again, and look at {name}"
        )


async def test_pictures_are_small() -> None:
    pictures = {path.stem: path.stat().st_size for path in PICTURES.glob("*.png")}
    assert set(pictures) == {*scenes.SCENES, _WITH_JAX}
    assert max(pictures.values()) < BYTES


def _small(png: bytes) -> bytes:
    """Return the picture with few colors, which suffice for text."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image, io.BytesIO() as out:
        image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(
            out, "PNG", optimize=True
        )
        return out.getvalue()
