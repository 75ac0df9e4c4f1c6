"""The start of the server, in a folder that the user does not trust."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from editors.conftest import Compile
from editors.vscode.conftest import Show
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import Spot, hover, spot
from editors.vscode.marks import vscode
from editors.vscode.processes import command, is_served, server
from editors.vscode.pythons import plain_python
from editors.vscode.serving import CodeServer
from editors.vscode.test_python_notes import write_program
from editors.vscode.waiting import until

pytestmark = vscode(2)
TRUST = {
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
}
OTHER_TEXTS = {
    "todo.txt": ("allocation of time: none\n", "plaintext"),
    "other.cc": ("HloModule module(name);\n", "cpp"),
}


@pytest.fixture
def ran(folder: Path) -> Path:
    """Return the file that the server program in the setting of the folder writes when it runs."""
    ran = folder.parent / "ran"
    program = folder / "hlo-lsp"
    served = f'exec "{sys.executable}" -m hlo_lsp "$@"'
    program.write_text(f'#!/bin/sh\necho "$@" >"{ran}"\n{served}\n', "utf-8")
    program.chmod(0o755)
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hlo.server.path": "./hlo-lsp"}), "utf-8")
    return ran


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return plain_python(tmp_path / "plain")


@pytest_asyncio.fixture(loop_scope="session")
async def server_without_trust(
    extensions: list[Path], python: Path, tmp_path: Path
) -> AsyncIterator[CodeServer]:
    """Start a code-server that trusts no folder."""
    server = CodeServer(tmp_path / "code-server", str(python.parent), TRUST)
    try:
        await server.start(extensions)
        yield server
    finally:
        server.stop()


async def test_python_file_beside_dumps_starts_no_program_of_untrusted_folder(
    ran: Path, dump: Compile, python: Path, server_without_trust: CodeServer, show: Show
) -> None:
    window = await show(server_without_trust, dump.folder)
    assert not await window.host.ask("isTrusted")
    for name, (text, language) in OTHER_TEXTS.items():
        path = dump.folder / name
        path.write_text(text, "utf-8")
        assert await window.open(path) == language
        await until(
            lambda: window.host.ask("extension", "hlo-lsp.hlo-lsp"),
            lambda state: state["isActive"],
        )
        assert await hover(window.host, Spot(path, 0, 0)) == ""
        assert not is_served(window)
    assert await window.open(write_program(dump.folder)) == "python"
    first = await server(window)
    assert command(first)[0] == str(python)
    assert not ran.exists()

    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    card = await until(
        lambda: hover(window.host, at),
        lambda text: "**`fusion`**" in text and "**uses**" in text,
    )
    await window.run("Workspaces: Manage Workspace Trust")
    await window.page.locator(
        ".workspace-trust-editor .monaco-button", has_text="Trust"
    ).first.click()
    await until(lambda: window.host.ask("isTrusted"))
    assert await server(window, but=first) != first
    assert ran.read_text("utf-8").split() == ["--stdio"]
    await until(lambda: hover(window.host, at), lambda text: text == card)
