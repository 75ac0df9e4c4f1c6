"""Buffers that the instructions of each computation define."""

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import nsmallest

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.byte_ranges import ByteRange, union_size
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.module_records import ComputationLine

_MAX_LISTED_VALUES = 100


@dataclass(frozen=True, slots=True)
class ComputationBuffers:
    """Number and bytes of the buffers that a computation defines, without thread-local memory.

    A buffer is a byte range of an allocation and may hold several values. Bytes that several
    buffers share count once. Buffers that the computation only forwards do not count: those of
    parameters, loops, and conditionals.

    ``largest`` are the names of the instructions that define the largest values.
    """

    buffers: int
    bytes: int
    largest: tuple[str, ...] = field(default=(), compare=False)


@query
def buffers_by_computation(dump: Compile) -> dict[ComputationLine, ComputationBuffers]:
    """Return the buffers of all computations that define some."""
    # Byte ranges by computation and allocation number.
    ranges: dict[ComputationLine, dict[int, set[ByteRange]]] = defaultdict(lambda: defaultdict(set))
    sizes: dict[ComputationLine, list[tuple[int, str]]] = defaultdict(list)
    for allocation in dump.allocations():
        if allocation.record.thread_local:
            continue
        for value in dump.assigned_to(allocation):
            checkpoint()
            if value.phi:  # The loop or branch forwards a value that is defined elsewhere.
                continue
            line = dump.instruction(value.name)
            if line is None or line.record.opcode == "parameter":
                continue
            home = line.file.module.computation_of(line.record)
            if home is not None:
                byte_range = value.offset, value.offset + value.size
                ranges[home][allocation.record.number].add(byte_range)
                sizes[home].append((-value.size, value.name))
    found: dict[ComputationLine, ComputationBuffers] = {}
    for home, by_allocation in ranges.items():
        checkpoint()
        found[home] = ComputationBuffers(
            sum(map(len, by_allocation.values())),
            sum(map(union_size, by_allocation.values())),
            tuple(dict.fromkeys(name for _, name in nsmallest(_MAX_LISTED_VALUES, sizes[home]))),
        )
    return found
