"""Registration of the handlers of all requests and notifications."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from itertools import chain
from typing import Any

from lsprotocol import types

from hlo_lsp.lsp import (
    actions,
    calls,
    commands,
    completion,
    formatting,
    hover,
    lenses,
    navigation,
    renaming,
    symbols,
)
from hlo_lsp.lsp.inlay_hints import INLAY_HINT_OPTIONS, InlayHints
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.protocol import HloServer
from hlo_lsp.lsp.semantic_tokens import LEGEND, SemanticTokens
from hlo_lsp.lsp.services import Services
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.terminal import card_text, findings_text
from hlo_lsp.model.file_windows import FileWindows


class HandlerRegistry:
    """Registers handlers for requests about a position or about a whole document."""

    def __init__(self, server: HloServer, session: Session) -> None:
        self._server = server
        self._session = session

    def add_position_request(
        self,
        method: str,
        reply: Callable[[RequestContext, Any], Any],
        options: Any = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> None:
        """Register a handler for a request about a position; without a dump the result is null.

        The text may be ``closed``: clients show excerpts of files that they have not opened.
        """

        @self._server.feature(method, options)
        async def on_request(params: Any) -> Any:
            line = params.position.line
            context = await self._session.context(
                params.text_document, line, whole=whole, closed=closed
            )
            result = None if context is None else reply(context, params)
            return await result if isawaitable(result) else result

    def add_document_request(
        self,
        method: str,
        reply: Callable[[RequestContext, Any], Awaitable[list[Json]]],
        options: Any = None,
        join: Callable[[list[Json]], list[Json]] = list,
    ) -> None:
        """Register a handler for a request about a document, and join the results of its files.

        Background tasks are held up until the reply is complete, so it must not wait for one.
        """
        session = self._session

        @self._server.feature(method, options)
        async def on_request(params: Any) -> list[Json] | None:
            async def reply_first(context: RequestContext) -> list[Json]:
                with session.foreground.hold_background():
                    return await reply(context, params)

            found = await session.answer_each(params.text_document, reply_first)
            return join(list(chain.from_iterable(found))) if found else None


def register_positions(registry: HandlerRegistry) -> None:
    """Register hover, navigation, references, highlights, and the call hierarchy."""
    add_position_request = registry.add_position_request
    add_position_request(
        types.TEXT_DOCUMENT_HOVER, lambda context, p: hover.hover(context, p.position), closed=True
    )
    _register_navigation(registry, types.TEXT_DOCUMENT_DEFINITION, navigation.definition)
    _register_navigation(registry, types.TEXT_DOCUMENT_DECLARATION, navigation.declaration)
    _register_navigation(registry, types.TEXT_DOCUMENT_TYPE_DEFINITION, navigation.type_definition)
    _register_navigation(registry, types.TEXT_DOCUMENT_IMPLEMENTATION, navigation.implementation)
    add_position_request(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda context, p: navigation.references(
            context, p.position, with_declaration=p.context.include_declaration
        ),
        whole=True,
        closed=True,
    )
    add_position_request(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        lambda context, p: navigation.highlight(context, p.position),
    )
    add_position_request(
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
        lambda context, p: calls.prepare(context, p.position),
    )


def _register_navigation(
    registry: HandlerRegistry, method: str, find: Callable[[RequestContext, types.Position], Any]
) -> None:
    """Register a navigation request, which searches all files of the compile."""
    registry.add_position_request(
        method, lambda context, p: find(context, p.position), whole=True, closed=True
    )


def register_calls(server: HloServer, session: Session) -> None:
    """Register the requests about a call hierarchy item."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await calls.incoming(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await calls.outgoing(session, params.item)


def register_documents(server: HloServer, session: Session, registry: HandlerRegistry) -> None:
    """Register the requests about whole texts."""
    add_document_request = registry.add_document_request
    add_document_request(
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda context, _: symbols.document_symbols(context)
    )
    add_document_request(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        lambda context, _: symbols.folding_ranges(context),
        join=lambda folds: symbols.largest(folds, session.client.max_folding_ranges),
    )
    add_document_request(
        types.TEXT_DOCUMENT_DOCUMENT_LINK, lambda context, _: navigation.document_links(context)
    )
    add_document_request(
        types.TEXT_DOCUMENT_CODE_LENS,
        lambda context, _: lenses.code_lenses(context),
        types.CodeLensOptions(resolve_provider=True),
    )

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def on_selection(params: types.SelectionRangeParams) -> list[Json] | None:
        return await symbols.selection_ranges(session, params)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def on_lens_resolve(lens: types.CodeLens) -> types.CodeLens:
        context = await session.context_of_data(lens.data)
        return lens if context is None else await lenses.resolve(context, lens)


def register_tokens(server: HloServer, semantic_tokens: SemanticTokens) -> None:
    """Register the requests for semantic tokens."""

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def on_full(params: types.SemanticTokensParams) -> Json | None:
        return await semantic_tokens.full(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)
    async def on_delta(params: types.SemanticTokensDeltaParams) -> Json | None:
        return await semantic_tokens.delta(params.text_document, params.previous_result_id)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    async def on_range(params: types.SemanticTokensRangeParams) -> Json | None:
        return await semantic_tokens.range(params)


