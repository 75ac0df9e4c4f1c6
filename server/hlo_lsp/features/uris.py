"""URIs as clients write them, and the folders that they have open."""

import os
from pathlib import Path

from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """Where the text of a URI lies; None for one that lies nowhere, as for ``file:``."""
    path = _path(uri)
    return path if path is not None and path.name else None


def folders_of(server: LanguageServer) -> list[Path]:
    """The folders that the client has open, in its order: those of the workspace, or its root."""
    workspace = server.workspace
    uris = list(workspace.folders) or [workspace.root_uri]
    paths = (_path(uri) for uri in uris if uri)
    return [path for path in paths if path is not None]


def _path(uri: str) -> Path | None:
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        os.fsencode(path or "")
    except ValueError:  # brackets that are no address, half of a character
        return None
    return None if not path or "\0" in path else Path(path)
