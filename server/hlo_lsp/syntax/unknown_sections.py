"""The extent of sections that no rule reads: lines whose brackets belong together.

A newer compiler may print settings, tables, or JSON around the computations of a module, and new
sections in a memory file. All lines of such a section are one record, so that none of them is taken
for a computation or for a row of another section.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_MAX_LINES = 10_000  # of a section
_MAX_DEPTH = 30  # open brackets; after each of them, the lines are read again
# Lines after an open bracket are read again for each bracket: what they are is kept if it is short.
MAX_KEPT_LINES = 1 << 14
MAX_KEPT_LENGTH = 200
_OPENING = {"(": ")", "[": "]", "{": "}"}
_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//.*|([()\[\]{}])')


@dataclass(frozen=True, slots=True)
class SectionExtent:
    """The number of lines of a section, 0 if there is none.

    ``seen`` is the number of lines, from the first one, that this depends on.
    """

    count: int
    seen: int


def bracketed_section(
    lines: Sequence[str], at: int, known_lines: Callable[[int], int]
) -> SectionExtent:
    """Return the extent of the section with the title or the first bracket on line ``at``.

    The section ends with the line that closes its brackets. A bracket on a line of its own may
    follow the title. There is no section if a statement of a known form is between, because the
    text is then damaged.

    Args:
        lines: The lines of the file.
        at: The first line, which no rule reads.
        known_lines: The number of lines to read to see that a statement of a known form begins on
            a line; 0 if none does.
    """
    indent = _indent(lines[at])
    expected: list[str] = []  # closing brackets
    for number in range(at, min(at + _MAX_LINES, len(lines))):
        line = lines[number]
        seen = number - at + 1
        if number > at:
            if (not expected and not _opens(line)) or (
                line.lstrip().startswith(tuple(")]}")) and _indent(line) < indent
            ):
                return SectionExtent(0, seen)
            known = known_lines(number)
            if known:
                return SectionExtent(0, seen - 1 + known)
        for sign in _brackets(line):
            if sign in _OPENING:
                expected.append(_OPENING[sign])
            elif not expected or expected.pop() != sign:
                return SectionExtent(0, seen)
        if len(expected) > _MAX_DEPTH:
            return SectionExtent(0, seen)
        if not expected and number > at:
            return SectionExtent(seen, seen)
    return SectionExtent(0, min(_MAX_LINES, len(lines) - at))


def is_indented_more(line: str, title: str) -> bool:
    """Return True if a line is indented more than the title of a section."""
    return _indent(line) > _indent(title)


def _opens(line: str) -> bool:
    """Return whether a line begins with the bracket of the title above it."""
    return line.lstrip().startswith(tuple(_OPENING))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _brackets(line: str) -> tuple[str, ...]:
    """Return the brackets of a line outside of strings and comments."""
    return _known_brackets(line) if len(line) <= MAX_KEPT_LENGTH else _find_brackets(line)


def _find_brackets(line: str) -> tuple[str, ...]:
    return tuple(match[1] for match in _SIGNS.finditer(line) if match[1])


_known_brackets = lru_cache(MAX_KEPT_LINES)(_find_brackets)
