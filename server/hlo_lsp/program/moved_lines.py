"""The Python lines of two versions of a program that correspond, and groups of both in pairs."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice, product
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Protocol, TypeVar

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine, file_name
from hlo_lsp.syntax.module_records import LocationRow

_MIN_EQUAL_LINES, _MIN_EQUAL_SHARE = 3, 0.5  # of files with different names
_MAX_FILE_PAIRS = 400
_EXTENT = re.compile(r"(?<!\w)(\w+)=(\d+)")
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class _Expression:
    """A part of a Python line without its number, which changes with the lines above."""

    function: str | None
    end_line: int
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file, and the expressions on it that a program uses."""

    source: SourceLine
    expressions: frozenset[_Expression]

    @property
    def extents(self) -> frozenset[tuple[int, tuple[tuple[str, str], ...]]]:
        """The places of the expressions, without the names of functions."""
        return frozenset((one.end_line, one.columns) for one in self.expressions)

    @property
    def functions(self) -> frozenset[str | None]:
        """The names of the functions that contain the line."""
        return frozenset(one.function for one in self.expressions)


def moved_lines(before: Compile | None, after: Compile | None) -> dict[str, str | None]:
    """Return the lines of ``before`` with those of ``after``, None for lines without one.

    In a file, a line corresponds to the one with the same expressions: with their function and
    columns, in the same order or the only ones. A changed line corresponds to the one at its place:
    where the lines around it have moved equally far, it is the one that has moved as far.
    Files correspond by path or name, else if their expressions are alike, as those of a file with
    another name are. The result has no lines of files that only one program uses, and is empty if a
    dump has no columns.
    """
    first, second = _files(before), _files(after)
    found: dict[str, str | None] = {}
    for path, other in _file_pairs(first, second):
        found |= {str(line.source): None for line in first[path]}
        for line, match in _line_pairs(first[path], second[other]):
            found[str(line.source)] = str(match.source)
    return found


def _files(dump: Compile | None) -> dict[str, list[_Line]]:
    """Return the lines of each file in the source location tables, empty without columns."""
    file = None if dump is None else dump.module_file
    if file is None:
        return {}
    tables = file.module.tables
    expressions: dict[SourceLine, set[_Expression]] = defaultdict(set)
    for row in tables.locations:
        line = tables.line_at(row)
        if line is not None and row.extent:
            key = SourceLine(line.file, line.line)
            expressions[key].add(_expression(row, line.function))
    found: dict[str, list[_Line]] = {}
    for key in sorted(expressions, key=lambda one: (one.file, one.line)):
        found.setdefault(key.file, []).append(_Line(key, frozenset(expressions[key])))
    return found


def _expression(row: LocationRow, function: str | None) -> _Expression:
    fields = dict(_EXTENT.findall(row.extent))
    end = int(fields.pop("end_line", row.source_line))
    return _Expression(function, end - row.source_line, tuple(fields.items()))


def _file_pairs(
    before: Mapping[str, Sequence[_Line]], after: Mapping[str, Sequence[_Line]]
) -> Iterator[tuple[str, str]]:
    """Yield files with equal paths, with equal names, and others that are alike."""
    first, second = set(before), set(after)
    yield from ((path, path) for path in first & second)
    rests: tuple[set[str], set[str]] = set(), set()
    for ours, others in _grouped(first - second, second - first, file_name):
        if len(ours) == len(others) == 1:
            yield ours[0], others[0]
        else:
            rests[0].update(ours)
            rests[1].update(others)
    alike = [
        (likeness, one, other)
        for one, other in islice(product(sorted(rests[0]), sorted(rests[1])), _MAX_FILE_PAIRS)
        if (likeness := _likeness(before[one], after[other]))
    ]
    for _, one, other in sorted(alike, key=lambda pair: -pair[0]):
        if one in rests[0] and other in rests[1]:
            rests[0].remove(one)
            rests[1].remove(other)
            yield one, other


