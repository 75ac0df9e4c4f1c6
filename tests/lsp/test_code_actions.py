"""Tests for the code actions of findings, by client capabilities."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from hlo_lsp.checks.catalogue import selected_rules
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.run import check
from hlo_lsp.lsp import scheduling, session
from hlo_lsp.lsp.client import Client, diagnostic_json
from hlo_lsp.lsp.code_actions import APPLY_COMMAND, FIX_ALL, code_actions, resolve
from hlo_lsp.lsp.findings import all_findings, known_findings
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.text.document import Document
from lsp.opened import DUMP, at, context, context_in, item

FULL_CLIENT = Client(
    can_version_edits=True,
    can_create_files=True,
    can_show_code_actions=True,
    can_prefer_actions=True,
    can_resolve_edits=True,
)
DAMAGED = DUMP.replace("<2 add @1> (size=512", "<2 add @1> (size=500").replace(
    "used: 2048 (2.0KiB)", "used: 2049 (2.0KiB)"
)
QUICK = types.CodeActionKind.QuickFix


async def open_dump(folder: Path, text: str, client: Client) -> RequestContext:
    session = Session()
    session.client = client
    file = session.open(item((folder / "dump.txt").as_uri(), text, version=7))
    found = await context_in(session, types.TextDocumentIdentifier(file.uri))
    assert found is not None
    return found


async def actions(
    context: RequestContext,
    line: str,
    word: str = "",
    only: list[str | types.CodeActionKind] | None = None,
) -> list[types.CodeAction | types.Command]:
    place = at(context.file.document.text, line, word)
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(context.file.uri),
        types.Range(place, place),
        types.CodeActionContext([], only),
    )
    return await code_actions(context.session, params) or []


def apply_edit(text: str, edit: types.WorkspaceEdit | None) -> str:
    """Return the text after an edit of one file."""
    assert edit is not None
    changes = list((edit.changes or {}).values())
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        changes.append(list(change.edits))  # type: ignore[arg-type]
    (edits,) = changes
    document = Document(text)
    for text_edit in sorted(edits, key=lambda text_edit: text_edit.range.start, reverse=True):
        start, end = text_edit.range.start, text_edit.range.end
        document.edit((start.line, start.character), (end.line, end.character), text_edit.new_text)
    return document.text


async def test_finding_can_be_fixed_explained_and_ignored(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    fix, explain, ignore, fix_all = await actions(context, " value: <2 add", "500")
    assert isinstance(fix, types.CodeAction)
    assert (fix.title, fix.kind, fix.is_preferred) == ("Change to 512", QUICK, True)
    assert fix.edit is not None
    assert fix.edit.document_changes is not None
    (change,) = fix.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == 7
    assert apply_edit(DAMAGED, fix.edit) == DAMAGED.replace("size=500", "size=512")
    assert isinstance(explain, types.CodeAction)
    assert explain.command is not None
    assert explain.command.arguments == ["size-mismatch"]
    assert ignore.title == f"Ignore size-mismatch in folder {tmp_path.name}"
    assert fix_all.title == "Fix all derivable values"


async def test_other_lines_offer_only_fix_all(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    (fix_all,) = await actions(context, "allocation 0")
    assert isinstance(fix_all, types.CodeAction)
    assert fix_all.kind == FIX_ALL
    assert fix_all.edit is None
    resolved = await resolve(context.session, fix_all)
    assert apply_edit(DAMAGED, resolved.edit) == DUMP


async def test_intact_dump_has_no_actions(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DUMP, FULL_CLIENT)
    assert await actions(context, " value: <2 add", "512") == []


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ([QUICK], 3),
        ([types.CodeActionKind.Source], 1),
        ([types.CodeActionKind.SourceFixAll], 1),
        ([FIX_ALL], 1),
        ([types.CodeActionKind.Refactor], 0),
        (["source.fixAll.other"], 0),
        ([types.CodeActionKind.Empty], 4),
    ],
)
async def test_only_requested_kinds_are_offered(
    tmp_path: Path, only: list[str | types.CodeActionKind], count: int
) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    assert len(await actions(context, " value: <2 add", "500", only)) == count


async def test_resolving_keeps_an_edit(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    fix, *_ = await actions(context, " value: <2 add", "500")
    assert isinstance(fix, types.CodeAction)
    edit = fix.edit
    assert edit is not None
    assert (await resolve(context.session, fix)).edit is edit


async def test_actions_include_edits_without_resolve_support(tmp_path: Path) -> None:
    client = replace(
        FULL_CLIENT, can_resolve_edits=False, can_version_edits=False, can_prefer_actions=False
    )
    context = await open_dump(tmp_path, DAMAGED, client)
    fix, _, ignore, fix_all = await actions(context, " value: <2 add", "500")
    assert isinstance(fix, types.CodeAction)
    assert isinstance(ignore, types.CodeAction)
    assert isinstance(fix_all, types.CodeAction)
    assert fix.is_preferred is None
    assert ignore.edit is not None
    assert apply_edit(DAMAGED, fix_all.edit) == DUMP


async def test_client_without_action_literals_gets_commands(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, Client(can_apply_edits=True))
    found = await actions(context, " value: <2 add", "500")
    commands = [one.command for one in found if isinstance(one, types.Command)]
    assert commands == [APPLY_COMMAND, "hlo.explainRule", APPLY_COMMAND]
    context = await open_dump(tmp_path, DAMAGED, Client())
    (explain,) = await actions(context, " value: <2 add", "500")
    assert explain.command == "hlo.explainRule"


async def test_action_names_its_diagnostics(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    place = at(DAMAGED, " value: <2 add", "500")
    span = types.Range(place, types.Position(place.line, place.character + 3))
    message = next(f.message for f in all_findings([context]) if f.code == "size-mismatch")
    matching = types.Diagnostic(span, message, code="size-mismatch")
    other = types.Diagnostic(span, "something else", code="E501")
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(context.file.uri),
        span,
        types.CodeActionContext([other, matching], [QUICK]),
    )
    for action in await code_actions(context.session, params) or ():
        assert isinstance(action, types.CodeAction)
        assert action.diagnostics == [matching]


async def test_named_diagnostics_have_actions_at_any_cursor(
    tmp_path: Path,
) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    finding = next(one for one in all_findings([context]) if one.code == "size-mismatch")
    place = at(DAMAGED, " value: <2 add")
    span = context.client.range(finding.place)
    assert place < span.start

    async def action_titles(message: str) -> list[str]:
        diagnostic = types.Diagnostic(span, message, code=finding.code)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(context.file.uri),
            types.Range(place, place),
            types.CodeActionContext([diagnostic], [QUICK]),
        )
        return [action.title for action in await code_actions(context.session, params) or ()]

    assert (await action_titles(finding.message))[0] == "Change to 512"
    assert await action_titles("of an older text") == []


async def test_ignore_action_creates_a_config_file(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    _, _, ignore, _ = await actions(context, " value: <2 add", "500")
    assert isinstance(ignore, types.CodeAction)
    resolved = await resolve(context.session, ignore)
    assert resolved.edit is not None
    assert resolved.edit.document_changes is not None
    create, write = resolved.edit.document_changes
    assert isinstance(create, types.CreateFile)
    assert create.uri == (tmp_path / CONFIG_FILE_NAME).as_uri()
    assert isinstance(write, types.TextDocumentEdit)
    assert [edit.new_text for edit in write.edits] == [  # type: ignore[union-attr]
        'ignore = ["size-mismatch"]\n'
    ]


async def test_ignore_action_edits_the_applicable_config_file(tmp_path: Path) -> None:
    text = '# ours\nignore = ["overlap"]\n'
    (tmp_path / CONFIG_FILE_NAME).write_text(text)
    (tmp_path / "runs").mkdir()
    client = replace(FULL_CLIENT, can_resolve_edits=False)
    context = await open_dump(tmp_path / "runs", DAMAGED, client)
    _, _, ignore, _ = await actions(context, " value: <2 add", "500")
    assert isinstance(ignore, types.CodeAction)
    assert ignore.title.endswith(f"in folder {tmp_path.name}")
    assert apply_edit(text, ignore.edit) == '# ours\nignore = ["overlap", "size-mismatch"]\n'


async def test_invalid_config_file_has_no_ignore_action(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text("ignore = [")
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    titles = [one.title for one in await actions(context, " value: <2 add", "500")]
    assert not any(title.startswith("Ignore") for title in titles)


async def test_automatic_request_starts_no_check(tmp_path: Path) -> None:
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    place = at(DAMAGED, " value: <2 add", "500")

    async def action_titles(kind: types.CodeActionTriggerKind) -> list[str]:
        request = types.CodeActionContext([], None, kind)
        document = types.TextDocumentIdentifier(context.file.uri)
        params = types.CodeActionParams(document, types.Range(place, place), request)
        return [action.title for action in await code_actions(context.session, params) or ()]

    assert await action_titles(types.CodeActionTriggerKind.Automatic) == []
    assert (await action_titles(types.CodeActionTriggerKind.Invoked))[0] == "Change to 512"
    assert (await action_titles(types.CodeActionTriggerKind.Automatic))[0] == "Change to 512"


async def test_large_document_uses_diagnostics_of_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_FULL_ANSWER_LINES", 0)
    monkeypatch.setattr(scheduling, "_SLICE_SECONDS", 0)
    context = await open_dump(tmp_path, DAMAGED, FULL_CLIENT)
    place = at(DAMAGED, " value: <2 add", "500")

    async def action_titles(*diagnostics: types.Diagnostic, only: str | None = None) -> list[str]:
        request = types.CodeActionContext(list(diagnostics), None if only is None else [only])
        document = types.TextDocumentIdentifier(context.file.uri)
        params = types.CodeActionParams(document, types.Range(place, place), request)
        return [action.title for action in await code_actions(context.session, params) or ()]

    # The edits of the whole text are unknown until the check is complete.
    assert await action_titles() == []
    assert known_findings(context) is None
    selection = context.selection
    rules, thresholds = selected_rules(selection), selection.thresholds
    first = check(context.dump, context.file, rules, thresholds)[0]
    json = diagnostic_json(context.client, first)
    diagnostic = get_converter().structure(json, types.Diagnostic)
    assert (await action_titles(diagnostic))[0] == "Change to 512"
    assert known_findings(context) is None
    assert await action_titles(only=FIX_ALL) == ["Fix all derivable values"]
    assert known_findings(context) is not None


@pytest.mark.parametrize("can_compile", [True, False])
async def test_donation_can_be_compiled(can_compile: bool) -> None:
    text = """\
HloModule f, is_scheduled=true

ENTRY main {
  x = f32[1048576]{0:T(1024)} parameter(0)
  ROOT y = f32[1048576]{0:T(1024)} negate(x)
}
"""
    context_ = await context(text, replace(FULL_CLIENT, can_compile=can_compile))
    found = await actions(context_, "  x = ", "x")
    commands = [one.command for one in found if isinstance(one, types.CodeAction) and one.command]
    compiling = [one.arguments for one in commands if one.command == "hlo.compile"]
    expected = [[context_.file.uri, {"donate": []}]] if can_compile else []
    assert compiling == expected
