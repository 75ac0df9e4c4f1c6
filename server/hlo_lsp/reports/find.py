"""Buffers and instructions by name, Python line, shape, or scope; as text and as JSON."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import count_noun, shortened
from hlo_lsp.display.table import Content, Table
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import without_layout, without_memory_space
from hlo_lsp.model.source import SourceLine, file_name
from hlo_lsp.model.symbol_search import SymbolQuery
from hlo_lsp.program.data_origin import Origin, origins_of, saving_text
from hlo_lsp.program.instruction_owners import instruction_facts, owner_of
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_short_bytes as _size
from hlo_lsp.text.inert import Json

_LINE = re.compile(r"(.+\.\w+):([1-9]\d{0,8})|[^\[(]+\.py")
_SHAPE = re.compile(r"\(*([a-z]\w*)\[[\d,<=? ]*\].*")
_TILES = re.compile(r":[^:{}]*\}")  # and other properties of a layout after the order of dimensions


class QueryKind(Enum):
    """The kind of a query."""

    LINE = "line"
    SHAPE = "shape"
    SCOPE = "scope"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class FindQuery:
    """A query; ``text`` is what the user wrote."""

    kind: QueryKind
    text: str

    @classmethod
    def of(cls, text: str) -> "FindQuery":
        """Recognize a Python file or line, a shape, a scope, or else a name."""
        text = text.strip()
        if _LINE.fullmatch(text):
            return cls(QueryKind.LINE, text)
        shape = _SHAPE.fullmatch(text)
        if shape is not None and shape[1] in vocabulary().element_types:
            return cls(QueryKind.SHAPE, text)
        is_scope = "/" in text or "(" in text
        return cls(QueryKind.SCOPE if is_scope else QueryKind.NAME, text.removeprefix("%"))


@dataclass(frozen=True, slots=True)
class FoundBuffer:
    """A buffer, or an instruction that defines none.

    Attributes:
        name: Name of the instruction with the shape index of the value.
        bytes: Size of the buffer, 0 for an instruction without one.
        peak_bytes: Bytes at the peak of its memory space; a shared byte counts for one buffer.
        space: Name of the memory space, None without a buffer.
        shape: The shape as printed.
        live: The live range, None if it is unknown.
        computation: Name of the computation, None without a module text.
        source: The Python line of the data's origin.
        saved_by: The Python line of the loop that saved the data, None if no loop did.
        argument: The argument of the program that holds the data, None for computed data.
        file: The file of the place: the module text if there is one.
        line: The line of the place, counted from 1.
        pass_rank: 0 for the compiled module, 1 for texts of other passes.
        match: 0 if the name equals the query, 1 if it contains it, 2 if it contains its letters.
        is_fixed: Whether the bytes are occupied during the whole program, not only while the data
            is live.
    """

    name: str
    shape: str
    computation: str | None
    source: SourceLine | None
    file: DumpFile
    line: int
    bytes: int = 0
    peak_bytes: int = 0
    space: str | None = None
    live: RangeRow | None = None
    saved_by: SourceLine | None = None
    argument: str | None = None
    pass_rank: int = 0
    match: int = 0
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class SpaceShare:
    """The bytes of the buffers that were found at the peak of a memory space."""

    space: str
    bytes: int
    peak_bytes: int
    step: int


@dataclass(frozen=True, slots=True)
class FoundInModule:
    """The buffers of a compile that match a query, the largest first."""

    module: str
    path: str
    buffers: tuple[FoundBuffer, ...]
    shares: tuple[SpaceShare, ...]


def find_buffers(dump: Compile, query: FindQuery) -> FoundInModule:
    """Return what a query finds in a compile; of names, only the best kind of matches."""
    search = _Search(dump)
    found = [*search.buffers(_matcher(query))]
    if query.kind is QueryKind.LINE and not found:
        found = [*search.instructions_of_line(query.text)]
    if query.kind is QueryKind.NAME:
        found += search.instructions_without_buffers(query.text, {one.name for one in found})
        best = min((one.match for one in found), default=0)
        found = [one for one in found if one.match == best]
    found.sort(
        key=lambda one: (
            -one.bytes,
            -one.peak_bytes,
            one.pass_rank,
            0 if one.live is None else one.live.start_step,
        )
    )
    return FoundInModule(
        dump.module_name, dump.files[0].label, tuple(found), tuple(search.shares(found))
    )


_Match = Callable[[AssignedValue, Origin | None], int | None]


def _matcher(query: FindQuery) -> _Match:
    """Return a function that ranks a value: None if it does not match, 0 for the best match."""
    text = query.text
    if query.kind is QueryKind.NAME:
        return lambda value, origin: min(
            (rank for rank in (name_match(text, value.key), name_match(text, value.name),
             _argument_match(text, origin)) if rank is not None), default=None)  # fmt: skip
    if query.kind is QueryKind.SHAPE:
        clean = _shape_cleaner(text)
        return lambda value, _: 0 if clean(value.shape) == clean(text) else None
    if query.kind is QueryKind.SCOPE:
        return lambda _, origin: (
            0 if origin is not None and text in (origin.op_name or "").replace("\\'", "'") else None
        )
    return lambda _, origin: 0 if origin is not None and is_line(origin.source, text) else None


def _shape_cleaner(query: str) -> Callable[[str], str]:
    """Return a function that removes from a shape what the query does not name."""
    if "{" not in query:
        return without_layout
    if ":" not in query:
        return lambda shape: _TILES.sub("}", shape)
    return str if "S(" in query else without_memory_space


def _argument_match(query: str, origin: Origin | None) -> int | None:
    """Rank the argument that a buffer holds; letters in order do not match."""
    rank = None if origin is None else name_match(query, origin.argument or "")
    return None if rank == 2 else rank


def name_match(query: str, name: str) -> int | None:
    """Rank a name: 0 equals the query, 1 contains it, 2 contains its letters, None otherwise."""
    symbol_query = SymbolQuery.of(query)
    shown = name if symbol_query.is_case_sensitive else name.lower()
    if shown == symbol_query.text:
        return 0
    if symbol_query.text in shown:
        return 1
    letters = iter(shown)
    return 2 if all(letter in letters for letter in symbol_query.text) else None


def is_line(source: SourceLine | None, query: str) -> bool:
    """Return whether a line is ``model.py:7`` or in ``model.py``, with any folders above it."""
    if source is None:
        return False
    match = _LINE.fullmatch(query)
    line = None if match is None else match[2]
    file = query.removesuffix(f":{line}").replace("\\", "/")
    own = source.file.replace("\\", "/")
    return line in {None, str(source.line)} and (own == file or own.endswith(f"/{file}"))


class _Search:
    def __init__(self, dump: Compile) -> None:
        self._dump = dump
        self._occupancies = memory_space_occupancies(dump)
        self._peak_bytes = {
            buffer.value.record: buffer.bytes
            for occupancy in self._occupancies
            for buffer in live_buffers(dump, occupancy.space, occupancy.peak_step)
            if buffer.value is not None
        }

    def buffers(self, match: _Match) -> Iterator[FoundBuffer]:
        """Yield the values that match."""
        assignment = buffer_assignment(self._dump)
        values = [(block.allocation, one) for block in assignment.blocks for one in block.values]
        origins = origins_of(self._dump, ((one.name, one.index) for _, one in values))
        seen: set[str] = set()
        for allocation, value in values:
            checkpoint()
            origin = origins.get((value.name, value.index))
            rank = match(value, origin)
            if rank is not None and value.key not in seen:
                seen.add(value.key)
                found = self._buffer(assignment.file, allocation, value, origin)
                yield replace(found, match=rank)

    def _buffer(
        self,
        file: DumpFile,
        allocation: AllocationLine,
        value: AssignedValue,
        origin: Origin | None,
    ) -> FoundBuffer:
        live = self._dump.live(value.key)
        line = self._dump.instruction(value.name)
        place = LocatedRecord(file, value) if line is None else line
        home = None if line is None else line.file.module.computation_of(line.record)
        return FoundBuffer(
            value.label,
            value.shape,
            None if home is None else home.name,
            None if origin is None else origin.source,
            place.file,
            place.number,
            value.size,
            self._peak_bytes.get(value, 0),
            space_title(allocation.color, self._dump.backend),
            None if live is None else live.record,
            None if origin is None else origin.saved_by,
            None if origin is None else origin.argument,
            is_fixed=allocation.is_fixed,
        )

    def instructions(
        self, choose: Callable[[InstructionLine], bool], files: Iterable[DumpFile] | None = None
    ) -> Iterator[FoundBuffer]:
        """Yield instructions of the compiled module, or of other texts, as they are."""
        for file in self._dump.files if files is None else files:
            for record in file.module.instructions.firsts():
                checkpoint()
                if choose(record):
                    yield self._instruction(file, record, int(files is not None))

    def instructions_without_buffers(self, text: str, known: set[str]) -> Iterator[FoundBuffer]:
        """Yield the instructions with a name that have no buffer: first the compiled module."""
        defined = {name.partition("{")[0] for name in known}
        compiled = self.instructions(
            lambda record: record.name not in defined and name_match(text, record.name) is not None
        )
        others = self.instructions(
            lambda record: name_match(text, record.name) is not None, self._dump.others
        )
        for one in (*compiled, *self._omitted_instructions(text), *others):
            yield replace(one, match=name_match(text, one.name) or 0)

    def _omitted_instructions(self, text: str) -> Iterator[FoundBuffer]:
        """Yield elements of tuples: ``tuple#1``, or by names that only the memory files have."""
        for name in (*([text] if "#" in text else ()), *omitted_instructions(self._dump).elements):
            line = self._dump.instruction(name) if name_match(text, name) is not None else None
            if line is not None:
                yield replace(self._instruction(line.file, line.record, 0), name=name)

    def instructions_of_line(self, text: str) -> Iterator[FoundBuffer]:
        """Yield the instructions of a Python line."""
        files = self._dump.files
        names = (record.name for file in files for record in file.module.instructions.firsts())
        known = {
            name
            for name, facts in instruction_facts(self._dump, names).items()
            if is_line(facts.source, text)
        }
        return self.instructions(lambda record: record.name in known)

    def _instruction(self, file: DumpFile, record: InstructionLine, rank: int) -> FoundBuffer:
        if rank:  # a text of another pass
            source = self._dump.frames.line_of(file.module.tables.stack_of(record.metadata))
        else:
            owner = owner_of(self._dump, record.name)
            source = None if owner is None else owner.source
        home = file.module.computation_of(record)
        return FoundBuffer(
            record.name,
            record.shape,
            None if home is None else home.name,
            source,
            file,
            LocatedRecord(file, record).number,
            pass_rank=rank,
        )

    def shares(self, found: Sequence[FoundBuffer]) -> Iterator[SpaceShare]:
        """Yield the bytes at the peak of each memory space, where there are any."""
        for occupancy in self._occupancies:
            title = space_title(occupancy.space, self._dump.backend)
            count = sum(one.peak_bytes for one in found if one.space == title)
            if count:
                yield SpaceShare(title, count, occupancy.peak_bytes, occupancy.peak_step)


