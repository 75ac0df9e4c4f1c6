"""What is wrong, what can be done about it, and the commands that tell of it or do it."""

from lsprotocol import types

from hlo_lsp.features import actions, explain, printed
from hlo_lsp.features.keepers import Keepers
from hlo_lsp.features.session import Session
from hlo_lsp.features.wire import Json
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.views.terminal import card_text, findings_text


def serve_diagnostics(server: HloServer, keepers: Keepers) -> None:
    """What is wrong, for clients that ask for it."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=True, identifier="hlo-lsp"
        ),
    )
    async def on_pull(params: types.DocumentDiagnosticParams) -> Json:
        return await keepers.puller.pull(params)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def on_pull_all(params: types.WorkspaceDiagnosticParams) -> Json:
        return await keepers.everything.pull(params)


def serve_actions(server: HloServer, session: Session) -> None:
    """What can be done about findings."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.OPTIONS)
    async def on_actions(params: types.CodeActionParams) -> actions.Actions | None:
        parts = await session.ask_all(params.text_document)
        return await actions.code_actions(parts, params, session.version) if parts else None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def on_action_resolve(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        parts = await session.ask_all(types.TextDocumentIdentifier(str(data.get("uri"))))
        return await actions.resolve(parts, action, session.version)


def serve_commands(server: HloServer, session: Session) -> None:
    """The commands that tell of findings and values as a terminal does, or do an action."""

    @server.command(explain.COMMAND)
    async def on_explain(code: str) -> None:
        await explain.explain(server, session.client, code)

    @server.command(printed.INSPECT)
    async def on_inspect(uri: str, position: types.Position) -> str:
        return await printed.inspected(session, uri, position, card_text)

    @server.command(printed.CHECK)
    async def on_check(uri: str) -> str:
        return await printed.checked(session, uri, findings_text)

    @server.command(actions.APPLY)
    async def on_apply(edit: types.WorkspaceEdit) -> None:
        await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))
