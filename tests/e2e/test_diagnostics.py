"""Diagnostics, pushed to editors that wait for them and pulled by those that ask."""

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, editor

Compiled = Callable[[str], Compile]


async def test_real_dumps_have_none(any_editor: Editor, compiled: Compiled) -> None:
    for name in ("one file", "tpu", "cpu", "gpu"):
        for path in compiled(name).files:
            if path.suffix == ".txt":
                assert await any_editor.open(path).codes() == [], path.name


async def test_diagnostic_appears_and_disappears_with_the_damage(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("one file").assignment)
    assert await file.codes() == []
    file.substitute("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
    (found,) = await file.diagnostics()
    assert (found.code, found.source) == ("size-mismatch", "hlo-lsp")
    assert found.severity is types.DiagnosticSeverity.Error
    assert "1,000" in found.message
    assert "1,024" in found.message
    assert file.text.spot("", found.range).selected == "1000"
    file.substitute("(size=1000", "(size=1024")
    assert await file.codes() == []


async def test_each_rule_speaks_up(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    damages = [
        ("offset=4096", "offset=4608", "out-of-bounds"),
        ("Total bytes used: 40448", "Total bytes used: 40449", "total-mismatch"),
        ("    xor.4{}:7-8", "    xor.4{}:9-8", "live-range-bounds"),
        ("    xor.4{}:7-8", "    xor.4{}:7-88", "live-range-bounds"),
        ("    xor.5{}: 4", "    xor.55{}: 4", "peak-list"),
        ("<170 xor.5 @6>\n", "<170 xor.5 @6\n", "syntax"),
    ]
    for old, new, code in damages:
        start = file.text.whole
        file.substitute(old.rstrip("\n"), new.rstrip("\n"))
        assert code in await file.codes()
        file.set(start)
        assert await file.codes() == []


async def test_places_on_box_drawing_lines_are_right(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("tpu").live_range)
    file.substitute("copy.11 (33.3%, total: 262 144 bytes", "copy.11 (33.3%, total: 262 144 bites")
    (found,) = await file.diagnostics()
    assert found.code == "syntax"
    line = file.text.lines[found.range.start.line]
    assert line.strip().startswith("│       ├── copy.11 (33.3%")
    assert file.text.column(found.range.end) == len(line)
    assert file.text.column(found.range.start) >= line.index("├")


async def test_what_belongs_together_is_shown_by_who_can(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("one file").assignment)
    file.substitute("offset=4096", "offset=4608")
    (found,) = await file.diagnostics()
    capabilities = any_editor.client.capabilities
    assert capabilities is not None
    assert capabilities.text_document is not None
    published = capabilities.text_document.publish_diagnostics
    assert published is not None
    if not published.related_information:
        assert found.related_information is None
        return
    assert found.related_information is not None
    (related,) = found.related_information
    spot = any_editor.spot(related.location)
    assert (spot.line.split(":")[0], spot.selected) == ("allocation 3", "4608")


async def test_a_client_that_pulls_gets_no_pushes(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("one file").assignment)
    file.substitute("offset=4096", "offset=4608")
    assert await file.codes() == ["out-of-bounds"]
    file.close()
    other = neovim.open(compiled("tpu").assignment)
    assert await other.codes() == []
    assert neovim.pushes(file.uri) == neovim.pushes(other.uri) == 0


async def test_a_second_pull_is_unchanged_until_something_changes(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    file, other = neovim.open(files.assignment), neovim.open(files.values)

    async def pull(previous: str | None) -> types.DocumentDiagnosticReport:
        return await neovim.reply(
            neovim.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(file.document, previous_result_id=previous)
            )
        )

    first = await pull(None)
    assert isinstance(first, types.RelatedFullDocumentDiagnosticReport)
    assert await pull(first.result_id) == types.RelatedUnchangedDocumentDiagnosticReport(
        first.result_id or ""
    )
    other.substitute("<23 fusion.9 @0>", "<23 fusion.99 @0>")
    second = await pull(first.result_id)
    assert isinstance(second, types.RelatedFullDocumentDiagnosticReport)
    assert second.result_id != first.result_id
    file.substitute("(size=262144,offset=0)", "(size=26,offset=0)")
    third = await pull(second.result_id)
    assert isinstance(third, types.RelatedFullDocumentDiagnosticReport)
    assert "size-mismatch" in [found.code for found in third.items]


async def test_pulling_client_gets_refresh_requests(tmp_path: Path, compiled: Compiled) -> None:
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            diagnostic=types.DiagnosticClientCapabilities()
        ),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    async with editor(capabilities, tmp_path / "log") as pulling:
        pulling.open(compiled("tpu").assignment)
        await pulling.until(lambda: pulling.client.diagnostic_refresh_count > 0)


async def test_closing_clears_and_opening_looks_again(vscode: Editor, compiled: Compiled) -> None:
    path = compiled("one file").assignment
    file = vscode.open(path)
    file.substitute("offset=4096", "offset=4608")
    assert await file.codes() == ["out-of-bounds"]
    file.close()
    await vscode.until(lambda: vscode.last_pushed(file.uri) == [])
    assert await vscode.open(path, version=7).codes() == []


async def test_edit_of_a_companion_file_updates_diagnostics(
    vscode: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    ranges, values = vscode.open(files.live_range), vscode.open(files.values)
    assert await ranges.codes() == await values.codes() == []
    before = vscode.pushes(ranges.uri)
    assigned = vscode.open(files.assignment)
    values.substitute("<23 fusion.9 @0>", "<23 fusion.99 @0>")
    assert await values.codes() == ["header-mismatch"]
    assigned.substitute("<23 fusion.9 @0>", "<23 fusion.99 @0>")
    assert await assigned.codes() == []
    await vscode.until(lambda: vscode.pushes(ranges.uri) > before)
    await vscode.until(
        lambda: "live-range-unknown" in [str(d.code) for d in vscode.last_pushed(ranges.uri)]
    )


async def test_what_is_found_quickly_is_shown_first(vscode: Editor, compiled: Compiled) -> None:
    """Rule group by rule group: a line that is wrong by itself before what all values tell."""
    path = compiled("one file").assignment
    good = path.read_text("utf-8")
    rows = "".join(
        f" value: <{number} v.{number} @0> (size=512,offset=0): f32[4]{{0:T(128)}}\n"
        for number in range(1000, 21000)
    )
    damaged = good.replace("(size=1024,offset=0)", "(size=1000,offset=0)", 1)
    file = vscode.open(path, damaged.replace("allocation 1:", f"{rows}allocation 1:"))
    whole = [(one.code, one.range.start.line) for one in await file.diagnostics()]
    lists = vscode.lists(file.uri)
    assert lists[-1].version == file.version
    assert len(lists) > 1
    for early in lists[:-1]:
        assert early.version is None  # it is not all that there is to say of this text
        assert {(one.code, one.range.start.line) for one in early.diagnostics} <= set(whole)
    assert [one.code for one in lists[0].diagnostics] == ["size-mismatch"]
    assert len(whole) > 1
