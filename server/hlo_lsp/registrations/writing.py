"""The requests of people who write module text."""

from lsprotocol import types

from hlo_lsp.features import completion, formatting, linked_editing, rename, signatures
from hlo_lsp.features.session import Session
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.registrations.answers import Answers


def serve_completion(server: HloServer, session: Session) -> None:
    """What may come next, also in a text that is no dump yet."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, completion.OPTIONS)
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
        signatures.OPTIONS,
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
