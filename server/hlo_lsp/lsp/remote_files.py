"""The requests for remote folders, and for the same file of other hosts."""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import FileParams, UrlParams
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.host_folders import files_of_other_hosts
from hlo_lsp.syntax.texts_without_names import fingerprint
from hlo_lsp.text.disk import UnreadableError, file_size, read_document
from hlo_lsp.text.remote import fetch, is_remote, local_path

_MAX_COMPARED_BYTES = 200_000_000  # which take about 2 s


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
    """Return the ``hosts`` that have the same file, each with its ``name`` and its ``uri``.

    ``isOther`` is true for a host with another program, and null for files that are not on disk.
    """
    path = path_of(params.uri)
    found = [] if path is None else list(files_of_other_hosts(path))
    others = [other for _, other in found]
    differing = await run_in_process(partial(_differing, path, others)) if path and others else []
    return {
        "hosts": [
            {"name": host, "uri": other.as_uri(), "isOther": is_other}
            for (host, other), is_other in zip(found, differing, strict=True)
        ]
    }


def _differing(path: Path, others: Sequence[Path]) -> list[bool | None]:
    """Return for each file whether its program differs from that of ``path``.

    It is None if that is unknown: for remote files, and after some hundred megabytes, because the
    user waits for the list.
    """
    fingerprints: dict[str, str] = {}
    left = _MAX_COMPARED_BYTES

    def program(path: Path) -> str | None:
        nonlocal left
        left -= file_size(path)
        try:
            document = None if is_remote(path) or left < 0 else read_document(path)
        except UnreadableError:
            document = None
        if document is None:
            return None
        content = sha256("\n".join(document.lines).encode(errors="surrogatepass")).hexdigest()
        if content not in fingerprints:
            fingerprints[content] = fingerprint(document.lines)
        return fingerprints[content]

    own = program(path)
    found = [program(other) for other in others]
    return [None if own is None or one is None else one != own for one in found]
