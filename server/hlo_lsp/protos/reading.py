"""Dump files as documents: texts as they are, and what other files convert to."""

from pathlib import Path

from hlo_lsp.protos.names import DAMAGE_MARK, is_converted
from hlo_lsp.text import disk
from hlo_lsp.text.document import Document
from hlo_lsp.text.remote import shown


def read_document(path: Path) -> Document:
    """Read a whole file as text.

    Raises:
        UnreadableError: The file is missing, a folder, forbidden, too large, or not a dump.
    """
    if not is_converted(path.name):
        return disk.read_document(path)
    # A late import, because the readers of archives take 3 ms, and most dumps are texts.
    from hlo_lsp.protos.converted_files import read_converted  # noqa: PLC0415

    return read_converted(path)


def damage_in(path: Path | None, lines: list[str]) -> str | None:
    """Return a message about the damage of a converted file, or None."""
    if path is None or not lines[0].startswith(DAMAGE_MARK):
        return None
    return f"{shown(path)}: damaged: {lines[0].removeprefix(DAMAGE_MARK)}; the rest was read"
