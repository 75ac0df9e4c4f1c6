"""Groups of two compiles in pairs, also if Python files moved, such as to another checkout."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from hlo_lsp.model.source import SourceLine


class LineGroup(Protocol):
    """A group of buffers or instructions."""

    @property
    def name(self) -> str:
        """The name of the group, different for each."""

    @property
    def source(self) -> SourceLine | None:
        """The Python line that the members have in common, None for another key."""


_Group = TypeVar("_Group", bound=LineGroup)


def paired_groups(
    before: Iterable[_Group], after: Iterable[_Group]
) -> Iterator[tuple[str, _Group | None, _Group | None]]:
    """Yield the names of groups with the group of each side, None for a side without it.

    The name of a Python line that has another folder after is that after.
    """
    first = {group.name: group for group in before}
    second = {group.name: group for group in after}
    for name, other in _moved_lines(first, second):
        first[other] = first.pop(name)
    for name in dict.fromkeys([*first, *second]):
        yield name, first.get(name), second.get(name)


def _moved_lines(
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
