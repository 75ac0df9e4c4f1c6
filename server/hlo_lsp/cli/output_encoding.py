"""Output in encodings without some of its characters, such as ASCII and Windows code pages."""

import codecs
from io import TextIOWrapper

from hlo_lsp.cli.inert_streams import unguarded_output

_HANDLER = "hlo_lsp_plain"
_PLAIN = {
    "·": "|",
    "µ": "u",
    "…": "...",
    "×": "x",
    "→": "->",
    "↔": "<->",
    "–": "-",
    "—": "-",
    "−": "-",
    "≤": "<=",
    "≥": ">=",
}
_FAILING_HANDLERS = {"strict", "surrogateescape"}


def replace_missing_characters() -> None:
    """Make standard output print similar characters for those that its encoding lacks.

    A handler that the user chose (``PYTHONIOENCODING=ascii:replace``) stays.
    """
    codecs.register_error(_HANDLER, _replacement)
    stream = unguarded_output()
    if isinstance(stream, TextIOWrapper) and stream.errors in _FAILING_HANDLERS:
        stream.reconfigure(errors=_HANDLER)


def _replacement(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return a replacement of the first character, and the index after it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not UTF-8
        return bytes([ord(character) & 0xFF]), error.start + 1
    return _PLAIN.get(character, "?"), error.start + 1
