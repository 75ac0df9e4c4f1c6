"""Fuzzy search for symbols whose names contain the letters of a query in order.

All names are lines of one text: one expression searches 300,000 names in 2 to 40 ms. An edit
distance is slower and less useful: it finds ``while.6`` for ``while bod``.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, islice
from operator import itemgetter
from pathlib import PurePath
from re import Pattern
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.backend import backend_from_file_name, space_name
from hlo_lsp.model.file_names import FileRole, split_suffix
from hlo_lsp.text.amounts import format_short_bytes


@dataclass(frozen=True, slots=True)
class SymbolQuery:
    """A search query: blanks are ignored, and case counts only if there is a capital letter."""

    text: str
    is_case_sensitive: bool

    @classmethod
    def of(cls, query: str) -> "SymbolQuery":
        """Parse a query."""
        text = "".join(query.split())
        return cls(text, text != text.lower())

    @property
    def expressions(self) -> list[re.Pattern[str]]:
        """The expressions that search a :class:`NameTable`, the best ones first.

        They find names that begin with the query, contain it, and contain its letters in order. A
        match extends to the end of its name. The list is empty for an empty query.
        """
        if not self.text:
            return []
        letters = [re.escape(letter) for letter in self.text]
        whole = "".join(letters)
        scattered = letters[0] + "".join(f"[^\n{letter}]*{letter}" for letter in letters[1:])
        return [
            re.compile(f"\n{whole}[^\n]*"),
            re.compile(f"{whole}[^\n]*"),
            re.compile(f"{scattered}[^\n]*"),
        ]


class NameTable:
    """Names in one text, numbered from 0."""

    __slots__ = ("_lower", "_starts", "_text")

    def __init__(self, names: Iterable[str]) -> None:
        given = [name.replace("\n", " ") for name in names]
        self._text = "\n".join(["", *given, ""])
        lower = _lowercase(self._text)
        self._lower = self._text if lower == self._text else lower
        self._starts = array("I", accumulate((len(name) + 1 for name in given), initial=1))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:
        return self._text[self._starts[number] : self._starts[number + 1] - 1]

    def find(
        self, expression: re.Pattern[str], *, is_case_sensitive: bool
    ) -> Iterator[tuple[int, int]]:
        """Yield (length of the name, offset in the text) for each match of an expression."""
        text = self._text if is_case_sensitive else self._lower
        for match in expression.finditer(text):
            end = match.end()
            yield end - text.rfind("\n", 0, end) - 1, end

    def number(self, place: int) -> int:
        """Return the number of the name at an offset of the text."""
        return bisect_right(self._starts, place) - 1


def _lowercase(text: str) -> str:
    """Return the text in lower case if the length is the same, else the text itself."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


_ROLES = list(FileRole)  # of module texts in pipeline order
_MAX_CANDIDATES = 1000  # names that are compared
_MAX_RESOLVED_NAMES = 30_000  # matches whose sizes are compared, about 50 ms
_MAX_PLACES_PER_NAME = 40  # further symbols of a name follow those of other names


class SymbolKind(IntEnum):
    """The kinds of symbols in the order of results with the same score."""

    MODULE = 0
    FILE = 1
    COMPUTATION = 2
    INSTRUCTION = 3
    VALUE = 4
    SOURCE = 5


class SymbolEntry(NamedTuple):
    """A name in a file; line and column (code points) count from 0.

    ``home`` is the number of the computation's entry, ``stack`` that of the Python stack, -1 if
    there is none.
    """

    name: str
    kind: SymbolKind
    line: int
    column: int
    width: int
    home: int = -1
    stack: int = -1


@dataclass(frozen=True, slots=True)
class Symbol:
    """A search result; ``about`` describes its container."""

    name: str
    kind: SymbolKind
    uri: str
    line: int
    start: int
    end: int
    about: str


class BufferSize(NamedTuple):
    """The size of a buffer in bytes, and the number of its memory space."""

    bytes: int
    space: int

    def describe(self, title: str) -> str | None:
        """Return ``4.00 MiB HBM`` for a buffer of the file with this title, None for 0 bytes."""
        if not self.bytes:
            return None
        space = space_name(self.space, backend_from_file_name(PurePath(title).name))
        return f"{format_short_bytes(self.bytes)}{f' {space}' if space else ''}"


NO_BUFFER = BufferSize(0, 0)


def compile_key(uri: str, title: str) -> str:
    """Return a key that the compiled module and its memory files have in common."""
    front, suffix = split_suffix(PurePath(title).name)
    if suffix.role.is_compiled:
        return f"{uri.rpartition('/')[0]}/{front}.{suffix.architecture}"
    return f"{uri}#{title}"


def module_key(uri: str, title: str) -> str:
    """Return a key that all texts of one module have in common, from the first pass to the last."""
    front, suffix = split_suffix(PurePath(title).name)
    if suffix.role is FileRole.OTHER:
        return f"{uri}#{title}"
    return f"{uri.rpartition('/')[0]}/{front}"


def pipeline_position(title: str) -> tuple[int, int, str]:
    """Return a sort key: the position of a text in the pipeline of passes."""
    suffix = split_suffix(PurePath(title).name)[1]
    return _ROLES.index(suffix.role), suffix.number, suffix.text


