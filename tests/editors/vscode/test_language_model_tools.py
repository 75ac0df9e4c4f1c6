"""Tests for the language-model tools of the client."""

from editors.conftest import Compile
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)


async def test_tool_answers_about_relative_path(dump: Compile, window: Window) -> None:
    tools = await until(lambda: window.host.ask("tools"))
    assert {"hlo_summary", "hlo_inspect"} <= set(tools)
    answer = await window.host.ask("invokeTool", "hlo_modules", {"path": dump.folder.name})
    assert "1.61 MiB HBM peak" in answer
    assert dump.path("").name.split(".after")[0] in answer
