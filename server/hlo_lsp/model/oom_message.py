"""Out-of-memory messages as data, with sizes as printed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction
from hlo_lsp.syntax.oom_lines import find_rule, find_rules

_SIZE = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?([KMGTPE]?)(?:i?B)?")
_UNITS = {unit: 1024**power for power, unit in enumerate(["", *"KMGTPE"])}
# XLA divides by 1024 and drops the rest before it prints two decimals (tsl numbers.cc).
_LOST_BY_DIVISION = 1 / 1024


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

    @classmethod
    def sum_of(cls, *texts: str) -> "PrintedSize | None":
        """Return the sum of the sizes that texts print, or None if one of them is not a size."""
        sizes = [size for size in map(cls.of, texts) if size is not None]
        if len(sizes) != len(texts):
            return None
        text = " + ".join(texts)
        return cls(text, sum(one.bytes for one in sizes), sum(one.error for one in sizes))

    def in_units(self, unit: str, unit_bytes: int) -> "PrintedSize":
        """Return the size if the printed number counts words or other units."""
        return PrintedSize(f"{self.text} {unit}", self.bytes * unit_bytes, 0)

    def without(self, part: "PrintedSize") -> "PrintedSize":
        """Return what is left of the size without a part."""
        left = max(0, self.bytes - part.bytes)
        return PrintedSize(f"{left}", left, 0)


def printed_size(text: str | None) -> PrintedSize | None:
    """Return the size that a text prints, or None if there is none."""
    return None if text is None else PrintedSize.of(text)


_NAME = re.compile(r"%?[A-Za-z_][\w.\-]*")
_LINE_NUMBER = re.compile(r"[0-9]{1,9}")


class OomKind(Enum):
    """The kind of memory that ran out; the value is the name in JSON."""

    HBM = "hbm"
    VMEM = "vmem"
    SCOPED_VMEM = "scoped_vmem"
    ALLOCATION = "allocation"
    GPU = "gpu"
    CPU = "cpu"
    HOST = "host"
    GPU_KERNEL = "gpu_kernel"
    SPARSE_CORE = "sparse_core"
    MEMORY_SPACE = "memory_space"
    PROGRAM_LOAD = "program_load"
    REMATERIALIZATION = "rematerialization"


# Names of memory spaces in messages, where they are not written in capital letters. All other names
# that libtpu prints are shown in capitals: HBM, VMEM, SMEM, CMEM, SPMEM, SFLAG.
_MEMORY_NAMES = {
    "device": "device memory",
    "host": "host memory",
    "main": "main memory",
    "shared": "shared memory",
    "tensor": "tensor memory",
    "tile_spmem": "TileSpmem",
}
# Kinds of TPU messages whose memory is not HBM: totals of HBM say nothing about them.
_ON_CHIP_MEMORY = frozenset({"vmem", "smem", "cmem", "sflag", "spmem", "tile_spmem"})
_ERRORS_PAGE = "https://openxla.org/xla/errors/error_"


class EntryList(Enum):
    """The list of a message that an entry belongs to."""

    ALLOCATIONS = "program allocations"
    INTERFACE = "arguments and outputs"
    PEAK_BUFFERS = "peak buffers"


@dataclass(frozen=True, slots=True)
class Window:
    """The part of an operand of a kernel that is in memory at a time.

    Attributes:
        operand: Such as ``input 2``.
        shape: The shape of the window.
        full_shape: The shape of the whole operand.
        buffers: Number of copies in memory; None if unknown.
    """

    operand: str
    shape: str
    full_shape: str
    buffers: int | None

    @property
    def is_whole(self) -> bool:
        """True if the kernel holds the whole operand."""
        return self.shape.replace(" ", "") == self.full_shape.replace(" ", "")


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
    def is_scoped(self) -> bool:
        """True if the memory belongs to the code of one instruction, such as a kernel."""
        return self.allocation_type == "scoped"

    @property
    def is_spill(self) -> bool:
        """True if the memory holds values that do not fit into registers."""
        return find_rule("spills_label", self.label or "") is not None

    @property
    def is_kernel(self) -> bool:
        """True if the memory belongs to a kernel of Pallas or Mosaic."""
        return find_rule("kernel_label", self.label or "") is not None or self.window is not None

    @property
    def window(self) -> "Window | None":
        """The window of an operand of a kernel that the label describes."""
        match = find_rule("window_label", self.label or "")
        if match is None:
            return None
        buffers = find_rule("buffering_label", self.label or "")
        count = None if buffers is None else int(buffers["LEVELS"] or 1)
        return Window(match["OPERAND"], match["WINDOW"], match["FULL"], count)

    @property
    def kernel(self) -> str | None:
        """The name of the kernel or the instruction that scoped memory belongs to."""
        if self.instruction is not None:
            return self.instruction.name.text
        for rule in ("scoped_label", "spills_label"):
            match = find_rule(rule, self.label or "")
            if match is not None:
                return match["MODULE"]
        is_name = self.is_scoped and _NAME.fullmatch(self.label or "") is not None
        return self.label if is_name else None

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """The block sizes in the name of a kernel, such as ``bq`` and ``512x256``."""
        found = find_rules("block_label", self.kernel or "")
        return [(match["BLOCK"], match["BLOCK_SIZES"].replace("_", "x")) for match in found]

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


@dataclass(frozen=True, slots=True)
class OomMessage:
    """A message; what it does not contain is None or empty.

    Attributes:
        kind: What ran out of memory.
        memory: The memory space in small letters, as printed or as the sentence implies: ``hbm``,
            ``vmem``, ``smem``, ``host``, ``shared``; None if it is unknown.
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
        sparse_core: The part of the needed size that the SparseCore uses.
        allocation: The size of the allocation that failed, if the needed size is that of all.
        in_use: The part of the limit that other allocations use.
        code: The code of the error in XLA's documentation, such as ``E1000``.
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
    sparse_core: PrintedSize | None = None
    allocation: PrintedSize | None = None
    in_use: PrintedSize | None = None
    code: str | None = None

    @property
    def memory_name(self) -> str | None:
        """The name of the memory space for users, such as ``VMEM`` or ``host memory``."""
        return None if self.memory is None else memory_name(self.memory)

    @property
    def is_on_chip(self) -> bool:
        """True if memory of a TPU other than HBM ran out."""
        return self.memory in _ON_CHIP_MEMORY

    @property
    def page(self) -> str | None:
        """The address of XLA's page about the error; None if it has none."""
        code = self.code or self._implied_code()
        return None if code is None else f"{_ERRORS_PAGE}{code.removeprefix('E')}"

    def _implied_code(self) -> str | None:
        """Return the code that newer compilers print with this kind of message."""
        if self.kind is OomKind.PROGRAM_LOAD:
            return "E0101"
        if self.kind is OomKind.SPARSE_CORE:
            return "E3000"
        if self.kind is OomKind.ALLOCATION and self.is_limit_free:
            return "E0100"
        return {"hbm": "E1000", "vmem": "E1001"}.get(self.memory or "")

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
        # One size explains less than a list of buffers whose head with the size is cut off.
        is_useful = self.needed is not None or any(one.size is not None for one in self.entries)
        return is_useful, len(self.entries), not self.is_attempt, size, self.limit is not None

    @property
    def temp(self) -> UsageRow | None:
        """The row for temporary buffers."""
        return next((row for row in self.requirement_rows if row.name == "HLO temp"), None)


def memory_name(memory: str) -> str:
    """Return the name of a memory space for users."""
    return _MEMORY_NAMES.get(memory, memory.upper())
