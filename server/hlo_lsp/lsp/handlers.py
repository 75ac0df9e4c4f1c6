"""How most requests are answered: about a place in a text, or about all that is in it."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from itertools import chain
from typing import Any

from lsprotocol import types

from hlo_lsp.lsp import actions, calls, completion, formatting, hover, lenses, symbols
from hlo_lsp.lsp import commands as explain
from hlo_lsp.lsp import commands as printed
from hlo_lsp.lsp import commands as window
from hlo_lsp.lsp import completion as signatures
from hlo_lsp.lsp import navigation as goto
from hlo_lsp.lsp import navigation as links
from hlo_lsp.lsp import navigation as references
from hlo_lsp.lsp import renaming as linked_editing
from hlo_lsp.lsp import renaming as rename
from hlo_lsp.lsp import symbols as folding
from hlo_lsp.lsp import symbols as selection
from hlo_lsp.lsp.inlay_hints import INLAY_HINT_OPTIONS as HINT_OPTIONS
from hlo_lsp.lsp.inlay_hints import InlayHints
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.protocol.connection import HloServer
from hlo_lsp.lsp.semantic_tokens import LEGEND, SemanticTokens
from hlo_lsp.lsp.services import Services
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.terminal import card_text, findings_text
from hlo_lsp.model.file_windows import FileWindows


class HandlerRegistry:
    """Registers them with what replies to each."""

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
        """Answer a request about a place: with nothing where no dump is.

        The text may be ``closed``: clients show parts of files that they cannot open.
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
        """Answer a request about a whole document: with the answers for each file in it.

        The reply must wait for no background task: those are held up until it is complete.
        """
        session = self._session

        @self._server.feature(method, options)
        async def on_request(params: Any) -> list[Json] | None:
            async def reply_first(context: RequestContext) -> list[Json]:
                with session.foreground.hold_background():
                    return await reply(context, params)

            found = await session.answer_each(params.text_document, reply_first)
            return join(list(chain.from_iterable(found))) if found else None


def register_positions(answers: HandlerRegistry) -> None:
    """The requests of people who read a dump."""
    add_position_request = answers.add_position_request
    add_position_request(
        types.TEXT_DOCUMENT_HOVER, lambda context, p: hover.hover(context, p.position), closed=True
    )
    _register_navigation(answers, types.TEXT_DOCUMENT_DEFINITION, goto.definition)
    _register_navigation(answers, types.TEXT_DOCUMENT_DECLARATION, goto.declaration)
    _register_navigation(answers, types.TEXT_DOCUMENT_TYPE_DEFINITION, goto.type_definition)
    _register_navigation(answers, types.TEXT_DOCUMENT_IMPLEMENTATION, goto.implementation)
    add_position_request(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda context, p: references.references(
            context, p.position, with_declaration=p.context.include_declaration
        ),
        whole=True,
        closed=True,
    )
    add_position_request(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        lambda context, p: references.highlight(context, p.position),
    )
    add_position_request(
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
        lambda context, p: calls.prepare(context, p.position),
    )


def _register_navigation(
    answers: HandlerRegistry, method: str, find: Callable[[RequestContext, types.Position], Any]
) -> None:
    """Where a place leads, in all files of the compile."""
    answers.add_position_request(
        method, lambda context, p: find(context, p.position), whole=True, closed=True
    )


def register_calls(server: HloServer, session: Session) -> None:
    """The two requests about an item that was prepared before."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await calls.incoming(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await calls.outgoing(session, params.item)


def register_documents(server: HloServer, session: Session, answers: HandlerRegistry) -> None:
    """The requests about all that is in a text."""
    add_document_request = answers.add_document_request
    add_document_request(
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda context, _: symbols.document_symbols(context)
    )
    add_document_request(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        lambda context, _: folding.folding_ranges(context),
        join=lambda folds: folding.largest(folds, session.client.max_folding_ranges),
    )
    add_document_request(
        types.TEXT_DOCUMENT_DOCUMENT_LINK, lambda context, _: links.document_links(context)
    )
    add_document_request(
        types.TEXT_DOCUMENT_CODE_LENS,
        lambda context, _: lenses.code_lenses(context),
        types.CodeLensOptions(resolve_provider=True),
    )

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def on_selection(params: types.SelectionRangeParams) -> list[Json] | None:
        return await selection.selection_ranges(session, params)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def on_lens_resolve(lens: types.CodeLens) -> types.CodeLens:
        context = await session.context_of_data(lens.data)
        return lens if context is None else await lenses.resolve(context, lens)


def register_tokens(server: HloServer, colours: SemanticTokens) -> None:
    """What each part of a text is."""

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def on_full(params: types.SemanticTokensParams) -> Json | None:
        return await colours.full(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)
    async def on_delta(params: types.SemanticTokensDeltaParams) -> Json | None:
        return await colours.delta(params.text_document, params.previous_result_id)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    async def on_range(params: types.SemanticTokensRangeParams) -> Json | None:
        return await colours.range(params)


def register_hints(server: HloServer, notes: InlayHints) -> None:
    """What is shown between the words of a text."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, HINT_OPTIONS)
    async def on_hints(params: types.InlayHintParams) -> list[Json] | None:
        return await notes.hints(params)

    @server.feature(types.INLAY_HINT_RESOLVE)
    async def on_hint_resolve(hint: types.InlayHint) -> types.InlayHint:
        return await notes.resolve(hint)


