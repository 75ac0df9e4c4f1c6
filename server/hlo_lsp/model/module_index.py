"""Indexes of the instructions and computations of a module text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.computation import Callee, Computation
from hlo_lsp.model.memory_index import MultiMap, RecordChange
from hlo_lsp.model.name_index import EVERYWHERE, CallerIndex, NameIndex
from hlo_lsp.model.source import SourceTables
from hlo_lsp.model.unprinted_instructions import TupleElement, async_body, element_of, inline_body
from hlo_lsp.syntax.instruction_text import (
    attributes_column,
    attributes_of,
    split_element,
)
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
    ModuleHeader,
    WrappedInstruction,
)
from hlo_lsp.syntax.record_sequence import RecordSequence
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Record, UnknownSection
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_texts, defined_name

_MANY_OF_A_NAME = 20  # instructions; a search through more of them takes too long
_INSTRUCTIONS_PER_CHECKPOINT = 100  # less than 1 ms
# These also end an `async-start` if XLA prints that by the name of what it starts.
LEGACY_DONE_OPCODES = frozenset(
    {"all-gather-done", "all-reduce-done", "collective-permute-done", "copy-done"}
)
_NO_NAMES: frozenset[str] = frozenset()  # shared, because each other one takes 216 bytes
_LAYOUT = re.compile(r"\bentry_computation_layout=\{(?=\()")
_COUNTS = {
    key: re.compile(rf"\b{key}=(\d{{1,9}})\b") for key in ("num_partitions", "replica_count")
}


_ELEMENT = re.compile(r"\d{1,9}")
_PARAMETER_NUMBER = re.compile(r"\s*(\d{1,9})\s*\)")


class ModuleIndex:
    """Instructions and computations by name, and the source location tables."""

    def __init__(self, records: RecordSequence) -> None:
        self._records = records
        self._tables: SourceTables | None = None
        self._computations: dict[Record, Computation] = {}
        self._async_bodies: dict[InstructionLine, InlineComputation] = {}
        self._names = NameIndex(self._instructions_in)
        self._sorted_computations: list[ComputationLine] | None = None
        self._marked_entry: ComputationLine | None = None
        self.instruction_count = 0
        self.headers: MultiMap[str, ModuleHeader] = MultiMap()
        self.computations: MultiMap[str, ComputationLine] = MultiMap()
        self.instructions: MultiMap[str, InstructionLine] = MultiMap()
        self._callers = CallerIndex(self.instructions)
        # The instructions with an operand such as `tuple#1`.
        self.element_readers: MultiMap[str, InstructionLine] = MultiMap()
        self.loops: MultiMap[str, InstructionLine] = MultiMap()
        self.damaged: dict[BrokenRecord, str | None] = {}

    @property
    def is_compact(self) -> bool:
        """True if the text has operands such as `tuple#1`, and so omits instructions."""
        return len(self.element_readers) > 0

    @property
    def omitted_count(self) -> int:
        """The number of instructions whose names the text omits: those that `slice-start` runs."""
        return sum(len(body.members) for body in self._async_bodies.values())

    def add(self, record: Record) -> None:
        """Add a record and the records inside of it."""
        self._update(record, MultiMap.add)

    def remove(self, record: Record) -> None:
        """Remove a record and the records inside of it."""
        self._update(record, MultiMap.remove)

    def _update(self, record: Record, change: RecordChange) -> None:
        if record.is_head:
            self._names.clear()
        if isinstance(record, InstructionLine):
            change(self.instructions, record.name, record)
            self.instruction_count += 1 if change is MultiMap.add else -1
            if "#" in record.text and any("#" in name for name in record.reads):
                change(self.element_readers, record.name, record)
            if record.opcode == "while":
                change(self.loops, record.name, record)
            self._callers.update(record, change)
            self._update_names(record, change)
            for body in () if isinstance(record, WrappedInstruction) else record.bodies:
                self._update(body, change)
            if record.opcode == "async-start":
                self._update_async_body(record, change)
            return
        if isinstance(record, ComputationLine):
            change(self.computations, record.name, record)
            self._forget(record)
            self._sorted_computations = self._marked_entry = None
            for member in record.members:
                self._update(member, change)
        elif isinstance(record, ModuleHeader):
            change(self.headers, record.name, record)
        elif isinstance(record, BrokenRecord) and change is MultiMap.add:
            self.damaged[record] = defined_name(record.text)
        elif isinstance(record, BrokenRecord):
            self.damaged.pop(record, None)
        self._tables = None  # they end at the first computation

    def _update_async_body(self, start: InstructionLine, change: RecordChange) -> None:
        if change is MultiMap.add and (body := async_body(start)) is not None:
            self._async_bodies[start] = body
            self._update(body, change)
        elif (known := self._async_bodies.pop(start, None)) is not None:
            self._update(known, change)

    def forget_computations(self, first: int, last: int) -> None:
        """Discard the content of the computations at some lines and of the next one."""
        if not self._computations:
            return
        head = None
        if first > 0 and (above := self._records.at(first - 1)) is not None:
            head = self._records.head_of(above)
        while head is None or head.line <= last:
            if head is not None:
                self._forget(head)
            head = self._records.head_after(head)
            if head is None:
                return
        self._forget(head)

    def _forget(self, head: Record) -> None:
        self._computations.pop(head, None)

    @property
    def header(self) -> ModuleHeader | None:
        """The first header of the module."""
        return min(self.headers.records(), key=lambda record: record.line, default=None)

    @property
    def partition_count(self) -> int:
        """The number of partitions that the header has, 1 without one."""
        return self._header_count("num_partitions")

    @property
    def replica_count(self) -> int:
        """The number of replicas that the header has, 1 without one."""
        return self._header_count("replica_count")

    def _header_count(self, key: str) -> int:
        """Return a number of the header, 1 without it."""
        text = "" if self.header is None else self.header.text
        # Layouts can have 100 kB, in which the expression takes 1 ms.
        match = _COUNTS[key].search(text) if key in text else None
        return 1 if match is None else int(match[1])

    @property
    def tables(self) -> SourceTables:
        """The source location tables, parsed again after edits."""
        if self._tables is None:
            # Only a module text has tables. A values file has up to a million records.
            is_module = len(self.headers) or len(self.computations) or self.damaged
            self._tables = SourceTables(self._records if is_module else ())
        return self._tables

    @property
    def entry(self) -> ComputationLine | None:
        """The entry computation: the one marked ``ENTRY``, else the last one of a whole text.

        A text that is cut off ends with another computation. XLA writes it last, and marks it.
        """
        if self._marked_entry is None:
            found = self.all_computations()
            self._marked_entry = next((one for one in found if one.is_entry), None)
            if self._marked_entry is None:
                whole = (one for one in reversed(found) if not isinstance(one, InlineComputation))
                last = next(whole, None)
                return None if last is None or not self._may_be_entry(last) else last
        return self._marked_entry

    def _may_be_entry(self, last: ComputationLine) -> bool:
        """Return whether the last computation, which is not marked, can be the entry."""
        found = self.computation(last)
        text = "" if self.header is None else self.header.text
        layout = _LAYOUT.search(text)
        if self.header is None or layout is None:
            return found.is_closed
        close = closing_bracket(text, layout.end())
        count = 0 if close is None else len(comma_separated_texts(text, layout.end() + 1, close))
        return found.is_closed and not self.header.is_scheduled and count == len(found.parameters)

    @property
    def parameters(self) -> Mapping[int, InstructionLine]:
        """The parameters of the entry computation by number."""
        return {} if self.entry is None else self.computation(self.entry).parameters

    def all_computations(self) -> list[ComputationLine]:
        """Return all computations in the order of the file, including inline ones."""
        if self._sorted_computations is None:
            found = sorted(self.computations.records(), key=lambda record: record.line)
            self._sorted_computations = found
        return [*self._sorted_computations]

    def scope_of(self, instruction: InstructionLine) -> Record | None:
        """Return the computation of an instruction, or a broken line that may be one."""
        if not isinstance(instruction, WrappedInstruction):
            instruction = instruction.printed
        if isinstance(instruction, InnerInstruction):
            return instruction.home
        return self._records.head_of(instruction)

    def computation_of(self, instruction: InstructionLine) -> ComputationLine | None:
        """Return the computation of an instruction, or None."""
        scope = self.scope_of(instruction)
        return scope if isinstance(scope, ComputationLine) else None

    def is_omitted(self, instruction: InstructionLine) -> bool:
        """Return whether the text omits an instruction, and so its name, as for ``slice-start``."""
        home = self.computation_of(instruction)
        return isinstance(home, InlineComputation) and not home.is_printed

    def members(self, computation: ComputationLine) -> tuple[InstructionLine, ...]:
        """Return the instructions of a computation in order."""
        return self.computation(computation).members

    def computation(self, head: ComputationLine) -> Computation:
        """Return what a computation contains, cached until an edit inside of it."""
        known = self._computations.get(head)
        if known is None:
            known = self._computations[head] = self._read_computation(head)
        return known

    def is_root(self, instruction: InstructionLine) -> bool:
        """Return True if an instruction is the root of its computation."""
        if isinstance(instruction, TupleElement):
            return False
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
        """Return the first instruction of this name in a scope, or the element of ``tuple#1``."""
        element = split_element(name)
        if element is not None:
            holder = self.instruction_in_scope(scope, element[0])
            return None if holder is None else element_of(holder, element[1])
        if isinstance(scope, ComputationLine) and self.instructions.count(name) > _MANY_OF_A_NAME:
            computation = self.computation(scope)
            strays = (record for record in computation.strays if record.name == name)
            return computation.names.get(name) or next(strays, None)
        for record in self.instructions.all(name):
            if self.scope_of(record) is scope:
                return record
        return None

    def opcode(self, instruction: InstructionLine) -> str:
        """Return the opcode: that of ``copy-done`` is ``async-done`` after an ``async-start``."""
        opcode = instruction.opcode
        if opcode not in LEGACY_DONE_OPCODES:
            return opcode
        names = instruction.operands
        start = self.operand(instruction, names[0]) if names else None
        is_generic = start is not None and start.opcode.startswith("async-")
        return "async-done" if is_generic else opcode

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
        """Return the instructions that read the result of this one, in order.

        Elements of a tuple that are read are among them, in place of ``get-tuple-element``.
        """
        found: dict[InstructionLine, None] = {}
        for record, name in self._readers(instruction):
            element = None
            if name != instruction.name:
                number = name[len(instruction.name) + 1 :].partition("#")[0]
                element = element_of(instruction, int(number))
            found[element or record] = None
        return list(found)

    def _readers(self, instruction: InstructionLine) -> Iterator[tuple[InstructionLine, str]]:
        """Yield the readers of a result or of its elements, each with the operand."""
        name = instruction.name
        start = f"{name}#"
        for record in self._names.containing(self.scope_of(instruction), name):
            for operand in record.reads:
                if operand == name or operand.startswith(start):
                    yield record, operand

    def callers(self, computation: ComputationLine) -> list[InstructionLine]:
        """Return the instructions that call a computation, in order."""
        if not isinstance(computation, InlineComputation):
            return self.calling(computation.name)
        caller = computation.caller
        body = None if caller is None else self._async_bodies.get(caller)
        if body is not None and body is not computation:
            caller = body.members[-1]
        return [] if caller is None else [caller]

    def calling(self, name: str) -> list[InstructionLine]:
        """Return the instructions that call the computation of a name, in order."""
        return self._callers.callers(name)

    def called_by(self, instruction: InstructionLine) -> list[ComputationLine]:
        """Return the defined computations that an instruction calls."""
        found = [self.named(name) for name in instruction.called]
        bodies = self._bodies(instruction)
        return [*(computation for computation in found if computation), *bodies]

    def _bodies(self, instruction: InstructionLine) -> Sequence[InlineComputation]:
        """Return the inline computations that an instruction calls, also omitted ones."""
        if instruction.wrapped_opcode is None:
            return instruction.bodies
        body = self._async_bodies.get(instruction) or inline_body(instruction)
        return [] if body is None else [body]

    def callees(self, instruction: InstructionLine) -> list[Callee]:
        """Return the callees of an instruction, named ones first."""
        named = [] if instruction.wrapped_opcode else self.named_callees(instruction)
        return named + [
            Callee(body.attribute, body.name, None, body) for body in self._bodies(instruction)
        ]

    def named_callees(self, instruction: InstructionLine) -> list[Callee]:
        """Return the computations that the text of an instruction names."""
        text, at = instruction.text, attributes_column(instruction.text, instruction.opened)
        return [
            Callee(attribute, span.text, span.moved(at), self.named(span.text))
            for attribute, span in attributes_of(text[at:]).calls
        ]

    def possible_readers(self, name: str) -> list[InstructionLine]:
        """Return the instructions that may read the first instruction of a name, or its element.

        They contain the name, perhaps as a part of another name, and are in its computation. Of an
        undefined name, these are all that mention it. Callers ask for nearly all names.
        """
        holder = self.instructions.first(name.partition("#")[0])
        if holder is None:
            return self.mentioning(name)
        return self._names.containing(self.scope_of(holder), name, searches=0)

    def is_mentioned(self, instruction: InstructionLine) -> bool:
        """Return True if another instruction of its computation mentions it."""
        found = self._names.mentioning(self.scope_of(instruction), instruction.name, instruction)
        return next(found, None) is not None

    def mentioning(self, name: str) -> list[InstructionLine]:
        """Return the instructions of all computations that mention a name, in order."""
        return [*self._names.mentioning(EVERYWHERE, name)]

    def _instructions_in(self, scope: Record | None) -> Sequence[InstructionLine]:
        """Return the instructions from a head, or from the first line, up to the next head."""
        if isinstance(scope, ComputationLine):
            body = self.computation(scope)
            return (*body.members, *body.strays) if body.strays else body.members
        if scope is EVERYWHERE:
            return self.printed_instructions()
        found: Iterable[Record] = takewhile(lambda record: not record.is_head, self._records)
        if scope is not None:
            found = self._records.members(scope)
        return [record for record in found if isinstance(record, InstructionLine)]

    def printed_instructions(self) -> list[InstructionLine]:
        """Return the instructions that are in the text, in order."""
        return [one for one in self.instructions.in_order() if not _is_omitted(one)]

    def index(self) -> None:
        """Index calls and the names in large computations, so that first searches are fast."""
        self._callers.index()
        whole = (block for block in self._records.blocks if not block.heads)
        heads = (block.above.heads[-1] for block in whole if block.above is not None)
        for head in dict.fromkeys(heads):
            self._names.index(head)

    def _update_names(self, record: InstructionLine, change: RecordChange) -> None:
        if len(self._names) == 0 or _is_omitted(record):  # none while the file is read
            return
        if change is MultiMap.add:
            self._names.add(record, self.scope_of(record))
        else:
            self._names.remove(record)

    def _read_computation(self, head: ComputationLine) -> Computation:
        members: list[InstructionLine] = list(head.members)
        strays: list[InstructionLine] = []
        broken: set[str] = set()
        is_inline = isinstance(head, InlineComputation)
        is_inside = is_inline or bool(head.members)
        has_all_names = is_inside
        closing: ComputationEnd | None = None
        found = strays if is_inside else members
        for count, record in enumerate(() if is_inline else self._records.members(head)):
            if count % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
            if isinstance(record, InstructionLine):
                found.append(record)
            elif closing is not None:
                continue
            elif isinstance(record, ComputationEnd):
                closing, found = record, strays
                has_all_names = True
            elif isinstance(record, BrokenRecord):
                broken.add(self.damaged[record] or "")
            elif isinstance(record, UnknownSection):
                broken.add("")
        following = None if is_inline else self._records.head_after(head)
        is_cut = isinstance(following, BrokenRecord) and closing is None
        has_all_names = has_all_names and "" not in broken and not self._follows_instruction(head)
        has_all_names = has_all_names and not head.is_read_in_part
        names: dict[str, InstructionLine] = {}
        parameters: dict[int, InstructionLine] = {}
        for count, member in enumerate(members):
            if count % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
            names.setdefault(member.name, member)
            if member.opcode == "parameter":
                number = parameter_number(member)
                if number is not None:
                    parameters.setdefault(number, member)
        own, outside = tuple(members), tuple(strays)
        known = frozenset(broken - {""}) or _NO_NAMES
        return Computation(
            head, own, names, parameters, outside, known, has_all_names, closing, is_cut
        )

    def _follows_instruction(self, head: ComputationLine) -> bool:
        """Return True if a head may be a broken line of the computation above."""
        if isinstance(head, InlineComputation) or head.line == 0:
            return False
        above = self._records.at(head.line - 1)
        while isinstance(above, BlankLine) and above.line > 0:
            above = self._records.at(above.line - 1)
        return isinstance(above, InstructionLine)


def _is_omitted(instruction: InstructionLine) -> bool:
    return isinstance(instruction, WrappedInstruction)


def parameter_number(instruction: InstructionLine) -> int | None:
    """Return the number of a parameter, or None for other instructions."""
    if instruction.opcode != "parameter":
        return None
    match = _PARAMETER_NUMBER.match(instruction.text, instruction.opened)
    return None if match is None else int(match[1])


def selected_element(instruction: InstructionLine) -> int | None:
    """Return the attribute ``index`` of a ``get-tuple-element``, or None if there is none."""
    index = instruction.attribute("index")
    text = "" if index is None else index.text.strip()
    return int(text) if _ELEMENT.fullmatch(text) else None
