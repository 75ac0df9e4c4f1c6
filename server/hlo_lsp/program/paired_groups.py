"""Groups of two compiles in pairs, also if Python lines or files moved."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar

from hlo_lsp.model.source import SourceLine, file_name

_GONE = " (before)"  # after the name of a line or an instruction that another one has now
_NO_NAMES: Mapping[str, str | None] = MappingProxyType({})


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
    before: Iterable[_Group],
    after: Iterable[_Group],
    names: Mapping[str, str | None] = _NO_NAMES,
) -> Iterator[tuple[str, _Group | None, _Group | None]]:
    """Yield the names of groups with the group of each side, None for a side without it.

    The name of a group that has another one after, such as another line number, is that after.

    Args:
        before: The groups of one side.
        after: Those of the other one.
        names: The names before with those after, None for a group that is gone; such as those of
            lines that ``moved_lines`` returns.
    """
    second = {group.name: group for group in after}
    known = set(names.values())
    first: dict[str, _Group] = {}
    unknown: dict[str, _Group] = {}
    for group in before:
        if group.name not in names:
            unknown[group.name] = group
            continue
        name = names[group.name]
        if name is None:
            is_taken = group.name in known or group.name in second
            name = group.name + (_GONE if is_taken else "")
        first[name] = group
    others = {name: group for name, group in second.items() if name not in known}
    for name, other in _moved_lines(unknown, others):
        unknown[other] = unknown.pop(name)
    first |= unknown
    for name in dict.fromkeys([*first, *second]):
        yield name, first.get(name), second.get(name)


def line_label(name: str) -> str:
    """Return the name of a pair of groups of a Python line without folders."""
    return file_name(name)


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