def register_completion(server: HloServer, session: Session) -> None:
    """What may come next, also in a text that is no dump yet."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, completion.COMPLETION_OPTIONS)
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        context = await session.context(params.text_document, params.position.line)
        if context is None:
            return completion.empty_file_completion(session, params)
        return completion.completion(context, params)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def on_completion_resolve(item: types.CompletionItem) -> types.CompletionItem:
        return completion.resolve(await session.context_of_data(item.data), item)


def register_writing(session: Session, answers: HandlerRegistry) -> None:
    """What an instruction takes, names that are changed together, and how text is laid out."""
    answers.add_position_request(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        lambda context, p: signatures.signature_help(context, p.position),
        signatures.SIGNATURE_OPTIONS,
    )
    answers.add_position_request(
        types.TEXT_DOCUMENT_PREPARE_RENAME,
        lambda context, p: rename.prepare_rename(context, p.position),
    )
    answers.add_position_request(
        types.TEXT_DOCUMENT_RENAME,
        lambda context, p: rename.rename(context, p, session.version(context.file.uri)),
        types.RenameOptions(prepare_provider=True),
    )
    answers.add_position_request(
        types.TEXT_DOCUMENT_LINKED_EDITING_RANGE,
        lambda context, p: linked_editing.linked_editing_ranges(context, p.position),
    )
    answers.add_document_request(
        types.TEXT_DOCUMENT_FORMATTING, lambda context, _: formatting.format_document(context)
    )
    answers.add_document_request(
        types.TEXT_DOCUMENT_RANGE_FORMATTING,
        lambda context, p: formatting.format_range(context, p.range),
    )


def register_diagnostics(server: HloServer, services: Services) -> None:
    """What is wrong, for clients that ask for it."""

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
        return await services.everything.pull(params)


def register_actions(server: HloServer, session: Session) -> None:
    """What can be done about findings."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.CODE_ACTION_OPTIONS)
    async def on_actions(params: types.CodeActionParams) -> actions.Actions | None:
        parts = await session.contexts(params.text_document)
        return await actions.code_actions(parts, params, session.version) if parts else None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def on_action_resolve(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        parts = await session.contexts(types.TextDocumentIdentifier(str(data.get("uri"))))
        return await actions.resolve(parts, action, session.version)


def register_commands(server: HloServer, session: Session) -> None:
    """The commands that tell of findings and values as a terminal does, or do an action."""

    @server.command(explain.EXPLAIN_RULE_COMMAND)
    async def on_explain(code: str) -> None:
        await explain.explain_rule(server, session.client, code)

    @server.command(printed.INSPECT_COMMAND)
    async def on_inspect(uri: str, position: types.Position) -> str:
        return await printed.inspect_place(session, uri, position, card_text)

    @server.command(printed.CHECK_COMMAND)
    async def on_check(uri: str) -> str:
        return await printed.check_uri(session, uri, findings_text)

    @server.command(actions.APPLY_COMMAND)
    async def on_apply(edit: types.WorkspaceEdit) -> None:
        await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))


RESTART_COMMAND = "hlo.server.restartIndex"  # forget what was read, and read it again


def register_workspace(server: HloServer, services: Services) -> None:
    """What is about no single document: settings, files on disk, folders, the names in them."""

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
        return await services.names.find(params)

    @server.command(RESTART_COMMAND)
    def restart() -> None:
        services.reload()


def register_texts(server: HloServer, session: Session, services: Services) -> None:
    """The texts that the client has open, and who wants to know of their edits."""

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
    """Parts of files that are too large to be opened."""
    windows = FileWindows()

    @server.feature(window.WINDOW_METHOD)
    async def on_window(params: Any) -> Json | None:
        return await window.answer_window(windows, params)