def _likeness(before: Sequence[_Line], after: Sequence[_Line]) -> float:
    """Return the share of lines that two files have in common, 0 if it can be by chance."""
    first, second = ([line.extents for line in side] for side in (before, after))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    equal = sum(block.size for block in matcher.get_matching_blocks())
    functions = [{name for line in side for name in line.functions} for side in (before, after)]
    is_chance = equal < _MIN_EQUAL_LINES and not functions[0] & functions[1] - {None, "<module>"}
    share = matcher.ratio()
    return 0.0 if is_chance or share < _MIN_EQUAL_SHARE else share


def _line_pairs(before: Sequence[_Line], after: Sequence[_Line]) -> Iterator[tuple[_Line, _Line]]:
    first, second = ([line.expressions for line in side] for side in (before, after))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    rests: list[tuple[Sequence[_Line], Sequence[_Line], set[int]]] = []
    for kind, start, end, other_start, other_end in blocks:
        block = before[start:end], after[other_start:other_end]
        if kind == "equal":
            yield from zip(*block, strict=True)
        else:  # the equal lines before and after it
            around = [(before[start - 1], after[other_start - 1])] if start and other_start else []
            if end < len(before) and other_end < len(after):
                around.append((before[end], after[other_end]))
            rests.append((*block, {two.source.line - one.source.line for one, two in around}))
    moved = dict(
        _equal_pairs(
            chain.from_iterable(rest for rest, _, _ in rests),
            chain.from_iterable(rest for _, rest, _ in rests),
        )
    )
    yield from moved.items()
    matches = set(moved.values())
    for rest, other_rest, shifts in rests:
        ours = [line for line in rest if line not in moved]
        others = [line for line in other_rest if line not in matches]
        if len(shifts) == 1:  # No line was added or removed here: others are only used.
            (shift,) = shifts
            by_number = {line.source.line - shift: line for line in others}
            for line in ours:
                if line.source.line in by_number:
                    yield line, by_number[line.source.line]
        elif len(ours) == len(others):
            yield from zip(ours, others, strict=True)
        else:
            yield from _pairs_by_function(ours, others)


def _equal_pairs(before: Iterable[_Line], after: Iterable[_Line]) -> Iterator[tuple[_Line, _Line]]:
    """Yield the lines with the same expressions that no other line of their side has.

    They are those of functions that moved within the file.
    """
    for ours, others in _grouped(before, after, attrgetter("expressions")):
        if len(ours) == len(others) == 1:
            yield ours[0], others[0]


def _pairs_by_function(
    before: Iterable[_Line], after: Iterable[_Line]
) -> Iterator[tuple[_Line, _Line]]:
    """Yield the changed lines of functions that have equally many of them on both sides."""
    for ours, others in _grouped(before, after, attrgetter("functions")):
        if len(ours) == len(others):
            yield from zip(ours, others, strict=True)


def _grouped(
    before: Iterable[_Item], after: Iterable[_Item], key: Callable[[_Item], Hashable]
) -> Iterable[tuple[list[_Item], list[_Item]]]:
    """Return the items of both sides that have each key."""
    found: dict[Hashable, tuple[list[_Item], list[_Item]]] = {}
    for side, items in enumerate((before, after)):
        for item in items:
            found.setdefault(key(item), ([], []))[side].append(item)
    return found.values()


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


def _moved_lines(
    before: Mapping[str, LineGroup], after: Mapping[str, LineGroup]
) -> list[tuple[str, str]]:
    """Return the names of the groups of Python lines that have another folder after.

    Lines of one file name and number correspond if each side has only one of them.
    """
    first, second = (
        [
            (name, group.source.short)
            for name, group in groups.items()
            if group.source is not None and name not in others
        ]
        for groups, others in ((before, after), (after, before))
    )
    return [
        (ours[0][0], others[0][0])
        for ours, others in _grouped(first, second, itemgetter(1))
        if len(ours) == len(others) == 1
    ]
