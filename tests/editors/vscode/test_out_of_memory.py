"""Tests for out-of-memory messages: language, outline, folds, hover, and links."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from editors.vscode.dump import lines
from editors.vscode.host import Spot, hover, uri
from editors.vscode.marks import VSCODE
from editors.vscode.test_outline import ROW
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window
from oom_messages import DUMP, LONG, text_of

pytestmark = VSCODE
_MODE = "[id='status.editor.mode']"
_TITLE = "XLA Out-of-Memory Message"


@pytest.fixture
def log(folder: Path) -> Path:
    """Return a log with a message, beside the dump that belongs to it."""
    for path in DUMP.iterdir():
        shutil.copy(path, folder)
    path = folder / "train.log"
    path.write_text("step 1\n" * 100 + text_of(LONG), "utf-8")
    return path


def _at(path: Path, text: str) -> Spot:
    number = next(n for n, line in enumerate(lines(path)) if text in line)
    return Spot(path, number, lines(path)[number].index(text))


async def test_content_and_name_determine_language(log: Path, window: Window) -> None:
    (table,) = log.parent.glob("*.oom_top_memory_consuming_instructions")
    (tensors,) = log.parent.glob("*.peak_memory_tensors.txt")
    for path in (log, table, tensors):
        await window.open(path)
        await until(window.shown(_MODE), [_TITLE].__eq__)


async def test_outline_shows_messages_and_buffers(log: Path, window: Window) -> None:
    await window.open(log)

    async def outlined() -> None:
        (message,) = await window.host.command("vscode.executeDocumentSymbolProvider", uri(log))
        assert message["name"] == "hbm: 15.75G of 15.75G"
        assert [len(each["children"]) for each in message["children"]] == [6, 8]

    await eventually(outlined)
    await window.host.command("outline.focus")
    assert await until(window.shown(ROW), lambda rows: any("fusion.4" in row for row in rows))


async def test_messages_and_buffers_fold(log: Path, window: Window) -> None:
    await window.open(log)

    async def starts() -> list[str]:
        found = await window.host.command("vscode.executeFoldingRangeProvider", uri(log))
        return [lines(log)[each["start"]].strip() for each in found or ()]

    # Until the server answers, VS Code folds by indentation.
    found = await until(starts, lambda found: "Largest program allocations in hbm:" in found)
    assert found.count("1. Size: 6.75G") == 2


async def test_click_on_source_opens_the_python_line(folder: Path, window: Window) -> None:
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hlo.sourceMap": {"/home/user/models": "."}}), "utf-8")
    program = folder / "oom.py"
    program.write_text("".join(f"line {number}\n" for number in range(1, 30)), "utf-8")
    log = folder / "train.log"
    log.write_text(text_of("libtpu_0.0.17.1_hbm"), "utf-8")
    await window.open(log)

    async def targets() -> list[str]:
        found = await window.host.command("vscode.executeLinkProvider", uri(log), 1000)
        return [str(each["target"]).removeprefix("file://") for each in found or ()]

    await until(targets, lambda found: any(each.startswith(str(program)) for each in found))
    await window.clear()  # VS Code asks for the links of an editor when it is opened
    await window.open(_at(log, "source_file="))
    link = window.page.locator(".editor-instance .detected-link", has_text="oom.py").first
    await link.wait_for()
    await window.host.command("editor.action.openLink")  # of the cursor
    await until(window.front, (program, "line 16").__eq__)


async def test_lens_of_message_opens_report(log: Path, window: Window) -> None:
    await window.open(log)

    async def commands() -> list[dict[str, Any]]:
        found = await window.host.command("vscode.executeCodeLensProvider", uri(log), 1000)
        return [lens["command"] for lens in found or () if lens.get("command")]

    (command, _) = await until(
        commands,
        lambda found: (
            [one["title"].split(",")[0] for one in found] == ["jit_train_step: not enough HBM"] * 2
        ),
    )
    await window.host.command(command["command"], *command["arguments"])
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: any("Memory Summary" in tab["label"] for tab in tabs),
    )


async def test_entry_leads_to_instruction(log: Path, window: Window) -> None:
    at = _at(log, "1. Size: 6.75G")
    await window.open(at)
    await until(lambda: hover(window.host, at), lambda text: "7,247,757,312 B (6.75 GiB)" in text)
    await until(
        lambda: window.host.command("vscode.executeDefinitionProvider", uri(log), at.position),
        lambda found: any(".after_optimizations.txt" in str(each) for each in found),
    )
