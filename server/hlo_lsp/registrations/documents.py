"""All that is in a text: its parts, what each is, and what an editor shows beside them."""

from lsprotocol import types

from hlo_lsp.features import folding, lenses, links, selection, symbols
from hlo_lsp.features.inlay_hints import OPTIONS as HINT_OPTIONS
from hlo_lsp.features.inlay_hints import InlayHints
from hlo_lsp.features.semantic_tokens import LEGEND, SemanticTokens
from hlo_lsp.features.session import Session
from hlo_lsp.features.wire import Json
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.registrations.answers import Answers


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
