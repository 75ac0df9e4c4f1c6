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
from hlo_lsp.lsp.inlay_hints import OPTIONS as HINT_OPTIONS
from hlo_lsp.lsp.inlay_hints import InlayHints
from hlo_lsp.lsp.observers import Keepers
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.protocol.connection import HloServer
from hlo_lsp.lsp.semantic_tokens import LEGEND, SemanticTokens
from hlo_lsp.lsp.session import Asked, Session
from hlo_lsp.lsp.terminal import card_text, findings_text
from hlo_lsp.model.windows import Windows


class Answers:
    """Registers them with what replies to each."""

    def __init__(self, server: HloServer, session: Session) -> None:
        self._server = server
        self._session = session

    def at_place(
        self,
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

        @self._server.feature(method, options)
        async def on_request(params: Any) -> Any:
            line = params.position.line
            asked = await self._session.ask(params.text_document, line, whole=whole, closed=closed)
            result = None if asked is None else reply(asked, params)
            return await result if isawaitable(result) else result

    def in_text(
        self,
        method: str,
        reply: Callable[[Asked, Any], Awaitable[list[Json]]],
        options: Any = None,
        join: Callable[[list[Json]], list[Json]] = list,
    ) -> None:
        """Answer a request about a whole document: with the answers for each file in it.

        The reply must wait for no background task: those are held up until it is complete.
        """
        session = self._session

        @self._server.feature(method, options)
        async def on_request(params: Any) -> list[Json] | None:
            async def reply_first(asked: Asked) -> list[Json]:
                with session.foreground.working():
                    return await reply(asked, params)

            found = await session.joined(params.text_document, reply_first)
            return join(list(chain.from_iterable(found))) if found else None


def serve_places(answers: Answers) -> None:
    """The requests of people who read a dump."""
    at_place = answers.at_place
    at_place(
        types.TEXT_DOCUMENT_HOVER, lambda asked, p: hover.hover(asked, p.position), closed=True
    )
    _leads(answers, types.TEXT_DOCUMENT_DEFINITION, goto.definition)
    _leads(answers, types.TEXT_DOCUMENT_DECLARATION, goto.declaration)
    _leads(answers, types.TEXT_DOCUMENT_TYPE_DEFINITION, goto.type_definition)
    _leads(answers, types.TEXT_DOCUMENT_IMPLEMENTATION, goto.implementation)
    at_place(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda asked, p: references.references(
            asked, p.position, with_declaration=p.context.include_declaration
        ),
        whole=True,
        closed=True,
    )
    at_place(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        lambda asked, p: references.highlight(asked, p.position),
    )
    at_place(
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
        lambda asked, p: calls.prepare(asked, p.position),
    )


def _leads(answers: Answers, method: str, find: Callable[[Asked, types.Position], Any]) -> None:
    """Where a place leads, in all files of the compile."""
    answers.at_place(method, lambda asked, p: find(asked, p.position), whole=True, closed=True)


def serve_calls(server: HloServer, session: Session) -> None:
    """The two requests about an item that was prepared before."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await calls.incoming(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await calls.outgoing(session, params.item)


def serve_documents(server: HloServer, session: Session, answers: Answers) -> None:
    """The requests about all that is in a text."""
    in_text = answers.in_text
    in_text(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda asked, _: symbols.document_symbols(asked))
    in_text(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        lambda asked, _: folding.folding_ranges(asked),
        join=lambda folds: folding.largest(folds, session.client.folding_limit),
    )
    in_text(types.TEXT_DOCUMENT_DOCUMENT_LINK, lambda asked, _: links.document_links(asked))
    in_text(
        types.TEXT_DOCUMENT_CODE_LENS,
        lambda asked, _: lenses.code_lenses(asked),
        types.CodeLensOptions(resolve_provider=True),
    )

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def on_selection(params: types.SelectionRangeParams) -> list[Json] | None:
        return await selection.selection_ranges(session, params)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def on_lens_resolve(lens: types.CodeLens) -> types.CodeLens:
        asked = await session.ask_again(lens.data)
        return lens if asked is None else await lenses.resolve(asked, lens)


def serve_tokens(server: HloServer, colours: SemanticTokens) -> None:
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


def serve_hints(server: HloServer, notes: InlayHints) -> None:
    """What is shown between the words of a text."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, HINT_OPTIONS)
    async def on_hints(params: types.InlayHintParams) -> list[Json] | None:
        return await notes.hints(params)

    @server.feature(types.INLAY_HINT_RESOLVE)
    async def on_hint_resolve(hint: types.InlayHint) -> types.InlayHint:
        return await notes.resolve(hint)


def serve_completion(server: HloServer, session: Session) -> None:
    """What may come next, also in a text that is no dump yet."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, completion.COMPLETION_OPTIONS)
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        asked = await session.ask(params.text_document, params.position.line)
        if asked is None:
            return completion.first_words(session, params)
        return completion.completion(asked, params)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def on_completion_resolve(item: types.CompletionItem) -> types.CompletionItem:
        return completion.resolve(await session.ask_again(item.data), item)


def serve_writing(session: Session, answers: Answers) -> None:
    """What an instruction takes, names that are changed together, and how text is laid out."""
    answers.at_place(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        lambda asked, p: signatures.signature_help(asked, p.position),
        signatures.SIGNATURE_OPTIONS,
    )
    answers.at_place(
        types.TEXT_DOCUMENT_PREPARE_RENAME,
        lambda asked, p: rename.prepare_rename(asked, p.position),
    )
    answers.at_place(
        types.TEXT_DOCUMENT_RENAME,
        lambda asked, p: rename.rename(asked, p, session.version(asked.file.uri)),
        types.RenameOptions(prepare_provider=True),
    )
    answers.at_place(
        types.TEXT_DOCUMENT_LINKED_EDITING_RANGE,
        lambda asked, p: linked_editing.linked_ranges(asked, p.position),
    )
    answers.in_text(
        types.TEXT_DOCUMENT_FORMATTING, lambda asked, _: formatting.format_document(asked)
    )
    answers.in_text(
        types.TEXT_DOCUMENT_RANGE_FORMATTING,
        lambda asked, p: formatting.format_range(asked, p.range),
    )


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


RESTART = "hlo.server.restartIndex"  # forget what was read, and read it again


def serve_workspace(server: HloServer, keepers: Keepers) -> None:
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


def serve_texts(server: HloServer, session: Session, keepers: Keepers) -> None:
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


def serve_windows(server: HloServer) -> None:
    """Parts of files that are too large to be opened."""
    windows = Windows()

    @server.feature(window.METHOD)
    async def on_window(params: Any) -> Json | None:
        return await window.window(windows, params)
