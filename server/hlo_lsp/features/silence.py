"""A rule that is to be silent in a folder: an edit of its ``hlo-lsp.toml``."""

from pathlib import Path

from lsprotocol import types

from hlo_lsp.checks.wishes.settings_file import NAME, settings_file_of
from hlo_lsp.checks.wishes.silencing import silenced
from hlo_lsp.features.client import Client
from hlo_lsp.features.convert import Converter

_START = types.Position(0, 0)


def silence_title(file: Path, code: str) -> str:
    """What the edit does. The nearest settings file is the one that counts, and says how far."""
    known = settings_file_of(file.parent)
    folder = file.parent if known is None else known.parent
    return f"Silence `{code}` in the folder `{folder.name or folder}`"


def silence_edit(
    client: Client, convert: Converter, file: Path, code: str
) -> types.WorkspaceEdit | None:
    """Write a code into the settings file that counts for a dump, or into a new one beside it.

    None where that cannot be done for certain, or the client makes no files.
    """
    known = settings_file_of(file.parent)
    if known is None:
        return _created(file.parent / NAME, code) if client.creates_files else None
    try:
        text = known.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
    insertion = silenced(text, code)
    if insertion is None:
        return None
    units = convert.encoding.units(text.split("\n")[insertion.line], insertion.column)
    place = types.Position(insertion.line, units)
    edit = types.TextEdit(types.Range(place, place), insertion.text)
    uri = known.absolute().as_uri()
    if not client.versions_edits:
        return types.WorkspaceEdit(changes={uri: [edit]})
    return types.WorkspaceEdit(document_changes=[_edited(uri, edit)])


def _created(path: Path, code: str) -> types.WorkspaceEdit:
    uri = path.absolute().as_uri()
    text = f'ignore = ["{code}"]\n'
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)),
            _edited(uri, types.TextEdit(types.Range(_START, _START), text)),
        ]
    )


def _edited(uri: str, edit: types.TextEdit) -> types.TextDocumentEdit:
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, None), [edit])
