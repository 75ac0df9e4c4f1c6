"""Edits of several files as the client takes them."""

from collections.abc import Callable, Iterable

from lsprotocol import types

from hlo_lsp.checks.fix import Edit
from hlo_lsp.features.client import Client
from hlo_lsp.features.convert import Converter

VersionOf = Callable[[str], int | None]


def workspace_edit(
    client: Client, convert: Converter, edits: Iterable[Edit], version_of: VersionOf
) -> types.WorkspaceEdit:
    """All edits at once. ``version_of`` knows the client's version of a file that it has open."""
    by_uri: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        start, end = (convert.position(edit.file, *place) for place in (edit.start, edit.end))
        text_edit = types.TextEdit(types.Range(start, end), edit.text)
        by_uri.setdefault(edit.file.uri, []).append(text_edit)
    if not client.versions_edits:
        return types.WorkspaceEdit(changes=by_uri)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, version_of(uri)), changes
            )
            for uri, changes in by_uri.items()
        ]
    )
