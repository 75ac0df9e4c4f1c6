"""Tests for the time of programs in VS Code."""

from pathlib import Path

from editors.vscode.host import uri
from editors.vscode.marks import vscode
from editors.vscode.test_memory_map_panel import panel
from editors.vscode.waiting import until
from editors.vscode.window import LENS, Window
from lsp.test_comparison import write_dump
from reports.example import STEM
from stats.test_measured_programs import MODULE, written_profile

pytestmark = vscode(1)
_ROWS = ".quick-input-list .monaco-list-row"


async def test_loaded_profile_shows_where_time_goes(folder: Path, window: Window) -> None:
    path = folder / "module_0003.m.cpu_after_optimizations.txt"
    path.write_text(MODULE, "utf-8")
    (folder / "runs").mkdir()
    profile = written_profile(folder / "runs" / "host.xplane.pb", dot=10, neg=30, add=40)
    await window.open(path)
    await window.host.command("hlo.loadProfile", uri(profile))
    await until(
        window.shown(LENS),
        lambda texts: any("80.0 µs measured, median of 2 runs" in text for text in texts),
    )
    await window.run("HLO: Hottest Instructions")
    listed = await until(window.shown(_ROWS), lambda texts: len(texts) == 6)
    assert listed[0].startswith("other80.0 µs, 100%")
    assert listed[1].startswith("train.py:750.0 µs, 62%")
    assert listed[3].startswith("add40.0 µs, 50% · add · train.py:7")
    await window.page.keyboard.press("Escape")
    lens = window.page.locator(f"{LENS} a", has_text="80.0 µs measured")
    await window.click(lens, ".tab[aria-label*='Cost and Time m']")

    # A profile is compared with a chosen one.
    later = written_profile(folder / "host.xplane.pb", neg=40)
    await window.host.command("hlo.loadProfile", uri(later))
    await window.run("HLO: Compare Profiles...")
    listed = await until(window.shown(_ROWS), lambda texts: len(texts) == 2)
    assert listed[0].endswith("/runs/host.xplane.pb")
    await window.accept()
    await window.page.locator(".tab[aria-label*='Profile Comparison']").first.wait_for()


async def test_memory_map_shows_measured_times(folder: Path, window: Window) -> None:
    dump = write_dump(folder / "dump")
    # Problems of a file stay in VS Code if it is deleted right after it is closed.
    await window.host.configure({"hlo.check.ignore": ["size-mismatch", "sibling-missing"]})
    profile = written_profile(folder / "host.xplane.pb", 1, "jit_f", a=10, c=30)
    await window.open(dump / f"{STEM}-buffer-assignment.txt")
    page = await panel(window)
    await window.host.command("hlo.loadProfile", uri(profile))
    await page.get_by_label("Axis").select_option("measured own times")
    await until(
        page.locator(".subtitle").inner_text, lambda text: "measured own times 40.0 µs" in text
    )
