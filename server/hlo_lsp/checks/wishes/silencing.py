"""A code more in the ``ignore`` of an ``hlo-lsp.toml``, with all else in it left as it was."""

import re
import sys
from dataclasses import dataclass

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LIST = re.compile(r"^[ \t]*ignore[ \t]*=[ \t]*\[", re.MULTILINE)
_ENTRY = re.compile(r"\s*(?P<end>\])?")


@dataclass(frozen=True, slots=True)
class Insertion:
    """What is to stand in front of a column of a line (from 0, code points)."""

    line: int
    column: int
    text: str


def silenced(text: str, code: str) -> Insertion | None:
    """What to write into the text of a settings file so that a code is ignored.

    None if it is ignored already, and for a text that is no TOML or says it in a way that one
    insertion does not change for certain.
    """
    before = _read(text)
    if before is None:
        return None
    ignored = before.get("ignore", [])
    if not isinstance(ignored, list) or code in ignored:
        return None
    for place, new in _candidates(text, code):
        after = _read(text[:place] + new + text[place:])
        if after == {**before, "ignore": [code, *ignored]}:
            line = text.count("\n", 0, place)
            return Insertion(line, place - (text.rfind("\n", 0, place) + 1), new)
    return None


def _candidates(text: str, code: str) -> list[tuple[int, str]]:
    """Places in the text and what may be put there: the reader says which one is right."""
    found = []
    for head in _LIST.finditer(text):
        entry = _ENTRY.match(text, head.end())
        is_empty = entry is not None and entry["end"] is not None
        found.append((head.end(), f'"{code}"' if is_empty else f'"{code}", '))
    return [*found, (0, f'ignore = ["{code}"]\n')]  # in front of all tables


def _read(text: str) -> "dict[str, object] | None":
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
