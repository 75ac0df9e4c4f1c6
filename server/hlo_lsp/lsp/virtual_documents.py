"""Texts that clients show without a file: summaries, windows of large files, protos as text."""

import re
from contextlib import suppress
from functools import partial
from urllib.parse import quote, unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.client import SUMMARY_SCHEME, Json, path_of
from hlo_lsp.lsp.commands import summarize_uri
from hlo_lsp.lsp.custom_requests import FileParams, WindowParams
from hlo_lsp.lsp.oom_answers import summarize_message
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.file_windows import FileWindows
from hlo_lsp.protos.reading import read_document
from hlo_lsp.text.disk import UnreadableError

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


async def answer_converted_text(session: Session, params: FileParams) -> Json:
    """Return the ``text`` of a proto, a compressed file, or an archive, as the commands read it.

    Raises:
        RequestFailedError: The file cannot be read, or is not a dump.
    """
    path = path_of(params.uri)
    if path is None:
        raise RequestFailedError(f"{params.uri}: not a file")
    try:
        document = await run_in_slices(
            partial(read_document, path), give_way=session.foreground.give_way
        )
    except UnreadableError as error:
        raise RequestFailedError(str(error)) from None
    return {"text": document.text}


async def answer_window(windows: FileWindows, params: WindowParams) -> Json | None:
    """Return the window of a file around a line; None for files that are not dumps on disk."""
    path = path_of(params.uri)
    if path is None:
        return None
    try:
        found = await run_in_slices(partial(windows.at, path, params.line))
    except UnreadableError:
        return None
    if found is None:
        return None
    return {"text": found.text, "firstLine": found.first_line, "lineCount": found.line_count}
