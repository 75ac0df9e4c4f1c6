"""Indexes of the instructions and computations of a module text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.model.source import SourceTables
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    FrameRow,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
    LocationRow,
    ModuleHeader,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import BrokenRecord, Record, RecordSequence
from hlo_lsp.syntax.statements import defined_name
from hlo_lsp.text.checkpoint import checkpoint

_INSTRUCTIONS_PER_CHECKPOINT = 500  # about 3 ms
_PERCENT_NAME = re.compile(r"%([\w.\-]+)")


class MentionIndex:
    """Instructions by the names in their texts, built on request and updated from then on."""

    def __init__(self) -> None:
        self._by_name: MultiMap[str, InstructionLine] | None = None
        # The instructions that were added (True) or removed while the index was built.
        self._journal: list[tuple[InstructionLine, bool]] | None = None

    @property
    def is_built(self) -> bool:
        """True if the index is built or being built."""
        return self._by_name is not None or self._journal is not None

    def of(self, name: str) -> list[InstructionLine] | None:
        """Return the instructions that mention a name, or None before the index is built."""
        return None if self._by_name is None else self._by_name.all(name)

    def add(self, record: InstructionLine) -> None:
        """Add an instruction."""
        if self._journal is not None:
            self._journal.append((record, True))
        elif self._by_name is not None:
            _add(self._by_name, record)

    def remove(self, record: InstructionLine) -> None:
        """Remove an instruction."""
        if self._journal is not None:
            self._journal.append((record, False))
        elif self._by_name is not None:
            _remove(self._by_name, record)

    def build(self, instructions: MultiMap[str, InstructionLine]) -> None:
        """Index all instructions; edits between checkpoints may add and remove some."""
        if self.is_built:
            return
        journal = self._journal = []
        try:
            learnt: MultiMap[str, InstructionLine] = MultiMap()
            for count, record in enumerate(list(instructions.records())):
                for name in _mentioned_names(record):
                    known = instructions.first(name)  # its name is in memory already
                    learnt.add(name if known is None else known.name, record)
                if count % _INSTRUCTIONS_PER_CHECKPOINT == _INSTRUCTIONS_PER_CHECKPOINT - 1:
                    checkpoint()
            for record, entered in journal:
                (_add if entered else _remove)(learnt, record)
            self._by_name = learnt
        finally:
            self._journal = None


def _add(by_name: MultiMap[str, InstructionLine], record: InstructionLine) -> None:
    for name in _mentioned_names(record):
        by_name.add(name, record)


def _remove(by_name: MultiMap[str, InstructionLine], record: InstructionLine) -> None:
    for name in _mentioned_names(record):
        by_name.remove(name, record)


def _mentioned_names(record: InstructionLine) -> set[str]:
    """Return all names after the opcode."""
    names = set(_PERCENT_NAME.findall(record.text, record.opened))
    names.update(record.reads, record.called)
    if "control-predecessors" in record.text:  # these names have no percent sign
        names.update(span.text for span in record.parsed.predecessors)
    return names


_TABLE_RECORDS = (FrameRow, LocationRow, NameRow, TableLabel)
_PARAMETER_NUMBER = re.compile(r"\s*(\d{1,9})\s*$")


@dataclass(frozen=True, slots=True)
class Computation:
    """The instructions of a computation in order, its root and its parameters by number."""

    members: tuple[InstructionLine, ...]
    root: InstructionLine | None
    parameters: dict[int, InstructionLine]


class ModuleIndex:
    """Instructions and computations by name, and the source location tables."""

    def __init__(self, records: RecordSequence) -> None:
        self._records = records
        self._tables: SourceTables | None = None
        self._computations: dict[Record, Computation] = {}
        self._mentions = MentionIndex()
        self.headers: MultiMap[str, ModuleHeader] = MultiMap()
        self.computations: MultiMap[str, ComputationLine] = MultiMap()
        self.instructions: MultiMap[str, InstructionLine] = MultiMap()
        self.damaged: dict[BrokenRecord, str | None] = {}

    def add(self, record: Record) -> None:
        """Add a record and the records inside of it."""
        if isinstance(record, InstructionLine):
            self.instructions.add(record.name, record)
            self._mentions.add(record)
            for body in record.bodies:
                self.add(body)
        elif isinstance(record, ComputationLine):
            self.computations.add(record.name, record)
            for member in record.members:
                self.add(member)
            self._tables = None  # the tables end at the first computation
        elif isinstance(record, _TABLE_RECORDS):
            self._tables = None
        elif isinstance(record, BrokenRecord):
            self.damaged[record] = defined_name(record.text)
            self._tables = None
        elif isinstance(record, ModuleHeader):
            self.headers.add(record.name, record)
        self._computations.clear()

    def remove(self, record: Record) -> None:
        """Remove a record and the records inside of it."""
        if isinstance(record, InstructionLine):
            self.instructions.remove(record.name, record)
            self._mentions.remove(record)
            for body in record.bodies:
                self.remove(body)
        elif isinstance(record, ComputationLine):
            self.computations.remove(record.name, record)
            for member in record.members:
                self.remove(member)
            self._tables = None
        elif isinstance(record, _TABLE_RECORDS):
            self._tables = None
        elif isinstance(record, BrokenRecord):
            self.damaged.pop(record, None)
            self._tables = None
        elif isinstance(record, ModuleHeader):
            self.headers.remove(record.name, record)
        self._computations.clear()

    @property
    def header(self) -> ModuleHeader | None:
        """The first header of the module."""
        return min(self.headers.records(), key=lambda record: record.line, default=None)

    @property
    def tables(self) -> SourceTables:
        """The source location tables, parsed again after edits."""
        if self._tables is None:
            self._tables = SourceTables(self._records)
        return self._tables

    @property
    def entry(self) -> ComputationLine | None:
        """The entry computation: the one marked ``ENTRY``, else the last one."""
        computations = [
            computation
            for computation in self.all_computations()
            if not isinstance(computation, InlineComputation)
        ]
        marked = (computation for computation in computations if computation.is_entry)
        return next(marked, computations[-1] if computations else None)

    def all_computations(self) -> list[ComputationLine]:
        """Return all computations in the order of the file, including inline ones."""
        return sorted(self.computations.records(), key=lambda record: record.line)

    def scope_of(self, instruction: InstructionLine) -> Record | None:
        """Return the computation of an instruction, or a broken line that may be one."""
        if isinstance(instruction, InnerInstruction):
            return instruction.home
        return self._records.head_of(instruction)

    def computation_of(self, instruction: InstructionLine) -> ComputationLine | None:
        """Return the computation of an instruction, or None."""
        scope = self.scope_of(instruction)
        return scope if isinstance(scope, ComputationLine) else None

    def members(self, computation: ComputationLine) -> tuple[InstructionLine, ...]:
        """Return the instructions of a computation in order."""
        return self.computation(computation).members

    def computation(self, head: ComputationLine) -> Computation:
        """Return the instructions of a computation, cached until the module changes."""
        known = self._computations.get(head)
        if known is None:
            known = _computation_of(
                tuple(self._members(head)), may_lack_root=self._is_damaged(head)
            )
            self._computations[head] = known
        return known

    def is_root(self, instruction: InstructionLine) -> bool:
        """Return True if an instruction is the root of its computation."""
        if not instruction.is_root and not isinstance(instruction, InnerInstruction):
            following = next(self._records.after(instruction), None)
            if isinstance(following, InstructionLine):
                return False  # without `ROOT`, the last instruction is the root
        computation = self.computation_of(instruction)
        return computation is not None and self.computation(computation).root is instruction

    def named(self, name: str) -> ComputationLine | None:
        """Return the computation of this name."""
        return self.computations.first(name)

    def instruction_in_scope(self, scope: Record | None, name: str) -> InstructionLine | None:
        """Return the first instruction of this name in a scope."""
        for record in self.instructions.all(name):
            if self.scope_of(record) is scope:
                return record
        return None

    def operand(self, instruction: InstructionLine, name: str) -> InstructionLine | None:
        """Return the instruction that an operand of this name refers to."""
        return self.instruction_in_scope(self.scope_of(instruction), name)

    def operands(self, instruction: InstructionLine) -> list[InstructionLine | None]:
        """Return the instructions of the operands; None for undefined ones."""
        scope = self.scope_of(instruction)
        return [self.instruction_in_scope(scope, name) for name in instruction.operands]

    def inputs(self, instruction: InstructionLine) -> list[InstructionLine]:
        """Return the instructions whose results this one reads, in order and without duplicates."""
        scope = self.scope_of(instruction)
        found = (self.instruction_in_scope(scope, name) for name in instruction.reads)
        return list(dict.fromkeys(record for record in found if record is not None))

    def users(self, instruction: InstructionLine) -> list[InstructionLine]:
        """Return the instructions that read the result of this one, in order."""
        scope = self.scope_of(instruction)
        return [
            record
            for record in self.mentioning(instruction.name)
            if instruction.name in record.reads and self.scope_of(record) is scope
        ]

    def callers(self, computation: ComputationLine) -> list[InstructionLine]:
        """Return the instructions that call a computation, in order."""
        if isinstance(computation, InlineComputation):
            return [] if computation.caller is None else [computation.caller]
        found = self.mentioning(computation.name)
        return [record for record in found if computation.name in record.called]

    def called_by(self, instruction: InstructionLine) -> list[ComputationLine]:
        """Return the defined computations that an instruction calls."""
        found = [self.named(name) for name in instruction.called]
        return [*(computation for computation in found if computation), *instruction.bodies]

    def mentioning(self, name: str) -> list[InstructionLine]:
        """Return the instructions whose text contains a name, perhaps as a part of another name."""
        found = self._mentions.of(name)
        if found is None:
            found = [record for record in self.instructions.records() if name in record.text]
        return sorted(found, key=lambda record: record.line)

    def is_mentioned(self, instruction: InstructionLine) -> bool | None:
        """Return True if another instruction of its computation mentions it.

        Return None before the mention index is built.
        """
        found = self._mentions.of(instruction.name)
        if not found:
            return None if found is None else False
        scope = self.scope_of(instruction)
        return any(record is not instruction and self.scope_of(record) is scope for record in found)

    @property
    def has_mention_index(self) -> bool:
        """True if the mention index is built or being built."""
        return self._mentions.is_built

    def build_mention_index(self) -> None:
        """Build the index that replaces the linear search in ``mentioning``."""
        self._mentions.build(self.instructions)

    def _is_damaged(self, head: ComputationLine) -> bool:
        """Return True if a line of a computation, perhaps its root, is broken."""
        if isinstance(head, InlineComputation):
            return False
        return any(isinstance(record, BrokenRecord) for record in self._records.members(head))

    def _members(self, head: ComputationLine) -> Iterator[InstructionLine]:
        yield from head.members
        if isinstance(head, InlineComputation):  # the next records belong to another computation
            return
        for record in self._records.members(head):
            if isinstance(record, InstructionLine):
                yield record


def parameter_number(instruction: InstructionLine) -> int | None:
    """Return the number of a parameter, or None for other instructions."""
    if instruction.opcode != "parameter":
        return None
    end = instruction.text.find(")", instruction.opened)
    match = _PARAMETER_NUMBER.match(instruction.text[instruction.opened : end])
    return None if match is None else int(match[1])


def _computation_of(members: tuple[InstructionLine, ...], *, may_lack_root: bool) -> Computation:
    parameters: dict[int, InstructionLine] = {}
    for member in members:
        number = parameter_number(member)
        if number is not None:
            parameters.setdefault(number, member)
    root = next((member for member in members if member.is_root), None)
    if root is None and members and not may_lack_root:
        root = members[-1]
    return Computation(members, root, parameters)
