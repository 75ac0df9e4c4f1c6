"""Queries over all files of one compile."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.backend import Backend, backend_from_file_name
from hlo_lsp.model.compile_files import CompileFiles
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.model.memory_index import MemoryIndex, MultiMap
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.query_cache import Memo, Query, Result
from hlo_lsp.model.shape import subshape_text
from hlo_lsp.model.source import PROGRAM_FRAMES, FrameChoice, SourceLine
from hlo_lsp.model.unprinted_instructions import element_of, element_position
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import InstructionText, split_element
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    LiveRangeLabel,
    PeakLabel,
    RangeRow,
    SequenceRow,
    TotalLine,
)
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.used_value import UsedValue, defining_text

_COMPILE_NUMBERS = itertools.count()

K = TypeVar("K")
R = TypeVar("R", bound=Record)


class Compile:
    """The memory files and the module text of one compile, with queries over all of them.

    A compile is immutable: a new one replaces it when a file is added or removed. Edits change the
    files themselves.
    """

    def __init__(
        self,
        files: list[DumpFile],
        thunk_names: DumpFile | None = None,
        others: Sequence[DumpFile] = (),
        frames: FrameChoice = PROGRAM_FRAMES,
        unknown_files: Sequence[Path] = (),
        *,
        target: DumpFile | None = None,
    ) -> None:
        self.files = files
        # Files that are named like memory files, but of a kind that this version does not know.
        self.unknown_files = unknown_files
        # The frames of a call stack that can be the Python line of a buffer.
        self.frames = frames
        # Texts of the same module from other pipeline steps, in which names may mean other things.
        self.others = others
        # A text that names the instruction of every thunk, if the compiler wrote one.
        self.thunk_names = thunk_names
        # A text that describes the TPU, if the compiler wrote one.
        self.target = target
        self.number = next(_COMPILE_NUMBERS)  # unique in this process
        self.query_results: dict[Query[..., Any], Result] = {}
        self.memos: dict[Memo[Any], tuple[Hashable, Any]] = {}

    def refresh(self) -> None:
        """Update the files after edits, and let a later edit make the current job outdated."""
        for file in (*self.files, *self.others):
            file.refresh()

    @property
    def module_name(self) -> str:
        """The name of the module; without a module text, that in the name of a file."""
        if self.module_header is not None:
            return self.module_header.name
        title = self.files[0].title
        name = DumpName.of(title)
        return title if name is None or name.module_name is None else name.module_name

    @property
    def backend(self) -> Backend:
        """The backend by file names, else by what only one compiler prints.

        Only TPU tiles values and arguments; XLA for GPU gives each module a fingerprint.
        """
        for file in self.files:
            if file.path is not None:
                backend = backend_from_file_name(file.path.name)
                if backend is not Backend.UNKNOWN:
                    return backend
        header = self.module_header
        tiled = any(file.memory.tiled_values for file in self.files)
        tiled |= header is not None and ":T(" in header.text
        if tiled:
            return Backend.TPU
        is_gpu = header is not None and "fingerprint_before_lhs=" in header.text
        return Backend.GPU if is_gpu else Backend.UNKNOWN

    @property
    def module_file(self) -> DumpFile | None:
        """The module text, if it has instructions."""
        return next((file for file in self.files if len(file.module.instructions)), None)

    @property
    def module_header(self) -> ModuleHeader | None:
        """The first line of the module text."""
        headers = (file.module.header for file in self.files)
        return next((header for header in headers if header is not None), None)

    @property
    def allocations_file(self) -> DumpFile | None:
        """The file with the allocations."""
        return next((file for file in self.files if len(file.memory.allocations)), None)

    @property
    def assigned_values_file(self) -> DumpFile | None:
        """The file with the values in allocations."""
        return next((file for file in self.files if len(file.memory.assigned)), None)

    @property
    def used_values_file(self) -> DumpFile | None:
        """The file with the section ``Used values``."""
        return next((file for file in self.files if len(file.memory.entries)), None)

    @property
    def has_broken_assigned_values(self) -> bool:
        """True if a malformed line may define an allocation or an assigned value."""
        return any(
            isinstance(record, BrokenRecord) and not record.text.startswith("  ")
            for file in self.files
            if len(file.memory.assigned)
            for record in file.memory.damaged
        )

    @property
    def has_broken_used_values(self) -> bool:
        """True if the header of a used value is malformed or missing."""
        return any(
            isinstance(record, UsedValue) and record.id is None
            for file in self.files
            for record in file.memory.damaged
        )

    def find(
        self, choose: Callable[[MemoryIndex], MultiMap[K, R]], key: K
    ) -> LocatedRecord[R] | None:
        """Return the record of this key in the first file that has one."""
        for file in self.files:  # no function of its own: called for each value of a dump
            record = choose(file.memory).first(key)
            if record is not None:
                return LocatedRecord(file, record)
        return None

    def label(self, kind: type[R]) -> LocatedRecord[R] | None:
        """Return the first label record of this type in the first file that has one."""
        return self._first_record(lambda file: file.memory.label(kind))

    def _first_record(self, find: Callable[[DumpFile], R | None]) -> LocatedRecord[R] | None:
        for file in self.files:
            record = find(file)
            if record is not None:
                return LocatedRecord(file, record)
        return None

    def value(self, value_id: int) -> Value | None:
        """Return the value with this id."""
        assigned = self.find(lambda index: index.assigned, value_id)
        entry = self.find(lambda index: index.entries, value_id)
        located = assigned or entry
        header = None if located is None else located.record
        if header is None or header.id is None or header.name is None:
            return None
        return Value(
            header.id,
            header.name,
            header.index,
            header.phi,
            header.color,
            assigned,
            None if assigned is None else self.allocation_of(assigned),
            entry,
            self.live(header.name + (header.index or "{}")),
        )

    def value_of_key(self, key: str) -> Value | None:
        """Return the value that an instruction defines at an index, such as ``fusion.40{0}``."""
        header = self.value_header(key)
        return None if header is None or header.record.id is None else self.value(header.record.id)

    def value_header(
        self, key: str
    ) -> "LocatedRecord[AssignedValue] | LocatedRecord[UsedValue] | None":
        """Return the line of a value in its allocation, else its entry under ``Used values``."""
        assigned = self.find(lambda index: index.assigned_keys, key)
        return assigned or self.find(lambda index: index.entry_keys, key)

    def headers_of(self, keys: Sequence[str]) -> "list[AssignedValue | UsedValue | None]":
        """Return the record of ``value_header`` for each of many values, which is much faster."""
        assigned: list[MultiMap[str, Any]] = [file.memory.assigned_keys for file in self.files]
        return _first_of_each([*assigned, *(file.memory.entry_keys for file in self.files)], keys)

    def live_ranges_of(self, keys: Sequence[str]) -> list[RangeRow | None]:
        """Return the record of ``live`` for each of many values, which is much faster."""
        return _first_of_each([file.memory.ranges for file in self.files], keys)

    def value_at(self, name: str, index: str | None = None) -> Value | None:
        """Return the value at an index of an instruction's result, by default the whole result.

        The instruction defines the value or forwards it, as ``bitcast`` and ``copy-done`` do. The
        positions of a value list every instruction that forwards it. None where damaged entries
        list several values at one position.
        """
        name, index = element_position(name, index)
        value = self.value_of_key(name + (index or "{}"))
        if value is not None:
            return value
        ids = {
            entry.record.id
            for entry in self.entries_at(name)
            if entry.record.id is not None and entry.record.has_position(name, index)
        }
        return self.value(ids.pop()) if len(ids) == 1 else None

    def value_ids(self) -> list[int]:
        """Return the ids of all values in ascending order."""
        ids: set[int] = set()
        for file in self.files:
            ids.update(file.memory.assigned)
            ids.update(file.memory.entries)
        return sorted(ids)

    def allocations(self) -> Iterator[LocatedRecord[AllocationLine]]:
        """Yield the allocations of the first file that has any by number, without duplicates."""
        for file in self.files:
            lines = sorted(file.memory.allocations.firsts(), key=lambda line: line.number)
            yield from (LocatedRecord(file, line) for line in lines)
            if lines:
                return

    def allocation(self, number: int) -> LocatedRecord[AllocationLine] | None:
        """Return the allocation of this number."""
        return self.find(lambda index: index.allocations, number)

    def assigned_to(self, allocation: LocatedRecord[AllocationLine]) -> Iterator[AssignedValue]:
        """Yield the values that are listed under an allocation."""
        for record in allocation.file.records.members(allocation.record):
            if isinstance(record, AssignedValue):
                yield record

    def allocation_of(
        self, assigned: LocatedRecord[AssignedValue]
    ) -> LocatedRecord[AllocationLine] | None:
        """Return the allocation under which a value is listed."""
        head = assigned.file.records.head_of(assigned.record)
        return LocatedRecord(assigned.file, head) if isinstance(head, AllocationLine) else None

    def live(self, key: str) -> LocatedRecord[RangeRow] | None:
        """Return the live range of a value, given its name and index."""
        return self.find(lambda index: index.ranges, key)

    def step(self, name: str) -> LocatedRecord[SequenceRow] | None:
        """Return the schedule row of an instruction, or of the first one that reads ``tuple#1``."""
        return self.find(lambda index: index.step_names, self.memory_name(name))

    def memory_name(self, name: str) -> str:
        """Return the name of an instruction in the memory files.

        This is another one for an element ``tuple#1``; of several names, it is the first that the
        schedule has.
        """
        if "#" not in name:
            return name
        return next(iter(omitted_instructions(self).names.get(name, ())), name)

    def at_step(self, step: int) -> LocatedRecord[SequenceRow] | None:
        """Return the schedule row of a step."""
        return self.find(lambda index: index.steps, step)

    @property
    def last_step(self) -> int | None:
        """The length of the schedule; an end step of this number means the end of the program."""
        label = self.label(LiveRangeLabel)
        return None if label is None else label.record.max

    @property
    def declared_peak(self) -> int | None:
        """The schedule step that XLA prints as the peak."""
        label = self.label(PeakLabel)
        return None if label is None else label.record.moment

    @property
    def total_bytes(self) -> int | None:
        """``Total bytes used`` in all memory spaces."""
        label = self.label(TotalLine)
        return None if label is None else label.record.total

    def instruction(self, name: str) -> LocatedRecord[InstructionLine] | None:
        """Return an instruction of the module text.

        For an operand such as ``tuple#1``, and for a name that the compiler omits from the text,
        this is the element of the tuple.
        """
        found = self._first_record(lambda file: file.module.instructions.first(name))
        if found is not None:
            return found
        element = split_element(omitted_instructions(self).elements.get(name, name))
        if element is None:
            return None
        holder = self.instruction(element[0])
        record = None if holder is None else element_of(holder.record, element[1])
        return None if holder is None or record is None else LocatedRecord(holder.file, record)

    def computation(self, name: str) -> LocatedRecord[ComputationLine] | None:
        """Return a computation of the module text."""
        return self._first_record(lambda file: file.module.computations.first(name))

    def text_of(self, name: str) -> InstructionText | None:
        """Return the text of an instruction from the module, else from a used value."""
        line = self.instruction(name)
        if line is not None:
            return line.record.parsed
        for file in self.files:
            for entry in file.memory.rows.positions.all(name):
                if entry.name == name:
                    return defining_text(entry)
        return None

    def entries_at(self, name: str) -> Iterator[LocatedRecord[UsedValue]]:
        """Yield the entries with a position at an instruction, or in an element ``tuple#1``."""
        if "#" in name:
            holder, index = element_position(name, None)
            start = str(index)[:-1]
            for located in self.entries_at(holder):
                found = (one.index for one in located.record.positions if one.name == holder)
                if any(one == index or str(one).startswith(f"{start},") for one in found):
                    yield located
            return
        for file in self.files:
            for entry in file.memory.rows.positions.all(name):
                yield LocatedRecord(file, entry)

    def entries_used_by(self, name: str) -> Iterator[LocatedRecord[UsedValue]]:
        """Yield the entries that an instruction uses."""
        for file in self.files:
            for entry in file.memory.rows.uses.all(name):
                yield LocatedRecord(file, entry)

    def shape_text(self, value: Value) -> str | None:
        """Return the shape of a value with its layout as printed."""
        header = value.assigned or value.entry
        return None if header is None else printed_shape(header.record)

    def stack_of(self, metadata: Mapping[str, str]) -> list[SourceLine]:
        """Return the Python stack of instruction metadata, the innermost line first."""
        stacks = (file.module.tables.stack_of(metadata) for file in self.files)
        return next(filter(None, stacks), [])


