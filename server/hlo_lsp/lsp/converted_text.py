"""The request ``hlo/text``: a proto, a compressed file, or an archive as text."""

from functools import partial
from typing import Any

from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.protos.reading import read_document
from hlo_lsp.text.disk import UnreadableError

CONVERTED_TEXT_METHOD = "hlo/text"


async def answer_converted_text(session: Session, params: Any) -> Json:
    """Return the ``text`` of the file with the ``uri``, as the commands read it.

    Raises:
        RequestFailedError: The file cannot be read, or is not a dump.
    """
    uri = str(getattr(params, "uri", ""))
    path = path_of(uri)
    if path is None:
        raise RequestFailedError(f"{uri}: not a file")
    try:
        document = await run_in_slices(
            partial(read_document, path), give_way=session.foreground.give_way
        )
    except UnreadableError as error:
        raise RequestFailedError(str(error)) from None
    return {"text": document.text}
