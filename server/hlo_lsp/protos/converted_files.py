"""Files that become documents: protos, compressed files, and archives.

A proto or an archive becomes the text that XLA prints with ``--xla_dump_to=-``: its files, each
between two marks. All other code therefore reads text only.
"""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from hlo_lsp.protos.names import DAMAGE_MARK, is_profile, text_name, uncompressed_name
from hlo_lsp.text import disk
from hlo_lsp.text.compression import DAMAGES, ExpansionError, expanded, pieces
from hlo_lsp.text.disk import BinaryFileError, UnreadableError, unreadable
from hlo_lsp.text.document import Document
from hlo_lsp.text.remote import shown

_MAX_BYTES = 1 << 30  # of all text in a file; the largest real dump has 300 MB
_TEXT_ENDINGS = (".txt", ".hlo", ".log")
_Damages = (*DAMAGES, tarfile.TarError)


def read_converted(path: Path) -> Document:
    """Read a whole file, and convert it to text.

    Raises:
        UnreadableError: The file is missing, a folder, forbidden, too large, or not a dump.
    """
    try:
        with disk.open_regular_file(path) as file:
            return _Conversion(path).document(file)
    except ExpansionError as error:
        raise UnreadableError(f"{shown(path)}: {error}; unpack what you need") from None
    except OSError as error:
        raise unreadable(path, error) from error


class _Conversion:
    """The conversion of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._damage: str | None = None
        self._notes: list[str] = []
        self._left = _MAX_BYTES
        self._is_archive = uncompressed_name(path.name).endswith(".tar")
        self._text: Document | None = None  # the only content, if that is a text
        self._sections: list[str] = []

    def document(self, file: BinaryIO) -> Document:
        """Return the text of the file."""
        name = self._path.name
        inner = uncompressed_name(name)
        stream = expanded(file, name)
        if self._is_archive:
            self._read_archive(stream)
        else:
            self._add(inner, self._read(stream, inner))
        if self._text is not None and self._damage is None:
            return self._text
        damage = [] if self._damage is None else [DAMAGE_MARK + self._damage]
        return Document.from_lines([*damage, *self._notes, "", *self._sections])

    def _read(self, stream: Any, name: str) -> bytes:
        """Return the content of a stream, or the part before the damage."""
        found = io.BytesIO()  # unlike a list of parts, it needs no copy
        try:
            for piece in pieces(stream, self._left):
                found.write(piece)
        except _Damages as error:
            self._damage = self._damage or f"{name} ends after {found.tell():,} bytes ({error})"
        self._left -= found.tell()
        return found.getvalue()

    def _read_archive(self, stream: Any) -> None:
        self._notes.append(f"{self._path.name}: an archive.")
        found: list[tuple[str, str, bytes]] = []
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    folder, _, name = member.name.rpartition("/")
                    # A sparse file expands to any size, and no text has holes.
                    is_plain = member.isfile() and not member.issparse()
                    content = archive.extractfile(member) if is_plain else None
                    if content is None or not (name.endswith(_TEXT_ENDINGS) or text_name(name)):
                        continue
                    with expanded(content, name) as inner:
                        found.append((folder, uncompressed_name(name), self._read(inner, name)))
        except _Damages as error:
            count = f"{len(found)} file{'' if len(found) == 1 else 's'}"
            self._damage = self._damage or f"the archive ends after {count} ({error})"
        if not found:
            raise BinaryFileError(
                f"{shown(self._path)}: {self._damage or 'no dump in this archive'}"
            )
        names = {(folder, name) for folder, name, _ in found}
        for folder, name, data in sorted(found):
            if (folder, text_name(name)) not in names:  # the text has the same content
                self._add(name, data)
        self._text = None

    def _add(self, name: str, data: bytes) -> None:
        if not name.endswith(".pb"):
            document = disk.document_of(io.BytesIO(data))
            self._text = document
            is_whole = self._damage is None
            self._sections += section_lines(name, document.lines, is_whole=is_whole)
            return
        # A late import, because protobuf takes 0.1 s and few dumps are protos.
        from hlo_lsp.protos.conversion import convert  # noqa: PLC0415

        converted = convert(data, name)
        if converted is None:
            if self._is_archive:
                return
            reason = (
                "a profile without HLO modules, or not a profile"
                if is_profile(name)
                else "not the proto of an HLO module or a buffer assignment"
            )
            raise BinaryFileError(f"{shown(self._path)}: {reason}")
        self._notes += converted.notes
        if converted.damage is not None and self._damage is None:
            self._damage = f"{name}, {converted.damage}" if self._is_archive else converted.damage
        for section in converted.sections:
            self._sections += section_lines(section.name, section.lines, is_whole=section.is_whole)


def section_lines(name: str, lines: list[str], *, is_whole: bool) -> Iterator[str]:
    """Yield the lines of a file between its marks, without the end mark if its end is missing."""
    yield f"*** Begin {name} ***"
    # A text ends with a line end, after which there is nothing.
    yield from lines[:-1] if lines and not lines[-1] else lines
    if is_whole:
        yield f"*** End {name} ***"