def register_hints(server: HloServer, inlay_hints: InlayHints) -> None:
    """Register the requests for inlay hints."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, INLAY_HINT_OPTIONS)
    async def on_hints(params: types.InlayHintParams) -> list[Json] | None:
        return await inlay_hints.hints(params)

    @server.feature(types.INLAY_HINT_RESOLVE)
    async def on_hint_resolve(hint: types.InlayHint) -> types.InlayHint:
        return await inlay_hints.resolve(hint)


def register_completion(server: HloServer, session: Session) -> None:
    """Register completion, which is also available in files that have no dump kind yet."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, completion.COMPLETION_OPTIONS)
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        context = await session.context(params.text_document, params.position.line)
        if context is None:
            return completion.empty_file_completion(session, params)
        return completion.completion(context, params)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def on_completion_resolve(item: types.CompletionItem) -> types.CompletionItem:
        return completion.resolve(await session.context_of_data(item.data), item)


def register_writing(session: Session, registry: HandlerRegistry) -> None:
    """Register signature help, renaming, linked editing, and formatting."""
    registry.add_position_request(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        lambda context, p: completion.signature_help(context, p.position),
        completion.SIGNATURE_OPTIONS,
    )
    registry.add_position_request(
        types.TEXT_DOCUMENT_PREPARE_RENAME,
        lambda context, p: renaming.prepare_rename(context, p.position),
    )
    registry.add_position_request(
        types.TEXT_DOCUMENT_RENAME,
        lambda context, p: renaming.rename(context, p, session.version(context.file.uri)),
        types.RenameOptions(prepare_provider=True),
    )
    registry.add_position_request(
        types.TEXT_DOCUMENT_LINKED_EDITING_RANGE,
        lambda context, p: renaming.linked_editing_ranges(context, p.position),
    )
    registry.add_document_request(
        types.TEXT_DOCUMENT_FORMATTING, lambda context, _: formatting.format_document(context)
    )
    registry.add_document_request(
        types.TEXT_DOCUMENT_RANGE_FORMATTING,
        lambda context, p: formatting.format_range(context, p.range),
    )


def register_diagnostics(server: HloServer, services: Services) -> None:
    """Register the requests for diagnostics."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=True, identifier="hlo-lsp"
        ),
    )
    async def on_pull(params: types.DocumentDiagnosticParams) -> Json:
        return await services.puller.pull(params)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def on_pull_all(params: types.WorkspaceDiagnosticParams) -> Json:
        return await services.workspace_diagnostics.pull(params)


def register_actions(server: HloServer, session: Session) -> None:
    """Register the requests for code actions."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.CODE_ACTION_OPTIONS)
    async def on_actions(params: types.CodeActionParams) -> actions.Actions | None:
        contexts = await session.contexts(params.text_document)
        return await actions.code_actions(contexts, params, session.version) if contexts else None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def on_action_resolve(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        contexts = await session.contexts(types.TextDocumentIdentifier(str(data.get("uri"))))
        return await actions.resolve(contexts, action, session.version)


def register_commands(server: HloServer, session: Session) -> None:
    """Register the commands."""

    @server.command(commands.EXPLAIN_RULE_COMMAND)
    async def on_explain(code: str) -> None:
        await commands.explain_rule(server, session.client, code)

    @server.command(commands.INSPECT_COMMAND)
    async def on_inspect(uri: str, position: types.Position) -> str:
        return await commands.inspect_place(session, uri, position, card_text)

    @server.command(commands.CHECK_COMMAND)
    async def on_check(uri: str) -> str:
        return await commands.check_uri(session, uri, findings_text)

    @server.command(actions.APPLY_COMMAND)
    async def on_apply(edit: types.WorkspaceEdit) -> None:
        await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))


RESTART_COMMAND = "hlo.server.restartIndex"


def register_workspace(server: HloServer, services: Services) -> None:
    """Register settings, watched files, workspace folders, and workspace symbols."""

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        services.initialized()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        services.configuration.changed(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        services.watcher.changed(params)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        services.folders_changed()

    @server.feature(types.WORKSPACE_SYMBOL)
    async def find(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        return await services.workspace_symbols.find(params)

    @server.command(RESTART_COMMAND)
    def restart() -> None:
        services.reload()


def register_texts(server: HloServer, session: Session, services: Services) -> None:
    """Register the notifications about open documents."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        services.opened(session.open(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        file = session.edit(params)
        if file is not None:
            services.changed(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        file = session.close(params.text_document.uri)
        if file is not None:
            services.closed(file)


def register_windows(server: HloServer) -> None:
    """Register the request for parts of files that are too large to open."""
    windows = FileWindows()

    @server.feature(commands.WINDOW_METHOD)
    async def on_window(params: Any) -> Json | None:
        return await commands.answer_window(windows, params)
