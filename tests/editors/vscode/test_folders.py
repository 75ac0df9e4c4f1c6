"""Tests for a workspace of several folders, each with its own hlo-lsp.toml."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from e2e.compiles import copy_dump
from editors.vscode.host import Host, problems, uri
from editors.vscode.marks import vscode
from editors.vscode.processes import server
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(2)
_LOAD_SECONDS = 20.0


@pytest.fixture
def folders(corpus_small: Path, tmp_path: Path) -> dict[str, Path]:
    """Return damaged buffer assignments of one program for three backends, each in a folder."""
    paths = {}
    for name in ("tpu", "cpu", "gpu"):
        path = paths[name] = copy_dump(corpus_small, name, tmp_path / name).assignment
        text = path.read_text("utf-8")
        path.write_text(
            text.replace("(size=262144,offset=0)", "(size=262145,offset=0)", 1), "utf-8"
        )
    return paths


@pytest_asyncio.fixture(loop_scope="session")
async def workspace(
    folders: dict[str, Path], code_server: CodeServer, browser: Browser, tmp_path: Path
) -> AsyncIterator[Window]:
    """Open a window on two of the folders."""
    file = tmp_path / "two.code-workspace"
    file.write_text(json.dumps({"folders": [{"path": "tpu"}, {"path": "cpu"}]}), "utf-8")
    first = tmp_path / "tpu"
    context = await browser.new_context()
    page = await context.new_page()
    shown = Window(page, Host(code_server.ports, first), first)

    async def opened() -> bool:
        # VS Code sometimes opens the workspace without its folders, until the page is loaded again.
        await page.goto(f"{code_server.address}/?{urlencode({'workspace': str(file)})}")
        await page.locator(".monaco-workbench .part.editor").wait_for()
        with suppress(AssertionError):
            ask = partial(shown.host.ask, "extension", "hlo-lsp.hlo-lsp")
            return bool(await until(ask, seconds=_LOAD_SECONDS))
        return False

    await until(opened)
    yield shown
    await shown.close()
    await context.close()


async def test_each_folder_has_own_dumps_and_configuration(
    folders: dict[str, Path], workspace: Window
) -> None:
    tpu, cpu, gpu = (folders[name] for name in ("tpu", "cpu", "gpu"))
    # A text of another language with HLO in it starts the server.
    notes = tpu.parent / "notes.md"
    notes.write_text("```hlo\nHloModule m\n```\n", "utf-8")
    await workspace.open(notes)
    await server(workspace)
    await workspace.open(cpu)
    for path in (cpu, tpu):  # both, and one is not open
        await until(partial(codes, workspace, path), ["size-mismatch"].__eq__)
    assert await until(lambda: names(workspace, "multiply_add_fusion")) == {"cpu"}
    assert await names(workspace, "loop_add_fusion") == set()

    await workspace.host.ask("addFolder", uri(gpu.parent))
    assert await until(lambda: names(workspace, "loop_add_fusion")) == {"gpu"}
    await until(lambda: codes(workspace, gpu), ["size-mismatch"].__eq__)

    (cpu.parent / "hlo-lsp.toml").write_text('ignore = ["size-mismatch"]\n', "utf-8")
    await until(lambda: problems(workspace.host, cpu), lambda found: not found)
    assert await codes(workspace, tpu) == ["size-mismatch"]


async def codes(window: Window, path: Path) -> list[str]:
    """Return the codes of the problems of a file."""
    return [each["code"]["value"] for each in await problems(window.host, path)]


async def names(window: Window, name: str) -> set[str]:
    """Return the folders that have a symbol of this name."""
    found = await window.host.command("vscode.executeWorkspaceSymbolProvider", name)
    return {Path(each["location"]["uri"]).parent.name for each in found if each["name"] == name}
