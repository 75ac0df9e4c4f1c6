"""The language server: the handlers of all requests and notifications."""

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import chain
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from hlo_lsp import __version__
from hlo_lsp.lsp import (
    actions,
    commands,
    completion,
    editing,
    inlay_hints,
    lenses,
    navigation,
    out_of_memory,
    symbols,
)
from hlo_lsp.lsp.client import Client, Json
from hlo_lsp.lsp.hover import hover, warm_up
from hlo_lsp.lsp.memory_map import MEMORY_MAP_METHOD, answer_memory_map
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.protocol import HloProtocol, HloServer
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.semantic_tokens import LEGEND
from hlo_lsp.lsp.services import Services
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.source_lines import SOURCE_LINES_METHOD
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_windows import FileWindows

MessageReply = Callable[[Session, DumpFile, Any], Any]


def create_server() -> HloServer:
    """Return a server for one connection."""
    server = HloServer("hlo-lsp", __version__, protocol_cls=HloProtocol)
    session = Session()
    services = Services(server, session, server.protocol.notify)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.protocol.workspace.position_encoding or "utf-16"
        session.client = Client.from_capabilities(
            params.capabilities, encoding, params.initialization_options
        )
        services.configuration.start(params)
        session.run_in_background(warm_up)

    registry = HandlerRegistry(server, session)
    _register_notifications(server, session, services)
    _register_positions(registry)
    _register_documents(registry)
    _register_views(server, session, services)
    _register_resolving(server, session)
    _register_commands(server, session, services)
    return server


class HandlerRegistry:
    """Registers handlers for requests about a position or about a whole document."""

    def __init__(self, server: HloServer, session: Session) -> None:
        self.server = server
        self.session = session

    def add_position_request(
        self,
        method: str,
        reply: Callable[[RequestContext, Any], Any],
        options: Any = None,
        *,
        whole: bool = False,
        closed: bool = False,
        in_message: MessageReply | None = None,
    ) -> None:
        """Register a handler for a request about a position; without a dump the result is null.

        The text may be ``closed``: clients show excerpts of files that they have not opened.
        ``in_message`` replies in a text that contains an out-of-memory message.
        """

        @self.server.feature(method, options)
        async def on_request(params: Any) -> Any:
            context = await self.session.context(
                params.text_document, params.position.line, whole=whole, closed=closed
            )
            if context is None:
                return await self._reply_in_message(in_message, params)
            return reply(context, params)

    async def _reply_in_message(self, reply: MessageReply | None, params: Any) -> Any:
        file = None if reply is None else await self.session.message_file(params.text_document)
        if reply is None or file is None:
            return None
        return await run_in_slices(partial(reply, self.session, file, params))

    def add_document_request(
        self,
        method: str,
        reply: Callable[[RequestContext, Any], Awaitable[list[Json]]],
        options: Any = None,
        join: Callable[[list[Json]], list[Json]] = list,
        in_message: MessageReply | None = None,
    ) -> None:
        """Register a handler for a request about a document, and join the results of its files.

        Background tasks are held up until the reply is complete, so it must not wait for one.
        """
        session = self.session

        @self.server.feature(method, options)
        async def on_request(params: Any) -> Any:
            async def reply_first(context: RequestContext) -> list[Json]:
                with session.foreground.hold_background():
                    return await reply(context, params)

            found = await session.answer_each(params.text_document, reply_first)
            if not found:
                return await self._reply_in_message(in_message, params)
            return join(list(chain.from_iterable(found)))


def _at(
    reply: Callable[[RequestContext, types.Position], Any],
) -> Callable[[RequestContext, Any], Any]:
    return lambda context, params: reply(context, params.position)


def _without_params(
    reply: Callable[[RequestContext], Awaitable[list[Json]]],
) -> Callable[[RequestContext, Any], Awaitable[list[Json]]]:
    return lambda context, _: reply(context)


