"""The requests for remote folders, and for the same file of other hosts."""

from functools import partial

from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import FileParams, UrlParams
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.host_folders import files_of_other_hosts
from hlo_lsp.text.remote import fetch, local_path


async def answer_remote_folder(params: UrlParams) -> Json:
    """Return the ``uri`` of the local folder or file that stands for a URL.

    Raises:
        RequestFailedError: The URL cannot be read.
    """
    try:
        path = await run_in_process(partial(local_path, params.url))
    except OSError as error:
        raise RequestFailedError(str(error)) from None
    if not path.is_absolute():
        raise RequestFailedError(f"{params.url}: not a URL")
    folder = path if path.is_dir() else path.parent
    return {"uri": path.as_uri(), "folder": folder.as_uri()}


async def answer_fetch(session: Session, params: FileParams) -> Json:
    """Download the content of a remote file, so that the client can open it at its ``uri``.

    Raises:
        RequestFailedError: The file cannot be downloaded.
    """
    path = path_of(params.uri)
    if path is not None:
        try:
            await run_in_slices(partial(fetch, path), give_way=session.foreground.give_way)
        except OSError as error:
            raise RequestFailedError(f"{path.name}: {error.strerror}") from None
    return {"uri": params.uri}


async def answer_hosts(params: FileParams) -> Json:
    """Return the ``hosts`` that have the same file, each with its ``name`` and its ``uri``."""
    path = path_of(params.uri)
    found = [] if path is None else files_of_other_hosts(path)
    return {"hosts": [{"name": host, "uri": other.as_uri()} for host, other in found]}
