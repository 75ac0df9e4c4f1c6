"""Tests for changes of settings while the server runs."""

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.asking import code_lens_titles
from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM

Compiled = Callable[[str], Compile]
SIZE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
OFFSET = ("offset=4096", "offset=4608")
BOTH = {"size-mismatch", "out-of-bounds"}
PULLED_CONFIGURATION = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(
            dynamic_registration=True
        ),
    )
)


def open_damaged(at: Editor, path: Path) -> OpenFile:
    """Open a dump, and damage a size and an offset."""
    file = at.open(path)
    file.substitute(*SIZE)
    file.substitute(*OFFSET)
    return file


async def wait_for_codes(file: OpenFile, codes: set[str]) -> None:
    """Wait until the diagnostics of a file have exactly these codes."""

    def published() -> set[str]:
        return {str(found.code) for found in file.editor.last_published(file.uri)}

    if file.editor.pulls_diagnostics:
        assert {str(found.code) for found in await file.diagnostics()} == codes
    else:
        await file.editor.wait_until(lambda: published() == codes)


def push_check_setting(at: Editor, check: object) -> None:
    """Send the setting ``hlo.check`` in a ``didChangeConfiguration`` notification."""
    params = types.DidChangeConfigurationParams({"hlo": {"check": check}})
    at.client.workspace_did_change_configuration(params)


async def test_server_requests_the_configuration(tmp_path: Path, compiled: Compiled) -> None:
    async with editor(PULLED_CONFIGURATION, tmp_path / "log") as client_editor:
        client_editor.client.set_configuration({"hlo": {"check": {"ignore": ["size-mismatch"]}}})
        file = open_damaged(client_editor, compiled("one file").assignment)
        client_editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(None)
        )
        await wait_for_codes(file, {"out-of-bounds"})


async def test_workspace_setting_selects_owner_lines(neovim: Editor, tmp_path: Path) -> None:
    module = MODULE.replace("/home/user/model.py", "/srv/app/model.py")
    module = module.replace("\n\nFunctionNames", '\n2 "/srv/lib/nn.py"\n\nFunctionNames')
    module = module.replace("2 {file_name_id=1", "2 {file_name_id=2")
    texts = {"": module, "-live-range": RANGES, "-buffer-assignment": ASSIGNMENT}
    for part, text in texts.items():
        (tmp_path / f"{STEM}{part}.txt").write_text(text, "utf-8")
    file = neovim.open(tmp_path / f"{STEM}-buffer-assignment.txt")

    async def owner() -> str:
        command = types.ExecuteCommandParams("hlo.server.summary", [file.uri, 0])
        summary = await neovim.reply(neovim.client.workspace_execute_command_async(command))
        titles = [title for _, title in await code_lens_titles(file)]
        names = ("nn.py:3", "model.py:7")
        found = {name for name in names if any(name in title for title in titles[1:])}
        assert found == {name for name in names if f"{name}" in str(summary)}
        return " ".join(sorted(found))

    for workspace, expected in (
        ([], "model.py:7 nn.py:3"),
        (["/srv/app"], "model.py:7"),
        (["/srv/lib"], "model.py:7 nn.py:3"),
    ):
        settings = {"hlo": {"workspace": workspace, "codeLens": "all"}}
        neovim.client.set_configuration(settings)
        params = types.DidChangeConfigurationParams(settings)
        neovim.client.workspace_did_change_configuration(params)
        assert await owner() == expected
