"""Python lines of two compiles whose files are in different folders, such as two checkouts."""

from collections.abc import Mapping
from typing import Protocol

from hlo_lsp.model.source import SourceLine


class LineGroup(Protocol):
    """A group of buffers or instructions."""

    @property
    def source(self) -> SourceLine | None:
        """The Python line that the members have in common, None for another key."""


def moved_lines(
    before: Mapping[str, LineGroup], after: Mapping[str, LineGroup]
) -> list[tuple[str, str]]:
    """Return the names of the groups of Python lines that have another folder after.

    Lines of one file name and number correspond if each side has only one of them.
    """
    sides: list[dict[str, list[str]]] = []
    for groups, others in ((before, after), (after, before)):
        names: dict[str, list[str]] = {}
        for name, group in groups.items():
            if group.source is not None and name not in others:
                names.setdefault(group.source.short, []).append(name)
        sides.append(names)
    first, second = sides
    return [
        (names[0], second[short][0])
        for short, names in first.items()
        if len(names) == len(second.get(short, ())) == 1
    ]
