"""The language server: every request it answers is registered here."""

import logging

from lsprotocol import types

from hlo_lsp import __version__
from hlo_lsp.features import (
    diagnostics,
    folding,
    goto,
    hover,
    lenses,
    references,
    symbols,
)
from hlo_lsp.features.client import Client
from hlo_lsp.features.session import Session
from hlo_lsp.features.wire import Json
from hlo_lsp.protocol import HloProtocol, StdioServer

logger = logging.getLogger(__name__)


def make_server() -> StdioServer:  # noqa: C901  # one registration after the other, no branches
    """A server for one connection."""
    server = StdioServer("hlo-lsp", __version__, protocol_cls=HloProtocol)
    session = Session()
    pusher = diagnostics.DiagnosticsPusher(server, session)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.protocol.workspace.position_encoding or "utf-16"
        session.client = Client.of(params.capabilities, encoding)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        pusher.changed(session.open(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        file = session.edit(params)
        if file is not None:
            pusher.changed(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        file = session.close(params.text_document.uri)
        if file is not None:
            pusher.closed(file)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: types.HoverParams) -> types.Hover | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else hover.hover(asked, params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> types.Location | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else goto.definition(asked, params.position)

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    async def on_declaration(params: types.DeclarationParams) -> types.Location | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else goto.declaration(asked, params.position)

    @server.feature(types.TEXT_DOCUMENT_TYPE_DEFINITION)
    async def on_type_definition(params: types.TypeDefinitionParams) -> types.Location | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else goto.type_definition(asked, params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def on_references(params: types.ReferenceParams) -> list[types.Location] | None:
        asked = await session.ask(params.text_document)
        if asked is None:
            return None
        with_declaration = params.context.include_declaration
        return references.references(asked, params.position, with_declaration=with_declaration)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def on_highlight(
        params: types.DocumentHighlightParams,
    ) -> list[types.DocumentHighlight] | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else references.highlight(asked, params.position)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def on_symbols(params: types.DocumentSymbolParams) -> list[Json] | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else await symbols.document_symbols(asked)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def on_folding(params: types.FoldingRangeParams) -> list[Json] | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else await folding.folding_ranges(asked)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def on_lenses(params: types.CodeLensParams) -> list[Json] | None:
        asked = await session.ask(params.text_document)
        return None if asked is None else lenses.code_lenses(asked)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def on_lens_resolve(lens: types.CodeLens) -> types.CodeLens:
        uri = lens.data.get("uri", "") if isinstance(lens.data, dict) else ""
        asked = await session.ask(types.TextDocumentIdentifier(uri))
        return lens if asked is None else lenses.resolve(asked, lens)

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="hlo-lsp"
        ),
    )
    async def on_pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        asked = await session.ask(params.text_document)
        return await diagnostics.pulled(asked, params.previous_result_id)

    return server
