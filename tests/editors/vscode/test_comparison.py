"""Tests for the comparison of two compiles in VS Code."""

import asyncio
import json
from pathlib import Path

from editors.compared import changed_copy
from editors.conftest import Compile
from editors.vscode.dump import MODULE
from editors.vscode.dump_rows import expand, rows, show_view
from editors.vscode.host import uri
from editors.vscode.marks import vscode
from editors.vscode.scenes import compare, two_targets
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)


def document(side: str, before: Path, after: Path) -> dict[str, str]:
    """Return the URI of a compared text."""
    sides = {
        name: {"uri": path.as_uri(), "line": 0}
        for name, path in (("before", before), ("after", after))
    }
    return uri(f"hlo-compare:/{side}.hlo?{json.dumps(sides, separators=(',', ':'))}")


async def test_tree_and_lists_of_compiles_open_comparison(
    folder: Path, corpus_small: Path, window: Window
) -> None:
    await show_view(window)
    two_targets(corpus_small, folder)
    await until(lambda: rows(window), lambda shown: any("· 2 compiles" in r for r in shown))
    await expand(window, "jit_rm")
    await compare(window)
    labels = {"v5e → v5p jit_rm (before ↔ after)", "Preview v5e → v5p jit_rm.md"}
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: labels <= {tab["label"] for tab in tabs},
    )
    page = window.page.frame_locator(".webview.ready").frame_locator("#active-frame")
    await page.get_by_role("link", name="after").first.click()
    path, line = await until(window.front, lambda front: front[0].suffix == ".txt")
    assert path.parent.name == "v5p"
    assert line.startswith("  %")

    # The lists offer the open compile, and then the same function.
    (module,) = folder.glob("v5e/*.jit_rm.cl_*.after_optimizations.txt")
    await window.open(module)
    comparing = asyncio.create_task(window.host.command("hlo.compareWith"))
    row = window.page.locator(".quick-input-list .monaco-list-row")
    await until(row.first.inner_text, lambda text: "v5e/" in text and "jit_rm" in text)
    await row.first.click()
    await until(row.first.inner_text, lambda text: "v5p/" in text and "jit_rm" in text)
    await window.page.keyboard.press("Escape")
    await comparing


async def test_memory_maps_and_definitions_of_the_compared_texts(
    dump: Compile, window: Window
) -> None:
    after = changed_copy(dump, dump.folder / "after")
    paths = dump.path(MODULE), after.path(MODULE)
    documents = [document(side, *paths) for side in ("before", "after")]
    await window.host.command("vscode.diff", *documents, "compared")
    path, _ = await until(window.front)
    assert "after.hlo" in str(path)
    text = (await window.host.ask("text", documents[1])).split("\n")
    line = next(number for number, each in enumerate(text) if " divide(" in each)
    place = {"$position": [line, text[line].index(" = ") - 1]}
    found = await window.host.command("vscode.executeDefinitionProvider", documents[1], place)
    assert {Path(each["uri"]) for each in found} == set(paths)

    await window.run("HLO: Memory Map")
    page = window.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    await page.locator(".memory-map.comparing[data-boxes]").wait_for()
    await until(
        page.locator(".caption strong").all_inner_texts,
        lambda titles: titles == ["Before", "After"],
    )
    await page.get_by_role("group", name="Memory space").get_by_text("VMEM").click()
    await page.get_by_role("searchbox").fill("fusion.15")
    await page.get_by_role("searchbox").press("Enter")
    await window.host.command("workbench.action.focusFirstEditorGroup")
    await until(window.front, lambda front: front[1].startswith("  fusion.15 = "))
