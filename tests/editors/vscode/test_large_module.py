"""Tests for a module of 22 MB, for which VS Code disables lenses and folding."""

import re
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import SUMMARY
from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, MODULE, lines
from editors.vscode.host import Spot, hover, places, problems, spot, uri
from editors.vscode.large import LIMIT_LINES, Train, notice, open_confirmed
from editors.vscode.marks import vscode
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(2)
EDITOR = ".editor-instance"
CRUMBS = ".breadcrumbs-control .monaco-breadcrumb-item"


@pytest.fixture
def train(train_l96: Path, folder: Path) -> Train:
    return Train(train_l96).copied((MODULE, ASSIGNMENT, LIVE_RANGE), folder)


@pytest.fixture
def settings(code_server: CodeServer) -> Iterator[None]:
    """Restore the user's settings."""
    path = code_server.folder / "user" / "User" / "settings.json"
    before = path.read_text("utf-8")
    yield
    path.write_text(before, "utf-8")


async def test_enabled_features_are_fast_and_setting_enables_others(
    settings: None,
    train: Train,
    compile_v5e: Compile,
    window: Window,
    record_property: Callable[[str, object], None],
) -> None:
    path = train.path(MODULE)
    text = lines(path)
    line = next(n for n, each in enumerate(text) if re.match(r"  %fusion\.6677 = ", each))
    at = Spot(path, line, text[line].index("fusion.6677") + 1)
    operand = Spot(path, line, text[line].index("%bitcast.11395") + 1)

    await open_confirmed(window, path)
    message = "is 21 MiB. VS Code turns off colors, folding, code lenses, and inlay hints"
    label, _ = await notice(window, message)
    assert label == "Turn Off Limits"
    await window.open(at)
    # Facts of the module come at once, those of companion files after they are read.
    rows = ("**`fusion.6677` fusion**", "**allocation**")
    size = "- **padded size** 131,072 B (128.0 KiB): fits"  # bf16[2,128,256]
    await until(
        lambda: hover(window.host, at), lambda card: all(row in card for row in (*rows, size))
    )
    await window.hovered("fusion.6677 fusion")
    defined = next(n for n, each in enumerate(text) if each.startswith("  %bitcast.11395 = "))
    assert await places(window.host, "Definition", operand) == [(path, defined)]
    # A large module is outlined without instructions.
    await until(window.shown(CRUMBS), [path.parent.name, path.name, "main.582"].__eq__)
    assert not await window.page.locator(f"{EDITOR} .codelens-decoration").count()
    assert not await window.page.locator(f"{EDITOR} .codicon-folding-expanded").count()

    # The number of an operand gets one digit more, and more: nothing has such a name.
    await window.open(Spot(path, line, text[line].index("%bitcast.11395") + len("%bitcast.11395")))
    taken = []
    for count in range(1, 4):
        begun = time.monotonic()
        await window.page.keyboard.press("7")
        await window.line("%bitcast.11395" + count * "7")
        assert "**`fusion.6677` fusion**" in await hover(window.host, at)
        taken.append(time.monotonic() - begun)
    quick = statistics.median(taken)
    record_property(
        SUMMARY, f"a key, then a hover: {quick * 1000:.0f} ms (worst {max(taken):.1f} s)"
    )
    (problem,) = await until(
        lambda: problems(window.host, path),
        lambda found: ["bitcast.11395777" in each["message"] for each in found] == [True],
    )
    assert problem["code"]["value"] == "undefined-instruction"
    await window.page.locator(f"{EDITOR} .squiggly-error").first.wait_for()
    typed = text[line].replace("%bitcast.11395", "%bitcast.11395777")
    assert (await window.host.ask("text", uri(path))).split("\n")[line] == typed

    _, button = await notice(window, message)  # VS Code can have closed the list meanwhile
    await button.click()
    await window.notification("Reopen the file")
    await window.reset()
    # The API of VS Code keeps the text of the first file, with its limits, for three minutes.
    long = compile_v5e.path(MODULE)
    copy = path.with_name(long.name)
    copy.write_text(long.read_text("utf-8") + "\n" * LIMIT_LINES, "utf-8")
    await window.open(spot(copy, "^ENTRY "))
    await until(
        window.shown(f"{EDITOR} .codelens-decoration"),
        lambda lenses: any("instructions" in each for each in lenses),
    )
