"""Brackets, strings and comments of HLO text: what is inside of what.

Strings are C-escaped and stay on their line, block comments may not (hlo_lexer.cc).
"""

import re
from collections.abc import Iterator
from re import Match

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*[\s\S]*?\*/|//[^\n]*|[(\[{]|[)\]}]|,|"')
_COMMENTS = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*')
INDEX_MARK = "/*index="
_SIGN = re.compile(r"[^\n]")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def commas(text: str, at: int, end: int) -> Iterator[int]:
    """Where the commas stand that are in no bracket and no string, from ``at`` on."""
    depth = 0
    for match in _TOKENS.finditer(text, at, end):  # `nested` costs twice as much in long headers
        sign = match[0]
        if sign == ",":
            if depth == 0:
                yield match.start()
        elif sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1


def nested(text: str, at: int, end: int | None = None) -> Iterator[tuple[Match[str], int]]:
    """Commas, brackets and string beginnings, each with the depth around it.

    A bracket that opens counts the depth outside of it, and so does the one that closes it.
    """
    depth = 0
    for match in _TOKENS.finditer(text, at, len(text) if end is None else end):
        sign = match[0]
        if sign in _CLOSING:
            depth -= 1
        yield match, depth
        if sign in _OPENING:
            depth += 1


def closing(text: str, at: int) -> int | None:
    """Where the bracket closes that opens at ``at``, or None."""
    depth = 0
    for match in _TOKENS.finditer(text, at):
        sign = match[0]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
            if depth == 0:
                return match.start()
    return None


def is_balanced(text: str, at: int) -> bool:
    """Whether every bracket and string that opens behind ``at`` is closed again."""
    depth = 0
    for match in _TOKENS.finditer(text, at):
        sign = match[0]
        if sign == '"':  # a string that does not end
            return False
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth < 0:
            return False
    return depth == 0


def without_comments(text: str) -> str:
    """The text with blanks where comments were: every column and line stays what it is.

    The marks that XLA prints itself, ``/*index=5*/``, are left alone: readers of shapes know them.
    """
    if "//" not in text and text.count("/*") == text.count(INDEX_MARK):
        return text
    return _COMMENTS.sub(_blanked, text)


def _blanked(match: Match[str]) -> str:
    text = match[0]
    return text if text[0] == '"' or text.startswith(INDEX_MARK) else _SIGN.sub(" ", text)
