"""Conversions between the URIs, positions, and edits of a client and those of the model."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from hlo_lsp.checks.finding import Edit
from hlo_lsp.lsp.client import Client
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.text.document import Encoding


def path_of(uri: str) -> Path | None:
    """Return the path of a ``file:`` URI, or None for other URIs."""
    path = _path(uri)
    return path if path is not None and path.name else None


def workspace_folders(server: LanguageServer) -> list[Path]:
    """Return the workspace folders in the order of the client, or its root folder."""
    workspace = server.workspace
    uris = list(workspace.folders) or [workspace.root_uri]
    paths = (_path(uri) for uri in uris if uri)
    return [path for path in paths if path is not None]


def _path(uri: str) -> Path | None:
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        os.fsencode(path or "")
    except ValueError:  # brackets without a valid address, or a lone surrogate
        return None
    return None if not path or "\0" in path else Path(path)


@dataclass(frozen=True, slots=True)
class Converter:
    """Conversions in the position encoding of one client."""

    encoding: Encoding

    def column(self, file: DumpFile, position: types.Position) -> tuple[int, int]:
        """Return line and code point of a position, clamped to the text."""
        lines = file.lines
        context = position.line - file.first_line
        line = min(context, len(lines) - 1)
        if line < context:
            return line, len(lines[line])
        return line, self.encoding.column(lines[line], position.character)

    def position(self, file: DumpFile, line: int, column: int) -> types.Position:
        """Return the position of a line and code point of a file."""
        units = self.encoding.units(file.lines[line], column)
        return types.Position(file.first_line + line, units)

    def range(self, place: Place) -> types.Range:
        """Return the range of a place."""
        file, line = place.file, place.line
        start = self.position(file, line, place.start)
        return types.Range(start, self.position(file, line, place.end))

    def location(self, place: Place) -> types.Location:
        """Return the location of a place."""
        return types.Location(place.file.uri, self.range(place))


Json = dict[str, Any]
MAX_FULL_ANSWER_LINES = 50_000  # answers about longer texts leave out instructions


def line_range(line: int, start: int, end: int, *, to_line: int | None = None) -> Json:
    """Return a range as JSON; columns are in units of the client."""
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line if to_line is None else to_line, "character": end},
    }


def name_range(converter: Converter, file: DumpFile, line: int, columns: tuple[int, int]) -> Json:
    """Return the range of a name in a line; columns are in code points."""
    text = file.lines[line]
    units = converter.encoding.units
    line += file.first_line
    return line_range(line, units(text, columns[0]), units(text, columns[1]))


def place_range_json(converter: Converter, place: Place) -> Json:
    """Return the range of a place as JSON."""
    return name_range(converter, place.file, place.line, (place.start, place.end))


def locations(converter: Converter, places: Iterable[Place]) -> list[Json]:
    """Return the locations of places as JSON."""
    return [
        {"uri": place.file.uri, "range": place_range_json(converter, place)} for place in places
    ]


def lines_range(converter: Converter, file: DumpFile, first: int, count: int) -> Json:
    """Return the range of whole lines, without the line break of the last."""
    last = min(first + count, len(file.lines)) - 1
    text = file.lines[last]
    end = converter.encoding.units(text, len(text))
    begin = file.first_line
    return line_range(begin + first, 0, end, to_line=begin + last)


VersionOf = Callable[[str], int | None]


def workspace_edit(
    client: Client, converter: Converter, edits: Iterable[Edit], version_of: VersionOf
) -> types.WorkspaceEdit:
    """Return a workspace edit with all edits.

    ``version_of`` returns the client's version of an open file.
    """
    by_uri: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        start, end = (converter.position(edit.file, *place) for place in (edit.start, edit.end))
        text_edit = types.TextEdit(types.Range(start, end), edit.text)
        by_uri.setdefault(edit.file.uri, []).append(text_edit)
    if not client.can_version_edits:
        return types.WorkspaceEdit(changes=by_uri)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, version_of(uri)), changes
            )
            for uri, changes in by_uri.items()
        ]
    )