def pass_rank(title: str) -> int:
    """Return 0 for a compiled module and its memory files, 1 for texts of other passes."""
    role = split_suffix(PurePath(title).name)[1].role
    return int(role.is_module_text and role is not FileRole.AFTER_OPTIMIZATIONS)


class FileSymbols:
    """The symbols of one file, stored in 40 bytes each.

    ``stacks`` are the Python stacks of instructions, the innermost line first, as numbers of
    ``sources`` such as ``train.py:212``. ``sizes`` are the sizes of values by name, with and
    without the shape index.
    """

    def __init__(
        self,
        uri: str,
        title: str,
        entries: Sequence[SymbolEntry],
        sources: Sequence[str] = (),
        stacks: Sequence[tuple[int, ...]] = (),
        *,
        sizes: Mapping[str, BufferSize] | None = None,
    ) -> None:
        self.uri = uri
        self.title = title
        self.sizes = sizes or {}
        self.compile_key = compile_key(uri, title)
        self.module_key = module_key(uri, title)
        self.pass_rank = pass_rank(title)
        self.position = pipeline_position(title)
        self.names = NameTable(entry.name for entry in entries)
        self.sources = NameTable(sources)
        self._stacks = stacks
        self._kinds = bytes(entry.kind for entry in entries)
        self._lines = array("I", (entry.line for entry in entries))
        self._columns = array("I", (entry.column for entry in entries))
        self._widths = array("I", (entry.width for entry in entries))
        self._homes = array("i", (entry.home for entry in entries))
        self._stack_of = array("i", (entry.stack for entry in entries))

    def symbol(self, number: int, sizes: "SizesOfCompiles | None" = None) -> Symbol:
        """Return the symbol of an entry."""
        home, name = self._homes[number], self.names[number]
        about = self._about("" if home < 0 else self.names[home], name, sizes)
        return self._make_symbol(number, name, SymbolKind(self._kinds[number]), about)

    def _about(self, container: str, name: str, sizes: "SizesOfCompiles | None") -> str:
        size = None if sizes is None else sizes.size(self, name).describe(self.title)
        return " · ".join(filter(None, (container, size, self.title)))

    def modules(self) -> Iterator[Symbol]:
        """Yield the modules of the file."""
        number = self._kinds.find(SymbolKind.MODULE)
        while number >= 0:
            yield self.symbol(number)
            number = self._kinds.find(SymbolKind.MODULE, number + 1)

    def symbols_of_source(self, source: int, sizes: "SizesOfCompiles | None") -> Iterator[Symbol]:
        """Yield the instructions of a Python line: first those with it as innermost line.

        The instructions with the largest buffers come first.
        """
        inner = {number for number, stack in enumerate(self._stacks) if stack[0] == source}
        outer = {number for number, stack in enumerate(self._stacks) if source in stack} - inner
        for stacks in (inner, outer):
            found = [number for number, stack in enumerate(self._stack_of) if stack in stacks]
            if sizes is not None and self.pass_rank == 0:
                found.sort(key=lambda number: -sizes.size(self, self.names[number]).bytes)
            for number in found:
                name = self.names[number]
                about = self._about(name, name, sizes)
                yield self._make_symbol(number, self.sources[source], SymbolKind.SOURCE, about)

    def _make_symbol(self, number: int, name: str, kind: SymbolKind, about: str) -> Symbol:
        start = self._columns[number]
        end = start + self._widths[number]
        return Symbol(name, kind, self.uri, self._lines[number], start, end, about)


class SizesOfCompiles:
    """The sizes of buffers by the file of a symbol and its name."""

    def __init__(self, files: Iterable[FileSymbols]) -> None:
        self._by_compile: dict[str, Mapping[str, BufferSize]] = {}
        for file in files:
            if file.sizes:
                self._by_compile.setdefault(file.compile_key, file.sizes)

    def size(self, file: FileSymbols, name: str) -> BufferSize:
        """Return the size of the largest buffer of a name; 0 bytes if there is none."""
        return self._by_compile.get(file.compile_key, {}).get(name, NO_BUFFER)


NameHits = dict[str, list[tuple[FileSymbols, int]]]


