"""Tests for the pictures of the client.

    pytest tests/editors/vscode/test_pictures.py --take-pictures    # takes them again

Fonts differ between machines, so the tests compare the texts on the screen, kept beside each
picture, instead of pixels.
"""

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from editors.node import ROOT
from editors.vscode import scenes
from editors.vscode.marks import vscode
from editors.vscode.serving import CodeServer
from editors.vscode.window import Window

pytestmark = vscode(2)
PICTURES = ROOT / "vscode-client" / "pictures"
BYTES = 250_000
COLORS = 128


@pytest_asyncio.fixture(loop_scope="session")
async def stage(
    files: str, code_server: CodeServer, browser: Browser, corpus_small: Path, folder: Path
) -> AsyncIterator[Window]:
    """Return a window of the size of the pictures on the files of some scenes."""
    if files == "two targets":
        scenes.two_targets(corpus_small, folder)
    else:
        scenes.dump(corpus_small, folder, damaged=files == "damaged")
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(scenes.SETTINGS), "utf-8")
    context = await browser.new_context(viewport=scenes.SIZE, device_scale_factor=scenes.SCALE)
    window = await Window.show(code_server, context, folder)
    yield window
    await window.close()
    await context.close()


@pytest.mark.parametrize("files", sorted({scene.files for scene in scenes.SCENES.values()}))
async def test_pictures_match_vs_code(
    files: str, stage: Window, request: pytest.FixtureRequest
) -> None:
    for name, scene in scenes.SCENES.items():
        if scene.files != files:
            continue
        await stage.reset()
        await stage.host.command("workbench.action.closeSidebar")
        texts = await scene.show(stage)
        kept = PICTURES / f"{name}.json"
        if request.config.getoption("--take-pictures", default=False):
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
    assert set(pictures) == set(scenes.SCENES)
    assert max(pictures.values()) < BYTES


def _small(png: bytes) -> bytes:
    """Return the picture with few colors, which suffice for text."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image, io.BytesIO() as out:
        image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(
            out, "PNG", optimize=True
        )
        return out.getvalue()
