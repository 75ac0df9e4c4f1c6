"""Out-of-memory messages as data, with sizes as printed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.escapes import unescape
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction

_SIZE = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?([KMGTPE]?)(?:i?B)?")
_LINE_NUMBER = re.compile(r"[0-9]{1,9}")
_UNITS = {unit: 1024**power for power, unit in enumerate(["", *"KMGTPE"])}
# XLA divides by 1024 and drops the rest before it prints two decimals (tsl numbers.cc).
_LOST_BY_DIVISION = 1 / 1024


class OomKind(Enum):
    """The kind of memory that ran out; the value is the name in JSON."""

    HBM = "hbm"
    VMEM = "vmem"
    SCOPED_VMEM = "scoped_vmem"
    ALLOCATION = "allocation"
    GPU = "gpu"
    PROGRAM_LOAD = "program_load"
    REMATERIALIZATION = "rematerialization"


class EntryList(Enum):
    """The list of a message that an entry belongs to."""

    ALLOCATIONS = "program allocations"
    INTERFACE = "arguments and outputs"
    PEAK_BUFFERS = "peak buffers"


@dataclass(frozen=True, slots=True)
class PrintedSize:
    """A size as printed, such as ``6.75G`` or ``6291456``.

    Attributes:
        bytes: The nearest number of bytes.
        error: How far the true number of bytes can be from it.
    """

    text: str
    bytes: int
    error: int

    @classmethod
    def of(cls, text: str) -> "PrintedSize | None":
        """Return the size that a text prints, or None if the text is not a size."""
        match = _SIZE.fullmatch(text)
        if match is None:
            return None
        whole, decimals, unit = match[1], match[2] or "", _UNITS[match[3]]
        count = round(int(whole + decimals) * unit / 10 ** len(decimals))
        error = 0 if unit == 1 else (0.5 / 10 ** len(decimals) + _LOST_BY_DIVISION) * unit
        return cls(text, count, round(error))

    def matches(self, count: int) -> bool:
        """Return True if XLA prints this number of bytes as the text."""
        return self.matches_within(count, 0)

    def matches_within(self, count: int, error: int) -> bool:
        """Return True if a number that can be wrong by ``error`` may be printed as the text."""
        return abs(self.bytes - count) <= self.error + error


@dataclass(frozen=True)
class OomEntry:
    """A buffer in a list of a message.

    Attributes:
        rank: The printed number, or the position in a list without numbers; from 1.
        size: The padded size; None for lists that print none.
        shape: The shape as printed.
        label: The text after ``XLA label:``: an instruction, its opcode, or an argument.
        allocation_type: ``HLO temp``, ``scoped``, ``global``, ``overlays`` ...
        is_parameter: True for a parameter of the program in a list of a GPU.
        notes: Lines of the entry that no rule reads.
        first: Number of its first line in the document, from 0.
    """

    rank: int
    section: EntryList
    size: PrintedSize | None
    shape: str | None
    unpadded: PrintedSize | None
    operator: Mapping[str, str]
    label: str | None
    allocation_type: str | None
    is_parameter: bool
    notes: tuple[str, ...]
    first: int
    last: int

    @property
    def op_name(self) -> str | None:
        """The operation name."""
        return self.operator.get("op_name")

    @property
    def source(self) -> SourceLine | None:
        """The Python line that the message prints."""
        line = self.operator.get("source_line", "")
        if "source_file" not in self.operator or not _LINE_NUMBER.fullmatch(line):
            return None
        return SourceLine(self.operator["source_file"], int(line))

    @cached_property
    def instruction(self) -> InstructionText | None:
        """The instruction that the label prints, without ``%`` and usually without a shape."""
        return None if self.label is None else parse_instruction(self.label)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A row of a table: ``arguments 1.29G``; ``size`` is None if it is unknown."""

    name: str
    size: PrintedSize | None
    detail: str


