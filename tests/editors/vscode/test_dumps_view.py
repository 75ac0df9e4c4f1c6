"""Tests for the view *HLO Dumps*."""

import os
import sys
from pathlib import Path

import pytest_asyncio

from editors.conftest import Compile
from editors.vscode.conftest import copied
from editors.vscode.dump import ASSIGNMENT, MODULE
from editors.vscode.dump_rows import ROW, choose, expand, rows, show_view
from editors.vscode.marks import vscode
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import until
from editors.vscode.window import Window
from remote_servers import http_folder

pytestmark = vscode(1)


@pytest_asyncio.fixture(loop_scope="session")
async def compile_in_view(folder: Path, compile_v5e: Compile, window: Window) -> Compile:
    """Return a compile that the view lists as soon as its files exist."""
    await show_view(window)
    copy = copied(compile_v5e, folder)
    await until(lambda: rows(window), ["jit_mlp_train1.61 MiB HBM peak"].__eq__)
    return copy


async def test_compile_shows_files_buffers_and_views(
    compile_in_view: Compile, code_server: CodeServer, window: Window
) -> None:
    await expand(window, "jit_mlp_train")
    await expand(window, "largest buffers")
    await until(
        lambda: rows(window),
        lambda shown: (
            {"buffer assignment", "after optimizations"} <= set(shown)
            and any("1.00 MiB · f32[" in row for row in shown)
        ),
    )
    await window.page.locator(ROW, has_text="buffer assignment").first.click()
    await until(window.front, lambda front: front[0] == compile_in_view.path(ASSIGNMENT))

    old = code_server.folder / "user" / "User" / "globalStorage" / "hlo-lsp.hlo-lsp" / f"{1:012x}"
    old.mkdir(parents=True)
    (old / "page.md").touch()
    os.utime(old / "page.md", (0, 0))
    await choose(window, "jit_mlp_train", "Summary")
    summary = "Preview Summary jit_mlp_train.md"
    await until(lambda: labels(window), lambda shown: summary in shown)
    # VS Code can run a command of a menu twice, and shows two previews then.
    page = window.page.frame_locator(".webview.ready").first.frame_locator("#active-frame")
    await page.get_by_role("link", name="step").first.click()
    await until(window.front, lambda front: front[0] == compile_in_view.path(MODULE))
    await page.get_by_role("heading").first.wait_for()  # beside the file
    (sentence,) = await page.locator("p", has_text="Arguments:").all_inner_texts()
    assert "\N{NO-BREAK SPACE}KiB" in sentence
    assert " KiB" not in sentence
    await until(lambda: no_file(old))
    await choose(window, "jit_mlp_train", "Memory Map")
    await until(lambda: labels(window), lambda shown: "Memory Map: jit_mlp_train" in shown)


async def test_summary_after_a_change_is_of_the_new_compile(dump: Compile, window: Window) -> None:
    path = dump.path(MODULE)
    text = path.read_text("utf-8")
    page = window.page.frame_locator(".webview.ready").first.frame_locator("#active-frame")
    for name in ("weights", "biases"):
        path.write_text(text.replace("params[1]", f"{name}[1]"), "utf-8")
        await window.host.command("hlo.memorySummary", path.as_uri())
        await page.get_by_text(f"{name}[1]").first.wait_for()
        await window.host.command("workbench.action.closeActiveEditor")


async def test_remote_folder_with_hosts_is_listed_until_it_is_closed(
    compile_v5e: Compile, window: Window, tmp_path: Path
) -> None:
    (tmp_path / "remote").mkdir()
    paths = list(copied(compile_v5e, tmp_path / "remote").folder.iterdir())
    folders = ("pod/host_0", "pod/host_1")
    files = {f"/{each}/{path.name}": path.read_bytes() for each in folders for path in paths}
    row = "jit_mlp_train1.61 MiB HBM peak"
    with http_folder(files) as server:
        pod = f"{server.url}/pod/"
        await show_view(window)
        await window.host.command("hlo.openRemoteDumps", pod)
        await until(lambda: rows(window), [f"{row} · 2 hosts", shortened(pod)].__eq__)
        await window.reload()
        await window.host.command("hlo.dumps.focus")
        await until(lambda: rows(window), [f"{row} · 2 hosts", shortened(pod)].__eq__)

        await window.host.configure({"hlo.server.path": "/none"}, "Global")
        welcome = window.page.locator(".welcome-view-content:visible")
        await until(welcome.all_inner_texts, lambda texts: "does not run" in "".join(texts))
        await window.host.configure({"hlo.server.path": sys.executable}, "Global")

        await expand(window, "jit_mlp_train")
        await window.page.locator(ROW, has_text="buffer assignment").first.click()
        path, _ = await until(window.front, lambda front: front[0].suffix == ".txt")
        assert path.parent.name == "host_0"
        assert path.read_bytes() == compile_v5e.path(ASSIGNMENT).read_bytes()
        await window.choose("Open Same File of Another Host")
        await choose_host(window, "host_1")
        await until(window.front, lambda front: front[0].parent.name == "host_1")
        await window.choose("Compare With Another Host")
        await choose_host(window, "host_0")
        await until(
            lambda: labels(window),
            lambda shown: any(label.endswith("(before ↔ after)") for label in shown),
        )
        await close(window)
        await show_view(window)


async def close(window: Window) -> None:
    """Close the remote folder."""
    row = window.page.locator(ROW).last
    await row.hover()
    await row.get_by_role("button", name="Close Remote Dumps").click()


def shortened(url: str) -> str:
    return f"{url[:10]}…{url[-11:]}"


async def choose_host(window: Window, name: str) -> None:
    entries = window.page.locator(".quick-input-list .monaco-list-row")
    await entries.filter(has_text=name).click()


async def no_file(path: Path) -> bool:
    return not path.exists()


async def labels(window: Window) -> list[str]:
    """Return the titles of the tabs."""
    return [tab["label"] for tab in await window.host.ask("tabs")]
