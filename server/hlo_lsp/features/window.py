"""hlo/window: the lines around one of a file that is too large to be opened in an editor.

The client asks with ``{uri, line}``, lines counted from 0, and shows the ``text`` of the answer
``{text, firstLine, lineCount}`` as a document of its own.
"""

from functools import partial
from pathlib import Path
from typing import Any

from hlo_lsp.features.running import run
from hlo_lsp.features.uris import path_of
from hlo_lsp.features.wire import Json
from hlo_lsp.model.windows import Windows
from hlo_lsp.text.disk import UnreadableError

METHOD = "hlo/window"


async def window(windows: Windows, params: Any) -> Json | None:
    """The window of a line; None where there is none, and for what is no dump on disk."""
    said = params if isinstance(params, dict) else {}
    uri, line = said.get("uri"), said.get("line")
    path: Path | None = path_of(uri) if isinstance(uri, str) else None
    if path is None or not isinstance(line, int):
        return None
    try:
        found = await run(partial(windows.at, path, line))
    except UnreadableError:
        return None
    if found is None:
        return None
    return {"text": found.text, "firstLine": found.first_line, "lineCount": found.line_count}