@dataclass(frozen=True, slots=True)
class OomMessage:
    """A message; what it does not contain is None or empty.

    Attributes:
        kind: What ran out of memory.
        memory: The memory space as printed: ``hbm``, ``vmem``.
        needed: The size that the first sentence calls used, required, or to be allocated.
        limit: The available size, or the free one at run time.
        subject: What the needed size is: ``HLO temporaries`` in short messages.
        is_limit_free: True if the limit is the free memory at run time, or the part of it that may
            be reserved.
        is_limit_contiguous: True if the limit is the largest free region at run time.
        first: Number of the first line in the document, from 0.
        usage: ``Total hbm usage``, which includes reserved memory.
        requirement: ``Program hbm requirement``: memory other than arguments and outputs.
        shared: How much of the outputs is in the arguments, because they are donated.
        statistics: Totals of a buffer assignment.
        unread_lines: Number of lines with sizes of buffers, or totals, in an unknown form.
        free: All free memory at run time, also where it is not contiguous.
        capacity: The memory of the device.
        persistent_rows: Arguments and outputs, which are a part of the heap allocations.
        is_attempt: True if the allocator tries again, or reports the failure in another message.
    """

    kind: OomKind
    memory: str | None = None
    module: str | None = None
    needed: PrintedSize | None = None
    limit: PrintedSize | None = None
    excess: PrintedSize | None = None
    subject: str | None = None
    is_limit_free: bool = False
    is_limit_contiguous: bool = False
    first: int = 0
    usage: PrintedSize | None = None
    usage_rows: tuple[UsageRow, ...] = ()
    requirement: PrintedSize | None = None
    requirement_rows: tuple[UsageRow, ...] = ()
    output: PrintedSize | None = None
    shared: PrintedSize | None = None
    statistics: tuple[UsageRow, ...] = ()
    entries: tuple[OomEntry, ...] = ()
    unread_lines: int = 0
    free: PrintedSize | None = None
    capacity: PrintedSize | None = None
    persistent_rows: tuple[UsageRow, ...] = ()
    is_attempt: bool = False

    def usage_of(self, name: str) -> PrintedSize | None:
        """Return the size of a row of the usage table, such as ``arguments``."""
        return next((row.size for row in self.usage_rows if row.name == name), None)

    def persistent(self, name: str) -> PrintedSize | None:
        """Return the size of the arguments or the output in the heap allocations."""
        return next((row.size for row in self.persistent_rows if row.name == name), None)

    @property
    def is_fragmented(self) -> bool:
        """True if more memory is free than needed, but not in one piece."""
        if self.needed is None or self.free is None:
            return False
        return self.free.bytes >= self.needed.bytes

    def statistic(self, name: str) -> PrintedSize | None:
        """Return one of the totals of a buffer assignment."""
        return next((row.size for row in self.statistics if row.name == name), None)

    @property
    def limit_name(self) -> str:
        """The meaning of the limit."""
        if not self.is_limit_free:
            return "available"
        if self.is_limit_contiguous:
            return "free in one piece"
        return "free" if self.free in {None, self.limit} else "reservable"

    def detail(self) -> tuple[bool, int, bool, int, bool]:
        """Return a sort key: the most detailed message has sizes and the most buffers."""
        size = 0 if self.needed is None else self.needed.bytes
        # The size of one allocation on a GPU explains less than a list of buffers.
        is_useful = self.needed is not None or (self.kind is OomKind.GPU and bool(self.entries))
        return is_useful, len(self.entries), not self.is_attempt, size, self.limit is not None

    @property
    def temp(self) -> UsageRow | None:
        """The row for temporary buffers."""
        return next((row for row in self.requirement_rows if row.name == "HLO temp"), None)


def unescaped_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of an operator with strings unquoted."""
    return {
        name: unescape(text[1:-1]) if text.startswith('"') else text
        for name, text in fields.items()
    }