_MAX_SHAPE_LENGTH = 40


def found_json(found: FoundInModule) -> Json:
    """Return what was found as JSON; see docs/json_schema.md."""
    return {
        "name": found.module,
        "path": found.path,
        "at_peak": [
            {
                "space": share.space,
                "bytes": share.bytes,
                "peak_bytes": share.peak_bytes,
                "peak_step": share.step,
            }
            for share in found.shares
        ],
        "buffers": [_buffer_json(one) for one in found.buffers],
    }


def _buffer_json(one: FoundBuffer) -> Json:
    return {
        "name": one.name,
        "bytes": one.bytes,
        "bytes_at_peak": one.peak_bytes,
        "space": one.space,
        "shape": one.shape,
        "live_range": None if one.live is None else [one.live.start_step, one.live.end_step],
        "computation": one.computation,
        "source": None if one.source is None else str(one.source),
        "saved_by": None if one.saved_by is None else str(one.saved_by),
        "argument": one.argument,
        "path": one.file.label,
        "line": one.line,
    }


def found_content(found: FoundInModule, count: int) -> Content:
    """Yield the sums at the peaks, and a table of the first buffers."""
    buffers = count_noun(sum(one.bytes > 0 for one in found.buffers), "buffer")
    shares = [
        f"{_size(share.bytes)} of {_size(share.peak_bytes)} at the peak of {share.space} "
        f"(step {share.step:,})"
        for share in found.shares
    ]
    yield f"{found.module}: {', '.join([buffers, *shares])}"
    yield Table(_TITLES, [_row(buffer) for buffer in found.buffers[:count]], has_titles=False)
    rest = found.buffers[count:]
    if rest:
        yield f"  and {len(rest):,} more ({_size(sum(one.bytes for one in rest))})"


def _owner(one: FoundBuffer) -> str:
    line = "" if one.source is None else one.source.short
    return f"{line}{saving_text(one.source, one.saved_by)}"


_TITLES = (
    *(">bytes", "space", "buffer", "shape", "live range", "at the peak", "owner"),
    *("computation", "place"),
)


def _row(one: FoundBuffer) -> tuple[str, ...]:
    """Return the cells of a line; files are without folders, as the name of a dump is long."""
    shape = shortened(without_memory_space(one.shape), _MAX_SHAPE_LENGTH)
    steps = ""
    if one.live is not None:
        steps = f"steps {one.live.start_step:,}-{one.live.end_step:,}"
    return (
        _size(one.bytes) if one.bytes else "-",
        one.space or "no buffer",
        f"`{one.name}`",
        shape and f"`{shape}`",
        steps,
        ("whole program" if one.is_fixed else "at the peak") if one.peak_bytes else "",
        one.argument or _owner(one),
        f"`{one.computation}`" if one.computation else "",
        f"{file_name(one.file.label)}:{one.line}",
    )
