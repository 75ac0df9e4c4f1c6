"""What is checked, changed while the server runs: settings of the editor, files beside dumps."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

Compiled = Callable[[str], Compile]
SIZE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
OFFSET = ("offset=4096", "offset=4608")
BOTH = {"size-mismatch", "out-of-bounds"}
WASTEFUL = """\
BufferAssignment:
allocation 0: size 8388608, maybe-live-out:
 value: <0 a @0> (size=8388608,offset=0): f32[16384,1]{1,0:T(8,128)}
"""
ASKED = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(
            dynamic_registration=True
        ),
    )
)


def damaged(at: Editor, path: Path) -> OpenFile:
    """Open a dump with two damages."""
    file = at.open(path)
    file.substitute(*SIZE)
    file.substitute(*OFFSET)
    return file


async def shows(file: OpenFile, codes: set[str]) -> None:
    """Wait until all of these are shown, and nothing else."""

    def shown() -> set[str]:
        return {str(found.code) for found in file.editor.last_pushed(file.uri)}

    if file.editor.pulls:
        assert {str(found.code) for found in await file.diagnostics()} == codes
    else:
        await file.editor.until(lambda: shown() == codes)


def change(at: Editor, check: object) -> None:
    """Change the setting ``hlo.check``, as an editor tells it to a server that has not asked."""
    params = types.DidChangeConfigurationParams({"hlo": {"check": check}})
    at.client.workspace_did_change_configuration(params)


async def test_rules_are_chosen_while_the_server_runs(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = damaged(any_editor, compiled("one file").assignment)
    any_editor.client.set_configuration({"hlo": {}})
    await shows(file, BOTH)
    for check, codes in (
        ({"ignore": ["size"]}, {"out-of-bounds"}),
        ({"select": ["size-mismatch"]}, {"size-mismatch"}),
        ({"select": ["live-range"]}, set[str]()),
        ({}, BOTH),
    ):
        any_editor.client.set_configuration({"hlo": {"check": check}})
        change(any_editor, check)
        await shows(file, codes)


async def test_a_client_is_asked_for_its_settings(tmp_path: Path, compiled: Compiled) -> None:
    async with editor(ASKED, tmp_path / "log") as asked:
        asked.client.set_configuration({"hlo": {"check": {"ignore": ["size-mismatch"]}}})
        file = damaged(asked, compiled("one file").assignment)
        asked.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await shows(file, {"out-of-bounds"})


async def test_thresholds_say_when_there_is_advice(any_editor: Editor) -> None:
    file = any_editor.open("untitled:wasteful", WASTEFUL)
    for size, codes in ((8388608, {"padding-waste"}), (8388609, set[str]())):
        check = {"select": ["padding-waste"], "thresholds": {"padding_bytes": size}}
        any_editor.client.set_configuration({"hlo": {"check": check}})
        change(any_editor, check)
        await shows(file, codes)
    any_editor.client.set_configuration({"hlo": {}})
    change(any_editor, {})


async def test_invalid_setting_is_reported_once_then_ignored(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = damaged(any_editor, compiled("one file").assignment)
    check = {"ignore": ["size-mismach"], "severity": "error"}
    any_editor.client.set_configuration({"hlo": {"check": check}})
    change(any_editor, check)
    await any_editor.until(lambda: bool(any_editor.client.messages))
    message = any_editor.client.messages.pop().message
    assert message == (
        "hlo.check.ignore: unknown rule `size-mismach`; did you mean `size-mismatch`?"
    )
    await shows(file, BOTH)
    any_editor.client.set_configuration({"hlo": {}})
    change(any_editor, {})


@pytest.mark.parametrize("above", [0, 1, 2])
async def test_config_file_is_created_changed_and_deleted(
    any_editor: Editor, compiled: Compiled, tmp_path: Path, above: int
) -> None:
    """Nobody tells the server: some clients watch nothing, and none above its folders."""
    path = compiled("one file").assignment
    deep = tmp_path / "runs" / "today" / path.name
    deep.parent.mkdir(parents=True)
    deep.write_bytes(path.read_bytes())
    file = damaged(any_editor, deep)
    await shows(file, BOTH)
    settings = deep.parents[above] / "hlo-lsp.toml"
    settings.write_text('ignore = ["size-mismatch"]\n', "utf-8")
    await shows(file, {"out-of-bounds"})
    settings.write_text('select = ["size-mismatch"]\n', "utf-8")
    await shows(file, {"size-mismatch"})
    settings.unlink()
    await shows(file, BOTH)


async def test_config_file_event_may_precede_other_events(
    vscode: Editor, compiled: Compiled
) -> None:
    path = compiled("one file").assignment
    file = damaged(vscode, path)
    await shows(file, BOTH)
    settings = path.with_name("hlo-lsp.toml")
    settings.write_text('ignore = ["size-mismatch"]\n', "utf-8")
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Created)
    vscode.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await shows(file, {"out-of-bounds"})


async def test_config_file_error_is_reported_with_its_line(
    any_editor: Editor, compiled: Compiled
) -> None:
    path = compiled("one file").assignment
    settings = path.with_name("hlo-lsp.toml")
    settings.write_text('# ours\nignore = ["size-mismach", "out-of-bounds"]\n', "utf-8")
    file = damaged(any_editor, path)
    await shows(file, {"size-mismatch"})
    message = any_editor.client.messages.pop().message
    assert message == (
        f"{settings}:2: ignore: unknown rule `size-mismach`; did you mean `size-mismatch`?"
    )


async def test_new_settings_refresh_pulled_diagnostics(tmp_path: Path, compiled: Compiled) -> None:
    pulls = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            diagnostic=types.DiagnosticClientCapabilities()
        ),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    path = compiled("one file").assignment
    async with editor(pulls, tmp_path / "log") as pulling:
        file = damaged(pulling, path)
        await shows(file, BOTH)
        await pulling.until(lambda: pulling.client.diagnostic_refresh_count > 0)
        told = pulling.client.diagnostic_refresh_count
        path.with_name("hlo-lsp.toml").write_text('ignore = ["out-of-bounds"]\n', "utf-8")
        await pulling.until(lambda: pulling.client.diagnostic_refresh_count > told)
        await shows(file, {"size-mismatch"})
