"""A pygls server that does nothing: what pygls itself costs."""

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer(
    "empty", "0", text_document_sync_kind=types.TextDocumentSyncKind.Incremental
)


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(_: types.HoverParams) -> types.Hover:
    """Answer every hover with the same text."""
    return types.Hover("nothing")


if __name__ == "__main__":
    server.start_io()
