"""All files of one compile, asked as one thing."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from hlo_lsp.model.backend import Backend, backend_from_file_name
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.memory_index import MemoryIndex
from hlo_lsp.model.multimap import MultiMap
from hlo_lsp.model.shape import leaf_text
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.value import LocatedRecord, Value
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    LiveRangeLabel,
    PeakLabel,
    RangeRow,
    SequenceRow,
    TotalLine,
)
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

_MAX_DIGITS = 20  # a number of 64 bits has fewer

_SET_NUMBERS = itertools.count()

K = TypeVar("K")
R = TypeVar("R", bound=Record)
T = TypeVar("T")
FileVersions = list[tuple[DumpFile, int]]


class DumpSet:
    """The memory files and the module text of one compile; a fact is found in whichever holds it.

    A set is remade when a file of it comes or goes; edits only change the files.
    """

    def __init__(
        self,
        files: list[DumpFile],
        thunk_names: DumpFile | None = None,
        others: Sequence[DumpFile] = (),
    ) -> None:
        self.files = files
        # Texts of the same module from other places of the pipeline: names mean other things there.
        self.others = others
        # A text that names the instruction of every thunk, where the compiler left one.
        self.thunk_names = thunk_names
        self.number = next(_SET_NUMBERS)  # no other set of this process has it
        self._derived: dict[object, tuple[FileVersions, object]] = {}

    def derived(
        self, compute: Callable[["DumpSet"], T], files: list[DumpFile], *, but_places: bool = False
    ) -> T:
        """``compute`` of this set, remembered until one of ``files`` changes.

        ``but_places`` says that sizes and offsets of values do not matter to it. It must hold no
        record of a value then, as that is another one when they change.
        """
        state = self.state(files, but_places=but_places)
        known = self.remembered(compute, state)
        if known is None:
            known = (compute(self),)
            self.remember(compute, state, known)
        return cast("T", known[0])

    def state(self, files: Iterable[DumpFile], *, but_places: bool = False) -> FileVersions:
        """What tells whether some files are as they were, but for sizes and offsets of values."""
        if but_places:
            return [(file, file.version_but_places) for file in files]
        return [(file, file.version) for file in files]

    def remembered(self, key: object, state: FileVersions) -> Any:
        """What was remembered under a key for this state of its files, or None."""
        known = self._derived.get(key)
        return known[1] if known is not None and known[0] == state else None

    def remember(self, key: object, state: FileVersions, found: object) -> None:
        """Remember what was found out, in place of what was remembered before."""
        self._derived[key] = state, found

    @property
    def backend(self) -> Backend:
        """By the name of a file, else TPU if a value is tiled (no other backend tiles)."""
        for file in self.files:
            if file.path is not None:
                backend = backend_from_file_name(file.path.name)
                if backend is not Backend.UNKNOWN:
                    return backend
        tiled = any(file.memory.tiled_values for file in self.files)
        return Backend.TPU if tiled else Backend.UNKNOWN

    def find(
        self, choose: Callable[[MemoryIndex], MultiMap[K, R]], key: K
    ) -> LocatedRecord[R] | None:
        """The record of this key in the first file that has one."""
        for file in self.files:
            record = choose(file.memory).first(key)
            if record is not None:
                return LocatedRecord(file, record)
        return None

    def label(self, kind: type[R]) -> LocatedRecord[R] | None:
        """The head line of this kind in the first file that has one."""
        for file in self.files:
            record = file.memory.label(kind)
            if record is not None:
                return LocatedRecord(file, record)
        return None

    def value(self, value_id: int) -> Value | None:
        """The value with this id."""
        assigned = self.find(lambda index: index.assigned, value_id)
        entry = self.find(lambda index: index.entries, value_id)
        return self._joined(assigned, entry)

    def value_of_key(self, key: str) -> Value | None:
        """The value that an instruction defines at an index: ``fusion.40{0}``, ``add.3{}``."""
        assigned = self.find(lambda index: index.assigned_keys, key)
        if assigned is not None:
            return self.value(assigned.record.id)
        entry = self.find(lambda index: index.entry_keys, key)
        return None if entry is None or entry.record.id is None else self.value(entry.record.id)

    def value_at(self, name: str, index: str | None = None) -> Value | None:
        """Return the value at an index of an instruction's result, by default the whole result.

        The instruction defines the value or forwards it, as ``bitcast`` and ``copy-done`` do. The
        positions of a value list every instruction that forwards it. None where damaged entries
        list several values at one position.
        """
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
        """The ids of all values, ascending."""
        ids: set[int] = set()
        for file in self.files:
            ids.update(file.memory.assigned)
            ids.update(file.memory.entries)
        return sorted(ids)

    def allocations(self) -> Iterator[LocatedRecord[AllocationLine]]:
        """All allocations of the first file that has any, by number; of two alike the first."""
        for file in self.files:
            lines = sorted(file.memory.allocations.firsts(), key=lambda line: line.number)
            yield from (LocatedRecord(file, line) for line in lines)
            if lines:
                return

    def allocation(self, number: int) -> LocatedRecord[AllocationLine] | None:
        """The allocation of this number."""
        return self.find(lambda index: index.allocations, number)

    def assigned_to(self, allocation: LocatedRecord[AllocationLine]) -> Iterator[AssignedValue]:
        """The values that stand under an allocation."""
        for record in allocation.file.records.members(allocation.record):
            if isinstance(record, AssignedValue):
                yield record

    def allocation_of(
        self, assigned: LocatedRecord[AssignedValue]
    ) -> LocatedRecord[AllocationLine] | None:
        """The allocation under which a value stands."""
        head = assigned.file.records.head_of(assigned.record)
        return LocatedRecord(assigned.file, head) if isinstance(head, AllocationLine) else None

    def live(self, key: str) -> LocatedRecord[RangeRow] | None:
        """The live range of a value, by name and index."""
        return self.find(lambda index: index.ranges, key)

    def step(self, name: str) -> LocatedRecord[SequenceRow] | None:
        """Where in the schedule an instruction runs."""
        return self.find(lambda index: index.step_names, name)

    def at_step(self, step: int) -> LocatedRecord[SequenceRow] | None:
        """What runs at a step of the schedule."""
        return self.find(lambda index: index.steps, step)

    @property
    def last_step(self) -> int | None:
        """The length of the schedule: an end of this number means the end of the program."""
        label = self.label(LiveRangeLabel)
        return None if label is None else label.record.max

    @property
    def declared_peak(self) -> int | None:
        """The step that XLA declares the peak."""
        label = self.label(PeakLabel)
        return None if label is None else label.record.moment

    @property
    def total_bytes(self) -> int | None:
        """``Total bytes used``, over all memory spaces."""
        label = self.label(TotalLine)
        return None if label is None else label.record.total

    def instruction(self, name: str) -> LocatedRecord[InstructionLine] | None:
        """An instruction's line in the module text."""
        for file in self.files:
            record = file.module.instructions.first(name)
            if record is not None:
                return LocatedRecord(file, record)
        return None

    def computation(self, name: str) -> LocatedRecord[ComputationLine] | None:
        """A computation's line in the module text."""
        for file in self.files:
            record = file.module.computations.first(name)
            if record is not None:
                return LocatedRecord(file, record)
        return None

    def text_of(self, name: str) -> InstructionText | None:
        """The text of an instruction: from the module, else from the entry of a value of it."""
        line = self.instruction(name)
        if line is not None:
            return line.record.parsed
        for file in self.files:
            for entry in file.memory.rows.positions(name):
                if entry.name == name:
                    return defining_text(entry)
        return None

    def entries_at(self, name: str) -> Iterator[LocatedRecord[UsedValue]]:
        """The values with a position at an instruction."""
        for file in self.files:
            yield from (LocatedRecord(file, entry) for entry in file.memory.rows.positions(name))

    def entries_used_by(self, name: str) -> Iterator[LocatedRecord[UsedValue]]:
        """The values that an instruction uses."""
        for file in self.files:
            yield from (LocatedRecord(file, entry) for entry in file.memory.rows.uses(name))

    def shape_text(self, value: Value) -> str | None:
        """The shape of a value with its layout, as printed."""
        if value.assigned is not None:
            return value.assigned.record.shape
        text = None if value.entry is None else defining_text(value.entry.record)
        if text is None:
            return None
        return leaf_text(text.shape.text, value.index)

    def stack(self, text: InstructionText) -> list[SourceLine]:
        """The Python lines of an instruction, the innermost first."""
        return self.stack_of(text.metadata)

    def stack_of(self, metadata: Mapping[str, str]) -> list[SourceLine]:
        """The Python lines that the metadata of an instruction speak of, the innermost first."""
        if "source_file" in metadata:
            line = _parse_number(metadata.get("source_line", "")) or 1
            return [SourceLine(metadata["source_file"], line)]
        frame = _parse_number(metadata.get("stack_frame_id", ""))
        if frame is not None:
            for file in self.files:
                stack = list(file.module.tables.stack(frame))
                if stack:
                    return stack
        return []

    def _joined(
        self, assigned: LocatedRecord[AssignedValue] | None, entry: LocatedRecord[UsedValue] | None
    ) -> Value | None:
        header: AssignedValue | UsedValue | None = None
        if assigned is not None:
            header = assigned.record
        elif entry is not None:
            header = entry.record
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


def _parse_number(digits: str) -> int | None:
    return int(digits) if digits.isdecimal() and len(digits) < _MAX_DIGITS else None


def defining_text(entry: UsedValue) -> InstructionText | None:
    """The text behind ``from instruction:`` of an entry, with columns of its line."""
    line = entry.lines[-1]
    column = instruction_column(line)
    return parse_instruction(line, column) if column else None
