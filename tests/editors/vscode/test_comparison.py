"""Tests for the comparison of two compiles in VS Code."""

import json
from pathlib import Path

from editors.compared import changed_copy
from editors.conftest import Compile
from editors.vscode.dump import MODULE
from editors.vscode.dump_rows import ROW, choose, expand, rows
from editors.vscode.host import uri
from editors.vscode.marks import VSCODE
from editors.vscode.scenes import compare, two_targets
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
PICK = ".quick-input-list .monaco-list-row"


def document(side: str, before: Path, after: Path) -> dict[str, str]:
    """Return the URI of a compared text."""
    sides = {
        name: {"uri": path.as_uri(), "line": 0}
        for name, path in (("before", before), ("after", after))
    }
    return uri(f"hlo-compare:/{side}.hlo?{json.dumps(sides, separators=(',', ':'))}")


async def test_tree_opens_answer_and_texts(dump: Compile, window: Window) -> None:
    changed_copy(dump, window.folder / "after")
    await window.host.command("hlo.dumps.focus")
    await until(lambda: rows(window), lambda shown: any("2 compiles" in row for row in shown))
    await expand(window, "jit_mlp_train")
    await window.page.locator(ROW, has_text="after/module_0000").first.wait_for()
    await choose(window, "after/module_0000", "Compare With")
    await until(window.shown(PICK), lambda shown: len(shown) == 2)
    await window.page.keyboard.press("Enter")
    labels = {"jit_mlp_train (before ↔ after)", "Preview Comparison.md"}
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: labels <= {tab["label"] for tab in tabs},
    )


async def test_answer_links_to_buffers_of_dump(
    folder: Path, corpus_small: Path, window: Window
) -> None:
    two_targets(corpus_small, folder)
    await window.host.command("hlo.dumps.focus")
    await until(lambda: rows(window), lambda shown: any("jit_rm" in row for row in shown))
    await expand(window, "jit_rm")
    await compare(window)
    page = window.page.frame_locator(".webview.ready").frame_locator("#active-frame")
    await page.get_by_role("link", name="after").first.click()
    path, line = await until(window.front, lambda front: front[0].suffix == ".txt")
    assert path.parent.name == "v5p"
    assert line.startswith("  %")


async def test_compared_texts_differ_in_one_line(dump: Compile, window: Window) -> None:
    after = changed_copy(dump, window.folder / "after")
    paths = dump.path(MODULE), after.path(MODULE)
    documents = [document(side, *paths) for side in ("before", "after")]
    texts = [await window.host.ask("text", one) for one in documents]
    first, second = (text.split("\n") for text in texts)
    changed = [
        (line, other)
        for line, (one, other) in enumerate(zip(first, second, strict=True))
        if one != other
    ]
    ((line, text),) = changed
    assert " divide(" in text
    place = {"$position": [line, text.index(" = ") - 1]}
    found = await window.host.command("vscode.executeDefinitionProvider", documents[1], place)
    assert {Path(each["uri"]) for each in found} == set(paths)


async def test_memory_maps_open_from_the_compared_texts(dump: Compile, window: Window) -> None:
    after = changed_copy(dump, window.folder / "after")
    documents = [
        document(side, dump.path(MODULE), after.path(MODULE)) for side in ("before", "after")
    ]

    async def opened() -> str:
        # A window that has just started can give the focus to something else.
        await window.host.command("vscode.diff", *documents, "compared")
        path, _ = await window.front()
        return str(path)

    await until(opened, lambda path: "after.hlo" in path)
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
