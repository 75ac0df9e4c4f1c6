"""The language server: every request it answers is registered here."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from itertools import chain
from typing import Any

from lsprotocol import types

from hlo_lsp import __version__
from hlo_lsp.features import (
    actions,
    calls,
    completion,
    explain,
    folding,
    formatting,
    goto,
    hover,
    lenses,
    linked_editing,
    links,
    printed,
    references,
    rename,
    selection,
    signatures,
    symbols,
    window,
)
from hlo_lsp.features.client import Client
from hlo_lsp.features.inlay_hints import OPTIONS as HINT_OPTIONS
from hlo_lsp.features.inlay_hints import InlayHints
from hlo_lsp.features.keepers import Keepers
from hlo_lsp.features.semantic_tokens import LEGEND, SemanticTokens
from hlo_lsp.features.session import Asked, Session
from hlo_lsp.features.warming import warm
from hlo_lsp.features.wire import Json
from hlo_lsp.model.windows import Windows
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.views.terminal import card_text, findings_text

RESTART = "hlo.server.restartIndex"  # forget what was read, and read it again


def make_server() -> HloServer:  # one registration after the other, no branches
    """A server for one connection."""
    server = HloServer("hlo-lsp", __version__)
    session = Session()
    keepers = Keepers(server, session, server.notify_json)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.protocol.workspace.position_encoding or "utf-16"
        session.client = Client.of(params.capabilities, encoding, params.initialization_options)
        keepers.configuration.start(params)
        session.in_background(warm())

    _serve_workspace(server, keepers)
    _serve_texts(server, session, keepers)
    _serve_calls(server, session)

    def answer(
        method: str,
        reply: Callable[[Asked, Any], Any],
        options: Any = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> None:
        """Answer a request about a place: with nothing where no dump is.

        The text may be ``closed``: clients show parts of files that they cannot open.
        """

        @server.feature(method, options)
        async def on_request(params: Any) -> Any:
            line = params.position.line
            asked = await session.ask(params.text_document, line, whole=whole, closed=closed)
            result = None if asked is None else reply(asked, params)
            return await result if isawaitable(result) else result

    answer(types.TEXT_DOCUMENT_HOVER, lambda asked, p: hover.hover(asked, p.position), closed=True)
    answer(
        types.TEXT_DOCUMENT_DEFINITION,
        lambda asked, p: goto.definition(asked, p.position),
        whole=True,
        closed=True,
    )
    answer(
        types.TEXT_DOCUMENT_DECLARATION,
        lambda asked, p: goto.declaration(asked, p.position),
        whole=True,
        closed=True,
    )
    answer(
        types.TEXT_DOCUMENT_TYPE_DEFINITION,
        lambda asked, p: goto.type_definition(asked, p.position),
        whole=True,
        closed=True,
    )
    answer(
        types.TEXT_DOCUMENT_IMPLEMENTATION,
        lambda asked, p: goto.implementation(asked, p.position),
        whole=True,
        closed=True,
    )
    answer(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda asked, p: references.references(
            asked, p.position, with_declaration=p.context.include_declaration
        ),
        whole=True,
        closed=True,
    )
    answer(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        lambda asked, p: references.highlight(asked, p.position),
    )
    answer(
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
        lambda asked, p: calls.prepare(asked, p.position),
    )
    _serve_whole_documents(server, session)
    _serve_tokens(server, keepers.colours)
    _serve_hints(server, keepers.notes)
    _serve_diagnostics(server, keepers)
    _serve_writing(server, session, answer)
    _serve_actions(server, session)
    _serve_windows(server)

    return server


def _serve_texts(server: HloServer, session: Session, keepers: Keepers) -> None:
    """The texts that the client has open, and who wants to know of their edits."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        keepers.opened(session.open(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        file = session.edit(params)
        if file is not None:
            keepers.changed(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        file = session.close(params.text_document.uri)
        if file is not None:
            keepers.closed(file)


def _serve_workspace(server: HloServer, keepers: Keepers) -> None:
    """What is about no single document: settings, files on disk, folders, the names in them."""

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        keepers.initialized()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        keepers.configuration.changed(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        keepers.watcher.changed(params)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        keepers.folders_changed()

    @server.feature(types.WORKSPACE_SYMBOL)
    async def find(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        return await keepers.names.find(params)

    @server.command(RESTART)
    def restart() -> None:
        keepers.read_again()


def _serve_whole_documents(server: HloServer, session: Session) -> None:
    """The requests about all that is in a text."""

    def answer_whole(
        method: str,
        reply: Callable[[Asked], Awaitable[list[Json]]],
        options: Any = None,
        join: Callable[[list[Json]], list[Json]] = list,
    ) -> None:
        """Answer a request about a whole document: with the answers for each file in it."""

        @server.feature(method, options)
        async def on_request(params: Any) -> list[Json] | None:
            found = await session.joined(params.text_document, reply)
            return join(list(chain.from_iterable(found))) if found else None

    answer_whole(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, symbols.document_symbols)
    answer_whole(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        folding.folding_ranges,
        join=lambda folds: folding.largest(folds, session.client.folding_limit),
    )
    answer_whole(types.TEXT_DOCUMENT_DOCUMENT_LINK, links.document_links)
    answer_whole(types.TEXT_DOCUMENT_FORMATTING, formatting.format_document)
    answer_whole(
        types.TEXT_DOCUMENT_CODE_LENS,
        lenses.code_lenses,
        types.CodeLensOptions(resolve_provider=True),
    )

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def on_selection(params: types.SelectionRangeParams) -> list[Json] | None:
        return await selection.selection_ranges(session, params)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def on_lens_resolve(lens: types.CodeLens) -> types.CodeLens:
        asked = await session.ask_again(lens.data)
        return lens if asked is None else await lenses.resolve(asked, lens)


def _serve_tokens(server: HloServer, colours: SemanticTokens) -> None:
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


def _serve_hints(server: HloServer, notes: InlayHints) -> None:
    """What is shown between the words of a text."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, HINT_OPTIONS)
    async def on_hints(params: types.InlayHintParams) -> list[Json] | None:
        return await notes.hints(params)

    @server.feature(types.INLAY_HINT_RESOLVE)
    async def on_hint_resolve(hint: types.InlayHint) -> types.InlayHint:
        return await notes.resolve(hint)


def _serve_diagnostics(server: HloServer, keepers: Keepers) -> None:
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


def _serve_writing(server: HloServer, session: Session, answer: Callable[..., None]) -> None:
    """The requests of people who write module text."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, completion.OPTIONS)
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        asked = await session.ask(params.text_document, params.position.line)
        if asked is None:
            return completion.first_words(session, params)
        return completion.completion(asked, params)

    answer(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        lambda asked, p: signatures.signature_help(asked, p.position),
        signatures.OPTIONS,
    )
    answer(
        types.TEXT_DOCUMENT_PREPARE_RENAME,
        lambda asked, p: rename.prepare_rename(asked, p.position),
    )
    answer(
        types.TEXT_DOCUMENT_RENAME,
        lambda asked, p: rename.rename(asked, p, session.version(asked.file.uri)),
        types.RenameOptions(prepare_provider=True),
    )

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def on_range_formatting(params: types.DocumentRangeFormattingParams) -> list[Json] | None:
        found = await session.joined(
            params.text_document, lambda asked: formatting.format_range(asked, params.range)
        )
        return list(chain.from_iterable(found)) if found else None

    answer(
        types.TEXT_DOCUMENT_LINKED_EDITING_RANGE,
        lambda asked, p: linked_editing.linked_ranges(asked, p.position),
    )

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def on_completion_resolve(item: types.CompletionItem) -> types.CompletionItem:
        return completion.resolve(await session.ask_again(item.data), item)


def _serve_actions(server: HloServer, session: Session) -> None:
    """What can be done about findings, and the commands that do it."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.OPTIONS)
    async def on_actions(params: types.CodeActionParams) -> actions.Actions | None:
        parts = await session.ask_all(params.text_document)
        return await actions.code_actions(parts, params, session.version) if parts else None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def on_action_resolve(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        parts = await session.ask_all(types.TextDocumentIdentifier(str(data.get("uri"))))
        return await actions.resolve(parts, action, session.version)

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


def _serve_calls(server: HloServer, session: Session) -> None:
    """The two requests about an item that was prepared before."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await calls.incoming(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await calls.outgoing(session, params.item)


def _serve_windows(server: HloServer) -> None:
    """Parts of files that are too large to be opened."""
    windows = Windows()

    @server.feature(window.METHOD)
    async def on_window(params: Any) -> Json | None:
        return await window.window(windows, params)
