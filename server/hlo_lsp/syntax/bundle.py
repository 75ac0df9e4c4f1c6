"""The files in a text that XLA printed by ``--xla_dump_to=-``, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from hlo_lsp.syntax.grammar import load

_BEGIN = "*** Begin "
_END = "*** End "
_CLOSE = " ***"


@dataclass(frozen=True, slots=True)
class Section:
    """A file in a longer text: its lines are ``first`` (from 0) to ``first + count - 1``.

    Joined by line ends these lines are the text that XLA would have written into the file, if
    ``is_whole``; else it was cut off, or other output came in between. ``name`` is as printed: in
    a file name blanks and brackets would be ``_``.
    """

    name: str
    first: int
    count: int
    is_whole: bool


def sections(lines: Sequence[str]) -> list[Section]:
    """The sections of a text, in its order; none for a text that is no such output.

    A section ends at the next line that begins or ends one. It is whole if that line is its own
    end. So output of two libraries that write at the same time (jaxlib and libtpu hold a lock
    each) costs the sections that were mixed and no other. A line that ends a section which was
    never begun is text like any other. Before a begin a line may hold other output.
    """
    found: list[Section] = []
    open_names: list[str] = []  # begun and not ended; text is only of the last
    start: int | None = None  # of the text of the last
    for number, line in enumerate(lines):
        if not line.endswith(_CLOSE):
            continue
        ended = _marker("section_end", line, 0) if line.startswith(_END) else None
        begun = None if ended else _marker("section_begin", line, line.find(_BEGIN))
        if begun is None and (ended is None or ended not in open_names):
            continue
        if start is not None:
            name = open_names[-1]
            found.append(Section(name, start, number - start, ended == name))
            start = None
        if begun is not None:
            open_names.append(begun)
            start = number + 1
        elif ended is not None:
            open_names.remove(ended)
    if start is not None:
        found.append(Section(open_names[-1], start, len(lines) - start, is_whole=False))
    return found


def begins_section(line: str) -> bool:
    """Whether a section begins behind this line."""
    return line.endswith(_CLOSE) and _marker("section_begin", line, line.find(_BEGIN)) is not None


def _marker(rule: str, line: str, column: int) -> str | None:
    if column < 0:
        return None
    match = load("bundle").expression(rule).fullmatch(line, column)
    return None if match is None else match["FILE"]
