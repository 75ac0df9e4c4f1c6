"""Tests for links from dumps to Python files, and for the source map setting."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from e2e.asking import hover_facts
from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

Compiled = Callable[[str], Compile]
NO_CAPABILITIES = types.ClientCapabilities()
MISSING_SOURCE = "(not on this machine; see hlo.sourceMap)"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with the Python file that the corpus names."""
    folder = tmp_path / "my sources"
    folder.mkdir()
    (folder / "programs.py").write_text("\n" * 300)
    return folder


def source_map(folder: Path | str) -> dict[str, Any]:
    return {"sourceMap": {"/home/user/models": str(folder)}}


async def links(file: OpenFile) -> list[tuple[str, str]]:
    """Return the links of a file: their texts and targets."""
    client = file.editor.client
    params = types.DocumentLinkParams(file.document)
    found = await file.editor.reply(client.text_document_document_link_async(params))
    places = [(link.range.start, link.range.end, str(link.target)) for link in found or ()]
    lines, column = file.text.lines, file.text.column
    return [(lines[a.line][column(a) : column(b)], target) for a, b, target in places]


def push_settings(client_editor: Editor, settings: Any) -> None:
    """Send settings in a ``didChangeConfiguration`` notification."""
    params = types.DidChangeConfigurationParams(settings)
    client_editor.client.workspace_did_change_configuration(params)


@pytest.mark.parametrize("options", [lambda section: section, lambda section: {"hlo": section}])
async def test_every_link_of_a_module_has_a_line(
    tmp_path: Path, compiled: Compiled, sources: Path, options: Callable[[Any], Any]
) -> None:
    async with editor(
        NO_CAPABILITIES, tmp_path / "log", options(source_map(sources))
    ) as client_editor:
        found = await links(client_editor.open(compiled("tpu").module))
        target = f"{sources.as_uri()}/programs.py"
        assert "my%20sources" in target
        assert found[0] == ('"/home/user/models/programs.py"', f"{target}#L1")
        lines = dict(found)
        assert lines["line=53 end_line=53 column=19 end_column=22"] == f"{target}#L53"
        assert {text.partition("=")[0] for text in list(lines)[1:]} == {
            "line",
            "file_location_id",
            "stack_frame_id",
        }
        values = await links(client_editor.open(compiled("tpu").values))
        assert values
        assert all(text.startswith("stack_frame_id=") for text, _ in values)
        assert all(lines[text] == target for text, target in values)


async def test_settings_are_requested_again_after_changes(
    tmp_path: Path, compiled: Compiled, sources: Path
) -> None:
    async with editor("neovim@v0.11", tmp_path / "log") as client_editor:
        files = compiled("tpu")
        module, assignment = client_editor.open(files.module), client_editor.open(files.assignment)
        assert await links(module) == []
        client_editor.client.set_configuration({"hlo": source_map(sources)})
        push_settings(client_editor, None)
        assert len(await links(module)) > 10
        facts = await hover_facts(assignment, " value: <23 fusion.9", "fusion.9")
        link = f"[/home/user/models/programs.py:53]({sources.as_uri()}/programs.py#L53)"
        assert facts["source"].startswith(f"{link} in whileloop")
        assert MISSING_SOURCE not in facts["source"]
        client_editor.client.set_configuration({"hlo": {}})
        push_settings(client_editor, {"hlo": {}})
        assert await links(module) == []
