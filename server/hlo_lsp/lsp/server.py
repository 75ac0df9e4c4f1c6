"""The language server: the handlers of all requests and notifications."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from hlo_lsp import __version__
from hlo_lsp.lsp import (
    code_actions,
    code_lenses,
    commands,
    completion,
    custom_requests,
    inlay_hints,
    navigation,
    oom_answers,
    remote_files,
    rename_and_formatting,
    symbols,
)
from hlo_lsp.lsp.client import Client, Json, path_of
from hlo_lsp.lsp.comparison import answer_comparison
from hlo_lsp.lsp.hottest import answer_hottest, load_profile
from hlo_lsp.lsp.hover import hover, option_hover, warm_up
from hlo_lsp.lsp.memory_map import answer_memory_map
from hlo_lsp.lsp.missing_sources import answer_missing_sources
from hlo_lsp.lsp.previous_and_next_pass import answer_adjacent_pass
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.protocol import HloProtocol, HloServer
from hlo_lsp.lsp.scheduling import Priority, start_task
from hlo_lsp.lsp.semantic_tokens import LEGEND
from hlo_lsp.lsp.service import Handler
from hlo_lsp.lsp.services import Services
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.stats_pages import compare_profile_files, summarize_time
from hlo_lsp.lsp.text_pages import page_in_form
from hlo_lsp.lsp.virtual_documents import (
    answer_converted_text,
    answer_text_content,
    answer_window,
    open_summary,
    summarize,
)
from hlo_lsp.model.file_windows import FileWindows


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
        start_task(session.foreground.run(warm_up, Priority.PREPARATION))

    for method, notified in _notifications(session, services).items():
        server.feature(method)(partial(notified))  # pygls sets attributes, which methods lack
    about_texts = {**_position_requests(session), **_document_requests(session)}
    for method, handler in {
        **{method: _or_in_message(session, method, each) for method, each in about_texts.items()},
        **_view_requests(session),
        **_item_requests(session),
        **_refreshed_requests(session, services),
        **services.requests(),
    }.items():
        server.feature(method, _CAPABILITY_OPTIONS.get(method))(handler)
    _register_commands(server, session, services)
    return server


# A registered handler declares the capability of its method; these are the options.
_CAPABILITY_OPTIONS = {
    types.TEXT_DOCUMENT_CODE_ACTION: code_actions.CODE_ACTION_OPTIONS,
    types.TEXT_DOCUMENT_CODE_LENS: types.CodeLensOptions(resolve_provider=True),
    types.TEXT_DOCUMENT_COMPLETION: completion.COMPLETION_OPTIONS,
    types.TEXT_DOCUMENT_DIAGNOSTIC: types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=True, identifier="hlo-lsp"
    ),
    types.TEXT_DOCUMENT_INLAY_HINT: inlay_hints.INLAY_HINT_OPTIONS,
    types.TEXT_DOCUMENT_RENAME: types.RenameOptions(prepare_provider=True),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: LEGEND,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: LEGEND,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: LEGEND,
    types.TEXT_DOCUMENT_SIGNATURE_HELP: completion.SIGNATURE_OPTIONS,
}


def _notifications(session: Session, services: Services) -> dict[str, Callable[[Any], None]]:
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        file = session.edit(params)
        if file is not None:
            services.changed(file)

    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        file = session.close(params.text_document.uri)
        if file is not None:
            services.closed(file)

    return {
        types.INITIALIZED: lambda _: services.initialized(),
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: lambda params: services.configuration.changed(
            params.settings
        ),
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES: services.files_changed,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: lambda _: services.folders_changed(),
        types.TEXT_DOCUMENT_DID_OPEN: lambda params: services.opened(
            session.open(params.text_document)
        ),
        types.TEXT_DOCUMENT_DID_CHANGE: did_change,
        types.TEXT_DOCUMENT_DID_CLOSE: did_close,
    }


def _position_requests(session: Session) -> dict[str, Handler]:
    """Return the handlers of requests about a position; without a dump the result is null.

    The text may be ``closed``: clients show excerpts of files that they have not opened.
    """

    def at(
        reply: Callable[[RequestContext, Any], Any],
        *,
        takes_params: bool = False,
        whole: bool = False,
        closed: bool = False,
    ) -> Handler:
        async def on_request(params: Any) -> Any:
            at = params.position
            found = await session.answer_at(
                params.text_document,
                at.line,
                at.character,
                lambda context: reply(context, params if takes_params else at),
                whole=whole,
                closed=closed,
            )
            return found[0] if found else None

        return on_request

    hover_in_dump = at(hover, closed=True)

    async def hover_anywhere(params: types.HoverParams) -> types.Hover | None:
        return option_hover(session, params) or await hover_in_dump(params)

    everywhere = partial(at, whole=True, closed=True)
    return {
        types.TEXT_DOCUMENT_HOVER: hover_anywhere,
        types.TEXT_DOCUMENT_DEFINITION: everywhere(navigation.definition),
        types.TEXT_DOCUMENT_DECLARATION: everywhere(navigation.declaration),
        types.TEXT_DOCUMENT_TYPE_DEFINITION: everywhere(navigation.type_definition),
        types.TEXT_DOCUMENT_IMPLEMENTATION: everywhere(navigation.implementation),
        types.TEXT_DOCUMENT_REFERENCES: everywhere(navigation.references, takes_params=True),
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: at(navigation.highlight),
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: at(navigation.prepare_calls),
        types.TEXT_DOCUMENT_SIGNATURE_HELP: at(completion.signature_help),
        types.TEXT_DOCUMENT_PREPARE_RENAME: at(rename_and_formatting.prepare_rename),
        types.TEXT_DOCUMENT_RENAME: at(rename_and_formatting.rename, takes_params=True),
        types.TEXT_DOCUMENT_LINKED_EDITING_RANGE: at(rename_and_formatting.linked_editing_ranges),
    }


def _or_in_message(session: Session, method: str, handler: Handler) -> Handler:
    """Return a handler that also replies in a text that contains an out-of-memory message."""
    reply = oom_answers.REPLIES.get(method)
    if reply is None:
        return handler

    async def on_request(params: Any) -> Any:
        found = await handler(params)
        if found is not None:
            return found
        return await session.answer_message(
            params.text_document, lambda file: reply(session, file, params)
        )

    return on_request


def on_document(
    session: Session,
    reply: Callable[[RequestContext, Any], list[Json]],
    *,
    join: Callable[[list[Json]], list[Json]] = list,
) -> Handler:
    """Return a handler of requests about a document, which joins the results of its files.

    Without a dump the result is null.
    """

    async def on_request(params: Any) -> Any:
        document = params.text_document
        found = await session.answer_each(document, lambda context: reply(context, params))
        return join(list(chain.from_iterable(found))) if found else None

    return on_request


def _document_requests(session: Session) -> dict[str, Handler]:
    def join_folds(folds: list[Json]) -> list[Json]:
        return symbols.largest(folds, session.client.max_folding_ranges)

    on = partial(on_document, session)
    return {
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: on(lambda file, _: symbols.document_symbols(file)),
        types.TEXT_DOCUMENT_FORMATTING: on(
            lambda file, _: rename_and_formatting.format_document(file)
        ),
        types.TEXT_DOCUMENT_RANGE_FORMATTING: on(
            lambda file, params: rename_and_formatting.format_range(file, params.range)
        ),
        types.TEXT_DOCUMENT_DOCUMENT_LINK: on(lambda file, _: navigation.document_links(file)),
        types.TEXT_DOCUMENT_FOLDING_RANGE: on(
            lambda file, _: symbols.folding_ranges(file), join=join_folds
        ),
    }


def _view_requests(session: Session) -> dict[str, Handler]:
    """Return the handlers of requests whose results depend on more than one text."""

    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        at = params.position
        reply = partial(completion.completion, params=params)
        found = await session.answer_at(params.text_document, at.line, at.character, reply)
        # A new file has no dump kind yet.
        return found[0] if found else completion.empty_file_completion(session, params)

    return {
        types.TEXT_DOCUMENT_SELECTION_RANGE: partial(symbols.selection_ranges, session),
        types.TEXT_DOCUMENT_COMPLETION: on_completion,
        types.TEXT_DOCUMENT_CODE_ACTION: partial(code_actions.code_actions, session),
    }


def _item_requests(session: Session) -> dict[str, Handler]:
    """Return the handlers of requests about an item of an earlier result."""

    async def on_item(item: types.CompletionItem) -> types.CompletionItem:
        reply = partial(completion.resolve, item=item)
        return next(iter(await session.answer_item(item.data, reply)), item)

    return {
        types.CALL_HIERARCHY_INCOMING_CALLS: partial(navigation.incoming_calls, session),
        types.CALL_HIERARCHY_OUTGOING_CALLS: partial(navigation.outgoing_calls, session),
        types.INLAY_HINT_RESOLVE: partial(inlay_hints.resolve, session),
        types.COMPLETION_ITEM_RESOLVE: on_item,
        types.CODE_ACTION_RESOLVE: partial(code_actions.resolve, session),
    }


def _refreshed_requests(session: Session, services: Services) -> dict[str, Handler]:
    """Return the handlers of requests whose answers the client shows until a refresh."""
    lenses_of = _or_in_message(
        session,
        types.TEXT_DOCUMENT_CODE_LENS,
        on_document(session, lambda context, _: code_lenses.code_lenses(context)),
    )

    async def on_lenses(params: types.CodeLensParams) -> Any:
        uri = params.text_document.uri
        services.lenses.forget(uri)  # the client resolves the lenses that it shows again
        return await services.lenses.answer(uri, None, partial(lenses_of, params))

    async def resolved(lens: types.CodeLens) -> types.CodeLens:
        unresolved = types.CodeLens(lens.range, None, lens.data)
        found = await code_lenses.resolve(session, unresolved)
        return await oom_answers.resolve_lens(session, unresolved) if found is None else found

    async def on_lens(lens: types.CodeLens) -> types.CodeLens:
        uri = str(lens.data.get("uri")) if isinstance(lens.data, dict) else ""
        return await services.lenses.answer(uri, repr(lens.data), partial(resolved, lens))

    async def on_hints(params: types.InlayHintParams) -> list[Json] | None:
        ask = partial(inlay_hints.inlay_hints, session, params)
        lines = params.range.start.line, params.range.end.line
        return await services.hints.answer(params.text_document.uri, lines, ask)

    async def on_diagnostics(params: types.DocumentDiagnosticParams) -> Json:
        pull = services.diagnostics.pull
        return await services.reports.answer(
            params.text_document.uri,
            None,
            partial(pull, params),
            again=partial(pull, types.DocumentDiagnosticParams(params.text_document)),
            digest=lambda report: repr(report["items"]) if "items" in report else None,
        )

    return {
        types.TEXT_DOCUMENT_CODE_LENS: on_lenses,
        types.CODE_LENS_RESOLVE: on_lens,
        types.TEXT_DOCUMENT_INLAY_HINT: on_hints,
        types.TEXT_DOCUMENT_DIAGNOSTIC: on_diagnostics,
    }


def _register_pages(server: HloServer, session: Session) -> None:
    @server.command(commands.SUMMARY_COMMAND)
    async def on_summary(uri: str, line: int, *form: Any) -> str | Json:
        text = await summarize(session, uri, line)
        if not form and session.client.can_open_summary:
            start_task(open_summary(server, uri, line))
        return page_in_form(session.client, text, form)

    @server.command(commands.TIME_SUMMARY_COMMAND)
    async def on_time_summary(uri: str, line: int, *form: Any) -> str | Json:
        return page_in_form(session.client, await summarize_time(session, uri, line), form)

    @server.command(commands.COMPARE_PROFILES_COMMAND)
    async def on_compare_profiles(before: str, after: str, *form: Any) -> str | Json:
        text = await compare_profile_files(session, before, after)
        return page_in_form(session.client, text, form)


def _register_commands(server: HloServer, session: Session, services: Services) -> None:
    @server.command(commands.EXPLAIN_RULE_COMMAND)
    async def on_explain(code: str) -> None:
        await commands.explain_rule(server, session.client, code)

    @server.command(commands.INSPECT_COMMAND)
    async def on_inspect(uri: str, position: types.Position) -> str:
        return await commands.inspect_place(session, uri, position)

    _register_pages(server, session)

    @server.command(commands.TIMELINE_COMMAND)
    async def on_timeline(uri: str, line: int, columns: int, step: int | None) -> str:
        return await commands.timeline_uri(session, uri, line, columns, step)

    @server.command(commands.CHECK_COMMAND)
    async def on_check(uri: str) -> str:
        return await commands.check_uri(session, uri)

    @server.command(code_actions.APPLY_COMMAND)
    async def on_apply(edit: types.WorkspaceEdit) -> None:
        try:
            await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))
        except JsonRpcException as error:
            raise RequestFailedError(f"error from the client: {error.message}") from None

    @server.command(commands.LOAD_PROFILE_COMMAND)
    async def on_load_profile(uri: str, document: str | None) -> str:
        return await load_profile(session, path_of(uri), document)

    @server.command(commands.RESTART_COMMAND)
    def on_restart() -> None:
        services.reload()

    server.feature(custom_requests.WINDOW_METHOD)(partial(answer_window, FileWindows()))
    server.feature(custom_requests.MISSING_SOURCES_METHOD)(partial(answer_missing_sources, session))
    server.feature(custom_requests.ADJACENT_PASS_METHOD)(partial(answer_adjacent_pass, session))
    server.feature(custom_requests.COMPARE_METHOD)(partial(answer_comparison, session))
    server.feature(custom_requests.CONVERTED_TEXT_METHOD)(partial(answer_converted_text, session))
    server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)(partial(answer_text_content, session))
    server.feature(custom_requests.REMOTE_FOLDER_METHOD)(remote_files.answer_remote_folder)
    server.feature(custom_requests.FETCH_METHOD)(partial(remote_files.answer_fetch, session))
    server.feature(custom_requests.HOSTS_METHOD)(remote_files.answer_hosts)
    server.feature(custom_requests.HOTTEST_METHOD)(partial(answer_hottest, session))
    server.feature(custom_requests.MEMORY_MAP_METHOD)(partial(answer_memory_map, session))