def _first_of_each(indexes: Iterable[MultiMap[K, R]], keys: Sequence[K]) -> list[R | None]:
    """Return for each key its first record in the first index that has one."""
    found: list[R | None] = [None] * len(keys)
    for index in indexes:
        if len(index):
            missing = [at for at, record in enumerate(found) if record is None]
            checkpoint()
            records = index.first_of_each(keys[at] for at in missing)
            for at, record in zip(missing, records, strict=True):
                checkpoint()
                found[at] = record
    return found


def printed_shape(header: AssignedValue | UsedValue) -> str | None:
    """Return the shape of a value with its layout as printed, None if the line lacks it."""
    if isinstance(header, AssignedValue):
        return header.shape
    instruction = defining_text(header)
    return None if instruction is None else subshape_text(instruction.shape.text, header.index)


_KIND_ORDER = list(FileKind)


# A function that returns a companion file of a compile, up to date, or None; unless it is patient,
# also None for a large file that is not read yet.
_CompanionFinder = Callable[[Path, CompileFiles, bool], DumpFile | None]


class CompileCache:
    """Compiles by their files.

    A compile replaces the one that its leading text had before, when a companion file is added or
    removed. Others that share memory files with it, such as those of texts of other pipeline steps,
    remain.
    """

    def __init__(self, frames: FrameChoice = PROGRAM_FRAMES) -> None:
        self._frames = frames
        self._compiles: dict[tuple[int, ...], tuple[Path | None, Compile]] = {}

    def compile_of(
        self,
        file: DumpFile,
        companions: CompileFiles | None,
        find: _CompanionFinder,
        *,
        patient: bool = True,
    ) -> Compile:
        """Return the compile of an up-to-date file; without companions, it consists of the file."""
        files = [file]
        others: list[DumpFile] = []
        thunk_names: DumpFile | None = None
        target: DumpFile | None = None
        if companions is not None:
            for path in companions.files_read_together()[1:]:
                companion = find(path, companions, patient)
                if companion is not None and companion.kind.has_records:
                    files.append(companion)
            for path in companions.comparison_texts():
                companion = find(path, companions, patient)
                if companion is not None and companion.kind is FileKind.MODULE:
                    others.append(companion)
            if file.kind is FileKind.THUNKS and companions.thunk_metadata is not None:
                thunk_names = find(companions.thunk_metadata, companions, True)
            if companions.target is not None:
                target = find(companions.target, companions, True)
        # Of two files with the same fact, the first one in the order of `FileKind` provides it.
        files.sort(key=lambda one: (_KIND_ORDER.index(one.kind), one is not file))
        extra = [*others, *(one for one in (thunk_names, target) if one is not None)]
        key = tuple(map(id, (*files, *extra)))
        _, found = self._compiles.get(key, (None, None))
        unknown = () if companions is None else companions.unknown
        if found is None or found.files != files or found.unknown_files != unknown:
            found = Compile(files, thunk_names, others, self._frames, unknown, target=target)
            leader = file.path if companions is None else companions.leader
            self._forget_earlier(leader, key)
            self._compiles[key] = leader, found
        return found

    def _forget_earlier(self, leader: Path | None, key: tuple[int, ...]) -> None:
        """Drop the compiles of a leading text that share files with its next compile.

        A stdout dump may have several compiles of one name, which share none. Compiles of the same
        files in another order remain: if two files are of one kind, the requested one is the first.
        """
        new = frozenset(key)
        self._compiles = {
            old: (other, found)
            for old, (other, found) in self._compiles.items()
            if other != leader or new.isdisjoint(old) or new == frozenset(old)
        }

    def forget(self, files: Iterable[DumpFile]) -> None:
        """Drop the compiles with at least one of these files, which are no longer used."""
        gone = set(map(id, files))
        self._compiles = {
            key: found for key, found in self._compiles.items() if gone.isdisjoint(key)
        }

    def retain(self, files: Iterable[DumpFile]) -> None:
        """Drop the compiles with files other than these."""
        used = set(map(id, files))
        self._compiles = {
            key: found for key, found in self._compiles.items() if used.issuperset(key)
        }
