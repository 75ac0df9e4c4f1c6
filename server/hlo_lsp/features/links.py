"""textDocument/documentLink, and the places of Python lines."""

from lsprotocol import types

from hlo_lsp.analysis.cursor.links import source_links
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import LONG, Json, name_range
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 500  # links between two breaths


async def document_links(asked: Asked) -> list[Json]:
    """A link on every place that names a Python line, where the file is on this machine.

    Each has its target at once: it is as long as what would bring it later, and Neovim drops links
    without one. In a long module text the tables of locations have links, and no instruction:
    100 000 links are 20 MB. "Go to definition" leads to the Python line from everywhere.
    """
    return await steadily(asked.dump, lambda: _links(asked))


def python_location(asked: Asked, source: SourceLine) -> types.Location | None:
    """The beginning of a Python line, or None if its file is not on this machine."""
    path = asked.sources.resolve(source.file)
    if path is None:
        return None
    start = types.Position(max(source.line - 1, 0), 0)
    return types.Location(path.as_uri(), types.Range(start, start))


def _links(asked: Asked) -> list[Json]:
    is_long = asked.file.kind is FileKind.MODULE and len(asked.file.lines) > LONG
    found = source_links(asked.dump, asked.file, in_instructions=not is_long)
    targets: dict[SourceLine, str | None] = {}
    links: list[Json] = []
    for count, link in enumerate(found):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if link.source not in targets:
            targets[link.source] = asked.sources.uri(link.source)
        target = targets[link.source]
        if target is not None:
            place = name_range(asked.convert, asked.file, link.line, (link.start, link.end))
            links.append({"range": place, "target": target})
    return links
