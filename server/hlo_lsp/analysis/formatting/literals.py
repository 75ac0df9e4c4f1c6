"""Literals as XLA's printer writes them (DenseArrayToStringHelper in literal.cc)."""

import re
from re import Match

_ARRAY = re.compile(r"[a-z]\w*\[([^\]]*)\](?:\{[^{}]*\})?")
_TWO_WORDS = re.compile(r"[^\s{}(),]\s+[^\s{}(),]")
_ROW = re.compile(r"\{([^{}]+)\}")
_COMPLEX = re.compile(r"\([^()]*\)")
_NEIGHBOURS = re.compile(r"\{(?=\{)|\}(?=\})")
_WITH_COMMENTS = 4  # from this rank on each matrix has its number in front, as a comment


def printed_literal(text: str, shape: str) -> str:
    """What stands between the parentheses of a constant; ``shape`` is as XLA prints it.

    Matrices have blanks inside of their braces, and so has a row of more than one element. What is
    no array stays as it is.
    """
    text = text.strip()
    array = _ARRAY.fullmatch(shape)
    if array is None or _TWO_WORDS.search(text) is not None:
        return text
    rank = array[1].count(",") + 1 if array[1] else 0
    literal = "".join(text.split()).replace(",", ", ")
    if rank < 2 or literal == "{...}":
        return literal
    depth = len(literal) - len(literal.lstrip("{"))
    is_empty = "{}" in literal
    if rank >= _WITH_COMMENTS or depth > rank or (depth < rank and not is_empty):
        return text
    if is_empty and depth < rank:
        literal = literal.replace("{}", "{  }")
    return _NEIGHBOURS.sub(r"\g<0> ", _ROW.sub(_row, literal))


def _row(match: Match[str]) -> str:
    return f"{{ {match[1]} }}" if "," in _COMPLEX.sub("", match[1]) else match[0]
