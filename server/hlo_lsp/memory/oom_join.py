"""Out-of-memory messages joined with the dump of their compile."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.oom_message import EntryList, OomEntry, OomKind, OomMessage
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import try_shape, without_layout
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.data_origin import Origin, origin_of
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine

_MIN_MATCHED_SHARE = 0.8  # of the entries that name a buffer; the rest may be cut off or damaged
# Smaller allocations are too common to identify a dump.
_MIN_IDENTIFYING_BYTES = 1 << 20
_ARGUMENT = re.compile(r"Argument ([0-9]{1,9}) index (\{[0-9,]*\})")
_OUTPUT = re.compile(r"Output index (\{[0-9,]*\})")
_OUTPUT_OF = re.compile(r"output of ([\w.\-]+)@(\{[0-9,]*\})")
_OUTER_SCOPE = re.compile(r"(p?jit)\(([\w.\-<>]+)\)")


@dataclass(frozen=True, slots=True)
class JoinedEntry:
    """An entry of a message with its buffer in a dump; None without a dump or a match.

    Attributes:
        origin: The instruction or argument that produced the data.
    """

    entry: OomEntry
    instruction: LocatedRecord[InstructionLine] | None = None
    value: LocatedRecord[AssignedValue] | None = None
    allocation: LocatedRecord[AllocationLine] | None = None
    origin: Origin | None = None

    @property
    def bytes(self) -> int | None:
        """The size: exact with a dump, else the printed one."""
        if self.value is not None:
            return self.value.record.size
        return None if self.entry.size is None else self.entry.size.bytes

    @property
    def source(self) -> SourceLine | None:
        """The Python line of the data, else the one that the message prints."""
        if self.origin is not None and self.origin.source is not None:
            return self.origin.source
        return self.entry.source

    @property
    def saving(self) -> str:
        """The text ``, saved by the scan at :22``; empty if no other line saved the data."""
        return "" if self.origin is None else self.origin.saving

    @property
    def op_name(self) -> str | None:
        """The operation name that the message prints, else that of the data."""
        return self.entry.op_name or (None if self.origin is None else self.origin.op_name)


@dataclass(frozen=True, slots=True)
class JoinedMessage:
    """A message with its entries joined; ``dump`` is None if no dump matches.

    Attributes:
        failed: The allocation that failed, if the exact number of its bytes identifies it.
        rejected: Without a dump, the total bytes in device memory of each compile of the module.
    """

    message: OomMessage
    module: str | None
    dump: Compile | None
    entries: tuple[JoinedEntry, ...]
    failed: LocatedRecord[AllocationLine] | None = None
    rejected: tuple[int, ...] = ()


def join_message(
    message: OomMessage, dumps: Iterable[Compile], module: str | None = None
) -> JoinedMessage:
    """Join a message with the first dump that matches it completely, else the best match.

    The dumps are read one by one. ``module`` is the name that the name of the file implies.
    """
    name = message.module or module or module_of_message(message)
    best: tuple[float, Compile, tuple[JoinedEntry, ...]] | None = None
    rejected: dict[str, int] = {}  # by file, because dumps beside the log are listed twice
    for dump in dumps:
        score, entries = _match(message, name, dump)
        if score >= _MIN_MATCHED_SHARE and (best is None or score > best[0]):
            best = score, dump, entries
            if score >= 1:
                break
        elif dump.module_name == name and dump.allocations():
            rejected[dump.files[0].uri] = _total_bytes(dump)
    if best is None:
        entries = tuple(map(JoinedEntry, message.entries))
        return JoinedMessage(message, name, None, entries, rejected=tuple(rejected.values()))
    header = best[1].module_header
    name = name if header is None else header.name
    return JoinedMessage(message, name, best[1], best[2], _failed_allocation(message, best[1]))


def module_of_message(message: OomMessage) -> str | None:
    """Return the module that a message names, or that JAX derives from the outermost function."""
    scopes = (_OUTER_SCOPE.match(entry.op_name or "") for entry in message.entries)
    names = (f"{scope[1]}_{scope[2]}" for scope in scopes if scope is not None)
    return message.module or next(names, None)


def _match(
    message: OomMessage, name: str | None, dump: Compile
) -> tuple[float, tuple[JoinedEntry, ...]]:
    """Return which share of a message a dump explains, from 0 to 1, and its joined entries."""
    header = dump.module_header
    known = None if header is None else header.name
    if message.module is not None and known is not None and known != message.module:
        return 0, ()
    entries = tuple(_Join(dump, message).entries())
    named = [one for one in entries if _names_buffer(one.entry)]
    if named:
        return sum(map(_is_joined, named)) / len(named), entries
    if message.kind is OomKind.HBM and message.sparse_core is None:
        return float(_totals_match(message, dump)), entries
    is_named = name is not None and name == known
    return float(is_named or _failed_allocation(message, dump) is not None), entries


def _failed_allocation(message: OomMessage, dump: Compile) -> LocatedRecord[AllocationLine] | None:
    """Return the only allocation with the exact number of bytes that could not be allocated."""
    size = message.needed
    if message.kind not in {OomKind.CPU, OomKind.GPU} or size is None or size.error:
        return None
    if size.bytes < _MIN_IDENTIFYING_BYTES:
        return None
    if message.kind is OomKind.CPU and dump.backend is not Backend.CPU:
        return None
    found = [one for one in dump.allocations() if one.record.size == size.bytes]
    return found[0] if found else None


def _names_buffer(entry: OomEntry) -> bool:
    label = entry.label or ""
    if entry.section is EntryList.PEAK_BUFFERS:
        return True
    if entry.allocation_type in {"global", "overlays"}:
        return False
    return bool(_ARGUMENT.match(label) or _OUTPUT.match(label) or _instruction_name(entry))


def _is_joined(entry: JoinedEntry) -> bool:
    if entry.entry.allocation_type == "scoped":
        return entry.instruction is not None
    return entry.value is not None


def _totals_match(message: OomMessage, dump: Compile) -> bool:
    """Compare the totals of a message without buffers with a buffer assignment."""
    allocations = [one.record for one in dump.allocations()]
    arguments = sum(one.size for one in allocations if one.parameter is not None and one.color == 0)
    printed = message.usage_of("arguments")
    if printed is not None:
        return printed.matches(arguments)
    return message.needed is not None and message.needed.matches(_total_bytes(dump))


def _total_bytes(dump: Compile) -> int:
    """Return the size of all allocations in device memory."""
    allocations = [one.record for one in dump.allocations()]
    return sum(one.size for one in allocations if one.color == 0 and not one.thread_local)


def _instruction_name(entry: OomEntry) -> str | None:
    match = _OUTPUT_OF.match(entry.label or "")
    if match is not None:
        return match[1]
    return None if entry.instruction is None else entry.instruction.name.text


_Candidate = tuple[LocatedRecord[AllocationLine], AssignedValue]


class _Join:
    """The entries of a message in one dump."""

    def __init__(self, dump: Compile, message: OomMessage) -> None:
        self._dump = dump
        self._message = message
        self._taken: set[AssignedValue] = set()
        self._by_name: dict[str, list[_Candidate]] = {}
        wanted = {_instruction_name(entry) for entry in message.entries}
        is_gpu = any(entry.section is EntryList.PEAK_BUFFERS for entry in message.entries)
        self._all: list[_Candidate] = []
        for allocation in dump.allocations():
            for value in dump.assigned_to(allocation):
                checkpoint()
                if value.name in wanted:
                    self._by_name.setdefault(value.name, []).append((allocation, value))
                if is_gpu and value.size:
                    self._all.append((allocation, value))

    def entries(self) -> Iterator[JoinedEntry]:
        """Yield all entries of the message in order."""
        return map(self._entry, self._message.entries)

    def _entry(self, entry: OomEntry) -> JoinedEntry:
        label = entry.label or ""
        argument, output = _ARGUMENT.match(label), _OUTPUT.match(label)
        if argument is not None:
            return self._first(entry, self._argument(int(argument[1]), argument[2]))
        if output is not None:
            return self._first(entry, self._output(output[1]))
        if entry.section is EntryList.PEAK_BUFFERS:
            return self._first(entry, self._of_operator(entry))
        name = _instruction_name(entry)
        if name is None:
            return JoinedEntry(entry)
        if entry.allocation_type != "scoped":
            return self._first(entry, self._by_name.get(name, ()))
        # The memory belongs to the code of the instruction, not to its result.
        line = self._dump.instruction(name)
        if line is None or entry.shape is None or not _same_shape(line.record.shape, entry.shape):
            return JoinedEntry(entry)
        return JoinedEntry(entry, line, origin=origin_of(self._dump, name, "{}"))

    def _first(self, entry: OomEntry, candidates: Iterable[_Candidate]) -> JoinedEntry:
        """Join an entry with the first free candidate of its size and shape."""
        for allocation, value in candidates:
            if value in self._taken or not _fits(entry, value):
                continue
            self._taken.add(value)
            return JoinedEntry(
                entry,
                self._dump.instruction(value.name),
                LocatedRecord(allocation.file, value),
                allocation,
                origin_of(self._dump, value.name, value.index),
            )
        return JoinedEntry(entry)

    def _argument(self, number: int, index: str) -> Iterator[_Candidate]:
        for allocation in self._dump.allocations():
            record = allocation.record
            if record.parameter == number and record.parameter_index == index:
                for value in self._dump.assigned_to(allocation):
                    instruction = self._dump.instruction(value.name)
                    if instruction and parameter_number(instruction.record) == number:
                        yield allocation, value

    def _output(self, index: str) -> Iterator[_Candidate]:
        for file in self._dump.files:
            entry = file.module.entry
            root = None if entry is None else file.module.computation(entry).root
            value = None if root is None else self._dump.value_at(root.name, index)
            if value is not None and value.assigned is not None and value.allocation is not None:
                yield value.allocation, value.assigned.record

    def _of_operator(self, entry: OomEntry) -> Iterator[_Candidate]:
        """Yield the values with the opcode and operation name of an entry of a GPU."""
        for allocation, value in self._all:
            if not _fits(entry, value):
                continue
            if entry.is_parameter:
                if allocation.record.parameter is not None:
                    yield allocation, value
                continue
            text = self._dump.text_of(value.name)
            if text is None or entry.label not in {None, text.opcode.text}:
                continue
            if entry.op_name in {None, text.metadata.get("op_name")}:
                yield allocation, value


def _fits(entry: OomEntry, value: AssignedValue) -> bool:
    if entry.size is not None and not entry.size.matches(value.size):
        return False
    return entry.shape is None or _same_shape(entry.shape, value.shape)


def _same_shape(one: str, other: str) -> bool:
    """Compare shapes without layouts, which lists of GPUs do not print."""
    if one == other:
        return True
    shapes = try_shape(without_layout(one)), try_shape(without_layout(other))
    return shapes[0] is not None and shapes[0] == shapes[1]
