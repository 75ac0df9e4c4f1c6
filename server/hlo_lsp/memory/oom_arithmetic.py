"""The arithmetic of out-of-memory messages: what is needed, and whether totals agree.

Known numbers whose meaning differs from their label:

- Up to libtpu 0.0.37, ``Used`` omits the outputs, so that a program needs more.
- In short messages, ``HLO temporaries`` is the sum of arguments, outputs, and temporaries.
- If a program does not fit beside the data on the device, ``Total hbm usage`` is the sum of
  reserved memory, of all data (``heap allocations``, which include arguments and outputs), and of
  the program. ``Max free chunk`` of the heap is not a part of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.oom_message import OomKind, OomMessage, PrintedSize, UsageRow
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.text.amounts import format_short_bytes

# Messages about memory that the buffer assignment describes.
_WITH_PROGRAM = frozenset(
    {OomKind.HBM, OomKind.ALLOCATION, OomKind.GPU, OomKind.CPU, OomKind.PROGRAM_LOAD}
    | {OomKind.REMATERIALIZATION}
)
_ONE_ALLOCATION = frozenset({OomKind.GPU, OomKind.CPU, OomKind.HOST})
# The smallest memory of a device in use: 8 GiB for TPU v2. A module that needs less than this
# can run on an empty device.
_SMALLEST_DEVICE_BYTES = 7 << 30


@dataclass(frozen=True, slots=True)
class Requirement:
    """The device memory that a module needs.

    Attributes:
        needed: Number of bytes; None if unknown, as for a message about one allocation at run time.
        is_minimum: True if a part is unknown, so that it needs more.
        arguments: Bytes of arguments.
        outputs: Bytes of outputs that are not in arguments.
        program: Bytes of temporaries and constants, and of code without a dump.
        code: Bytes of code and of other memory that is not in the buffer assignment.
        is_measured: True if the numbers are those of a buffer assignment.
    """

    needed: int | None
    is_minimum: bool = False
    arguments: int | None = None
    outputs: int | None = None
    program: int | None = None
    code: int | None = None
    is_measured: bool = False


def requirement_of(message: OomMessage, dump: Compile | None) -> Requirement:
    """Return what the module of a message needs, from its dump if there is one."""
    if dump is not None and is_of_program(message):
        measured = _measured(message, dump)
        if measured is not None:
            return measured
    arguments = _bytes(message.usage_of("arguments"))
    program = _bytes(message.usage_of("program"))
    if not any(row.name == "program" for row in message.usage_rows):
        program = _bytes(message.requirement)
    outputs = None
    if message.output is not None:
        outputs = message.output.bytes - (_bytes(message.shared) or 0)
    if message.persistent_rows:
        return _persistent_requirement(message, program)
    parts = (arguments, outputs, program)
    if message.usage_rows and any(part is not None for part in parts):
        total = sum(part or 0 for part in parts)
        is_minimum = any(part is None for part in parts)
        printed = [message.usage_of("arguments"), message.usage_of("program"), message.output]
        error = _error(*(size for size in printed if size is not None))
        if message.needed is not None and message.needed.matches_within(total, error):
            total = message.needed.bytes  # the sum of rounded numbers is less exact
        if message.needed is not None and is_minimum:
            total = max(total, message.needed.bytes)
        return Requirement(total, is_minimum, *parts)
    total_allocation = message.statistic("total allocation")
    if total_allocation is not None:
        return Requirement(total_allocation.bytes)
    needed = None if is_one_allocation(message) else _bytes(message.needed)
    return Requirement(needed, False, *parts)


def _persistent_requirement(message: OomMessage, program: int | None) -> Requirement:
    """Return the need of a program whose arguments and outputs are already on the device."""
    arguments = _bytes(message.persistent("arguments"))
    outputs = _bytes(message.persistent("output"))
    # The output "may share some memory with arguments".
    least = max(arguments or 0, outputs or 0) + (program or 0)
    return Requirement(least or None, True, arguments, outputs, program)


def _measured(message: OomMessage, dump: Compile) -> Requirement | None:
    allocations = [one.record for one in dump.allocations() if one.record.color == 0]
    shared = [one for one in allocations if not one.thread_local]
    if not shared:
        return None
    arguments = _total(one for one in shared if one.parameter is not None)
    outputs = _total(one for one in shared if one.parameter is None and one.maybe_live_out)
    total = _total(shared)
    rows = (row for row in message.requirement_rows if row.name != "HLO temp")
    code = sum(row.size.bytes for row in rows if row.size is not None)
    program = total - arguments - outputs
    return Requirement(total + code, False, arguments, outputs, program, code, is_measured=True)


def _total(allocations: Iterable[AllocationLine]) -> int:
    return sum(allocation.size for allocation in allocations)


def corrections(message: OomMessage, need: Requirement) -> Iterator[str]:
    """Yield sentences about numbers whose meaning differs from their label."""
    if message.subject is not None and message.needed is not None:
        text = f"`{message.subject}` means all memory of the program: it includes"
        if need.arguments is not None and need.outputs is not None:
            yield (
                f"{text} arguments ({format_short_bytes(need.arguments)}) and outputs "
                f"({format_short_bytes(need.outputs)})"
            )
        else:
            yield f"{text} arguments and outputs"
    if omits_outputs(message):
        assert message.output is not None
        yield (
            f"`Used` omits the outputs ({format_short_bytes(message.output.bytes)}), as in "
            "libtpu up to 0.0.37"
        )


def omits_outputs(message: OomMessage) -> bool:
    """Return True if the printed need is the sum of program and arguments without outputs."""
    arguments, program = message.usage_of("arguments"), message.usage_of("program")
    if message.needed is None or message.output is None or arguments is None:
        return False
    parts = [part for part in (arguments, program) if part is not None]
    output = message.output.bytes - (_bytes(message.shared) or 0)
    return output > _error(*parts, message.needed) and _is_sum(message.needed, parts)


def mismatches(message: OomMessage, need: Requirement) -> list[str]:
    """Return a sentence for each total of a message that its parts contradict."""
    found: list[str] = []
    _check_rows("Total usage", message.usage, message.usage_rows, found)
    _check_rows("Program requirement", message.requirement, message.requirement_rows, found)
    program = message.usage_of("program")
    if program is not None and message.requirement is not None:
        _check("program", program, [message.requirement], found)
    if message.excess is not None and message.needed is not None and message.limit is not None:
        _check("used memory", message.needed, [message.limit, message.excess], found)
    temp = message.temp
    for entry in message.entries:
        if entry.size is not None and entry.unpadded is not None:
            error = _error(entry.size, entry.unpadded)
            if entry.unpadded.bytes > entry.size.bytes + error:
                found.append(f"entry {entry.rank}: unpadded size exceeds the size")
        is_temp = entry.allocation_type == "HLO temp" and entry.size is not None
        if is_temp and temp is not None and temp.size is not None:
            assert entry.size is not None
            if entry.size.bytes > temp.size.bytes + _error(entry.size, temp.size):
                found.append(f"entry {entry.rank} is larger than all HLO temporaries")
    arguments = message.usage_of("arguments")
    if need.is_measured and arguments is not None and need.arguments is not None:
        size = format_short_bytes(need.arguments)
        if not arguments.matches(need.arguments):
            found.append(f"arguments {arguments.text}: the buffer assignment has {size}")
    return found


def _check_rows(
    name: str, total: PrintedSize | None, rows: Iterable[UsageRow], found: list[str]
) -> None:
    sizes = [row.size for row in rows]
    parts = [size for size in sizes if size is not None]
    if total is not None and parts and len(parts) == len(sizes):
        _check(name, total, parts, found)


def _check(name: str, total: PrintedSize, parts: list[PrintedSize], found: list[str]) -> None:
    if not _is_sum(total, parts):
        sum_text = " + ".join(part.text for part in parts)
        found.append(f"{name} {total.text} is not {sum_text}")


def _is_sum(total: PrintedSize, parts: Iterable[PrintedSize]) -> bool:
    parts = list(parts)
    return abs(total.bytes - sum(part.bytes for part in parts)) <= _error(total, *parts)


def _error(*sizes: PrintedSize) -> int:
    return sum(size.error for size in sizes)


def _bytes(size: PrintedSize | None) -> int | None:
    return None if size is None else size.bytes


def is_one_allocation(message: OomMessage) -> bool:
    """Return True if the needed size is that of one allocation at run time."""
    return message.is_limit_free or message.kind in _ONE_ALLOCATION


def is_of_program(message: OomMessage) -> bool:
    """Return True if the memory that ran out holds the arrays of the program."""
    return message.kind in _WITH_PROGRAM and not message.is_on_chip


def was_device_full(message: OomMessage, need: Requirement) -> bool:
    """Return True if the program fits into any device, so that something else filled it."""
    is_device = is_one_allocation(message) and message.memory in {"hbm", "device"}
    if not is_device or need.is_minimum:
        return False
    return need.needed is not None and need.needed <= _SMALLEST_DEVICE_BYTES