def search_symbols(
    files: Iterable[FileSymbols],
    text: str,
    limit: int,
    preferred: Set[str] = frozenset(),
) -> list[Symbol]:
    """Return at most ``limit`` symbols that match a query, the best first.

    Of names that match equally well, those in the compiled module precede those that only other
    passes have, then those of preferred modules, those with larger buffers, and shorter ones. Of
    several texts of a module with a name, only the last one is listed. Further symbols of a
    frequent name are included only if there is room for them. An empty query matches
    all modules.

    Args:
        files: The symbols of all files.
        text: The query.
        limit: The maximum number of symbols.
        preferred: The keys of the modules that come first, for example those of open files.
    """
    query = SymbolQuery.of(text)
    if not query.text:
        texts = [(file, 0) for file in files if any(file.modules())]
        last = [file for file, _ in _last_texts(texts)]
        last.sort(key=lambda file: file.module_key not in preferred)
        return list(islice((module for file in last for module in file.modules()), limit))
    plain = [(file, file.names) for file in files]
    lines = [(file, file.sources) for file, _ in plain]
    sizes = SizesOfCompiles(file for file, _ in plain)
    named: NameHits = {}
    sources: NameHits = {}
    matches: dict[str, int] = {}  # the number of the expression that finds a name
    for number, expression in enumerate(query.expressions):
        for tables, hits in ((plain, named), (lines, sources)):
            found = _find_names(tables, expression, query, limit, sizes)
            hits.update((name, places) for name, places in found.items() if name not in hits)
        for name in (*named, *sources):
            matches.setdefault(name, number)
        if sum(map(len, named.values())) + sum(map(len, sources.values())) >= limit:
            break
    ranked: list[tuple[bool, int, int, bool, int, int, str]] = []
    for name, match in matches.items():
        if _repeats_instruction(name, named):
            continue
        shown = name if query.is_case_sensitive else name.lower()
        places = [file for file, _ in (*named.get(name, ()), *sources.get(name, ()))]
        first = min(file.pass_rank for file in places)
        largest = max(sizes.size(file, name).bytes for file in places)
        is_other = shown not in {query.text, f"{query.text}{{}}"}
        is_closed = all(file.module_key not in preferred for file in places)
        ranked.append((is_other, match, first, is_closed, -largest, len(name), name))
        checkpoint()
    ranked.sort()
    chosen: list[tuple[int, Symbol]] = []
    spare: list[tuple[int, Symbol]] = []
    for rank, (*_, name) in enumerate(ranked):
        symbols = islice(_symbols_of_name(name, named, sources, sizes, preferred), limit)
        chosen += ((rank, symbol) for symbol in islice(symbols, _MAX_PLACES_PER_NAME))
        if len(spare) < limit:
            spare += ((rank, symbol) for symbol in symbols)
        if len(chosen) >= limit:
            break
    chosen += spare[: max(limit - len(chosen), 0)]
    chosen.sort(key=itemgetter(0))
    return [symbol for _, symbol in chosen[:limit]]


def _find_names(
    tables: list[tuple[FileSymbols, NameTable]],
    expression: Pattern[str],
    query: SymbolQuery,
    limit: int,
    sizes: SizesOfCompiles,
) -> NameHits:
    """Return the names that an expression finds, those of large buffers and short ones first."""
    by_length: dict[int, list[tuple[FileSymbols, NameTable, int]]] = {}
    for file, names in tables:
        for length, place in names.find(expression, is_case_sensitive=query.is_case_sensitive):
            by_length.setdefault(length, []).append((file, names, place))
        checkpoint()
    found: list[tuple[int, int, int, str, FileSymbols, int]] = []
    for length in sorted(by_length):
        checkpoint()
        for file, names, place in by_length[length]:
            number = names.number(place)
            name = names[number]
            size = sizes.size(file, name).bytes
            found.append((file.pass_rank, -size, len(found), name, file, number))
        if len(found) > _MAX_RESOLVED_NAMES:
            break
    found.sort()
    hits: NameHits = {}
    for *_, name, file, number in found:
        if name in hits or len(hits) < _MAX_CANDIDATES:
            known = hits.setdefault(name, [])
            if len(known) < limit:
                known.append((file, number))
    return hits


def _repeats_instruction(name: str, named: NameHits) -> bool:
    """Return whether a name is that of values whose instructions are found, too.

    The entry of an instruction has the size of its largest value.
    """
    instruction, index, _ = name.partition("{")
    instructions = named.get(instruction, ())
    if not index or not instructions:
        return False
    compiles = {file.compile_key for file, _ in instructions}
    return all(file.compile_key in compiles for file, _ in named[name])


def _symbols_of_name(
    name: str,
    named: NameHits,
    sources: NameHits,
    sizes: SizesOfCompiles,
    preferred: Set[str],
) -> Iterator[Symbol]:
    """Yield the symbols of a name, those of the last text of each module that has it."""

    def order(file: FileSymbols) -> tuple[int, bool]:
        return file.pass_rank, file.module_key not in preferred

    direct = [
        (order(file), file.symbol(number, sizes))
        for file, number in _last_texts(named.get(name, ()))
    ]
    direct.sort(key=lambda one: (one[0], one[1].kind))
    yield from (symbol for _, symbol in direct)
    for file, number in sorted(_last_texts(sources.get(name, ())), key=lambda hit: order(hit[0])):
        yield from file.symbols_of_source(number, sizes)


def _last_texts(hits: Sequence[tuple[FileSymbols, int]]) -> list[tuple[FileSymbols, int]]:
    """Return the hits in the compiled text of each module, or else in its last text."""
    last: dict[str, FileSymbols] = {}
    for file, _ in hits:
        known = last.setdefault(file.module_key, file)
        if (-file.pass_rank, file.position) > (-known.pass_rank, known.position):
            last[file.module_key] = file
    return [
        (file, number)
        for file, number in hits
        for chosen in [last[file.module_key]]
        if file is chosen or file.pass_rank == chosen.pass_rank == 0
    ]
