"""Escapes in the strings of a dump."""

import re

_ESCAPES = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTER_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def unescape(text: str) -> str:
    r"""Return a string that ``absl::CEscape`` escaped: ``\303\251`` is one letter of UTF-8.

    Bytes that are not UTF-8 become U+FFFD.
    """
    if "\\" not in text:
        return text
    return _ESCAPES.sub(_unescaped_byte, text.encode()).decode("utf-8", "replace")


def _unescaped_byte(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = match.groups()
    if letter is not None:
        return _LETTER_ESCAPES.get(letter, letter)
    number = int(octal, 8) if octal is not None else int(hexadecimal, 16)
    return bytes([number & 0xFF])