def _register_notifications(server: HloServer, session: Session, services: Services) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        services.initialized()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        services.configuration.changed(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        services.files_changed(params)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        services.folders_changed()

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


def _register_positions(registry: HandlerRegistry) -> None:
    add = registry.add_position_request
    add(types.TEXT_DOCUMENT_HOVER, _at(hover), closed=True, in_message=out_of_memory.hover)
    add(
        types.TEXT_DOCUMENT_DEFINITION,
        _at(navigation.definition),
        whole=True,
        closed=True,
        in_message=out_of_memory.definition,
    )
    for method, find in {
        types.TEXT_DOCUMENT_DECLARATION: navigation.declaration,
        types.TEXT_DOCUMENT_TYPE_DEFINITION: navigation.type_definition,
        types.TEXT_DOCUMENT_IMPLEMENTATION: navigation.implementation,
    }.items():
        add(method, _at(find), whole=True, closed=True)
    add(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda context, p: navigation.references(
            context, p.position, with_declaration=p.context.include_declaration
        ),
        whole=True,
        closed=True,
    )
    add(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _at(navigation.highlight))
    add(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, _at(navigation.prepare_calls))
    add(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        _at(completion.signature_help),
        completion.SIGNATURE_OPTIONS,
    )
    add(types.TEXT_DOCUMENT_PREPARE_RENAME, _at(editing.prepare_rename))
    add(types.TEXT_DOCUMENT_RENAME, editing.rename, types.RenameOptions(prepare_provider=True))
    add(types.TEXT_DOCUMENT_LINKED_EDITING_RANGE, _at(editing.linked_editing_ranges))


def _register_documents(registry: HandlerRegistry) -> None:
    add = registry.add_document_request
    for method, reply in {
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: symbols.document_symbols,
        types.TEXT_DOCUMENT_FORMATTING: editing.format_document,
    }.items():
        add(method, _without_params(reply))
    add(
        types.TEXT_DOCUMENT_DOCUMENT_LINK,
        _without_params(navigation.document_links),
        in_message=out_of_memory.document_links,
    )
    add(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        _without_params(symbols.folding_ranges),
        join=lambda folds: symbols.largest(folds, registry.session.client.max_folding_ranges),
    )
    add(
        types.TEXT_DOCUMENT_CODE_LENS,
        _without_params(lenses.code_lenses),
        types.CodeLensOptions(resolve_provider=True),
    )
    add(
        types.TEXT_DOCUMENT_RANGE_FORMATTING,
        lambda context, p: editing.format_range(context, p.range),
    )


def _register_views(server: HloServer, session: Session, services: Services) -> None:
    """Register the requests whose results depend on more than one text."""
    tokens = services.semantic_tokens

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def on_full(params: types.SemanticTokensParams) -> Json | None:
        return await tokens.full(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)
    async def on_delta(params: types.SemanticTokensDeltaParams) -> Json | None:
        return await tokens.delta(params.text_document, params.previous_result_id)

    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)(tokens.range)

    reply = partial(inlay_hints.inlay_hints, session, services.refresh_hints.schedule)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT, inlay_hints.INLAY_HINT_OPTIONS)(reply)

    options = types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=True, identifier="hlo-lsp"
    )
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(services.diagnostics.pull)
    server.feature(types.WORKSPACE_DIAGNOSTIC)(services.workspace_diagnostics.pull)
    server.feature(types.WORKSPACE_SYMBOL)(services.workspace_symbols.find)
    server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)(partial(symbols.selection_ranges, session))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, completion.COMPLETION_OPTIONS)
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        context = await session.context(params.text_document, params.position.line)
        if context is None:  # a new file has no dump kind yet
            return completion.empty_file_completion(session, params)
        return completion.completion(context, params)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.CODE_ACTION_OPTIONS)
    async def on_actions(params: types.CodeActionParams) -> actions.Actions | None:
        contexts = await session.contexts(params.text_document)
        return await actions.code_actions(contexts, params) if contexts else None


def _register_resolving(server: HloServer, session: Session) -> None:
    """Register the requests about an item of an earlier result."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await navigation.incoming_calls(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await navigation.outgoing_calls(session, params.item)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def on_lens(lens: types.CodeLens) -> types.CodeLens:
        context = await session.context_of_data(lens.data)
        return lens if context is None else await lenses.resolve(context, lens)

    server.feature(types.INLAY_HINT_RESOLVE)(partial(inlay_hints.resolve, session))

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def on_item(item: types.CompletionItem) -> types.CompletionItem:
        return completion.resolve(await session.context_of_data(item.data), item)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def on_action(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        contexts = await session.contexts(types.TextDocumentIdentifier(str(data.get("uri"))))
        return await actions.resolve(contexts, action)


def _register_commands(server: HloServer, session: Session, services: Services) -> None:
    @server.command(commands.EXPLAIN_RULE_COMMAND)
    async def on_explain(code: str) -> None:
        await commands.explain_rule(server, session.client, code)

    @server.command(commands.INSPECT_COMMAND)
    async def on_inspect(uri: str, position: types.Position) -> str:
        return await commands.inspect_place(session, uri, position)

    @server.command(commands.SUMMARY_COMMAND)
    async def on_summary(uri: str, line: int) -> str:
        return await commands.summarize_uri(session, uri, line)

    @server.command(commands.CHECK_COMMAND)
    async def on_check(uri: str) -> str:
        return await commands.check_uri(session, uri)

    @server.command(actions.APPLY_COMMAND)
    async def on_apply(edit: types.WorkspaceEdit) -> None:
        try:
            await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))
        except JsonRpcException as error:
            raise RequestFailedError(f"error of the client: {error.message}") from None

    @server.command(commands.RESTART_COMMAND)
    def on_restart() -> None:
        services.reload()

    server.feature(commands.WINDOW_METHOD)(partial(commands.answer_window, FileWindows()))
    server.feature(SOURCE_LINES_METHOD)(services.source_lines.answer)
    server.feature(MEMORY_MAP_METHOD)(partial(answer_memory_map, session))
