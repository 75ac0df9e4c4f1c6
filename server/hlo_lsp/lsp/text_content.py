"""workspace/textDocumentContent: memory summaries as documents, for clients without a view."""

import re
from contextlib import suppress
from urllib.parse import quote, unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.client import SUMMARY_SCHEME
from hlo_lsp.lsp.commands import summarize_uri
from hlo_lsp.lsp.out_of_memory import summarize_message
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session

_PATH = "/Memory%20Summary.md"  # the title in the editor
_SUMMARY_URI = re.compile(rf"{SUMMARY_SCHEME}:[^?#]*\?(?P<uri>[^?#]+)#(?P<line>[0-9]{{1,9}})")


async def summarize(session: Session, uri: str, line: int) -> str:
    """Return the report on a message, else the memory summary of the compile of a file.

    Raises:
        RequestFailedError: the file is neither a dump nor a text with a message.
    """
    found = await summarize_message(session, uri, line)
    return found or await summarize_uri(session, uri, line)


async def open_summary(server: LanguageServer, uri: str, line: int) -> None:
    """Let the client open the document with the summary, if it can."""
    target = f"{SUMMARY_SCHEME}:{_PATH}?{quote(uri, safe='')}#{line}"
    with suppress(JsonRpcException):
        await server.window_show_document_async(types.ShowDocumentParams(target, take_focus=True))


async def answer_text_content(
    session: Session, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    """Return the summary that a URI of ``open_summary`` names.

    Raises:
        RequestFailedError: the URI names no summary.
    """
    match = _SUMMARY_URI.fullmatch(params.uri)
    if match is None:
        raise RequestFailedError(f"{params.uri}: no document of this server")
    text = await summarize(session, unquote(match["uri"]), int(match["line"]))
    return types.TextDocumentContentResult(text)
