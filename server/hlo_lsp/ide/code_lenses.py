"""Code lenses: which records have one, their titles, and the places that a click on one shows."""

from collections.abc import Iterator, Mapping
from enum import Enum
from heapq import nsmallest
from itertools import islice
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import CALLING_OPCODES
from hlo_lsp.ide.hover import summaries
from hlo_lsp.ide.hover.stats import MIN_HOT_SHARE, computation_time, describe_run
from hlo_lsp.ide.hover.values import value_headline
from hlo_lsp.ide.navigation.references import use_places
from hlo_lsp.memory.computation_buffers import buffers_by_computation
from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.memory.occupied_steps import occupied_steps
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, Place, Value, name_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.stats.instruction_table import NO_INSTRUCTIONS, InstructionTable
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, PeakLabel, TotalLine
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

LensData = dict[str, Any]  # what a lens is about; a client sends it back unchanged

_LARGE_BYTES = 1 << 20
_LARGE_SHARE = 0.01  # of the peak of a memory space
_MIN_BYTES = 16  # the flags of asynchronous copies have 4 bytes, in a space of their own
MAX_LISTED_PLACES = 2000  # 10 ms and 400 kB
_MAX_HOT_INSTRUCTIONS = 50
_SUMMARY_KINDS = frozenset({FileKind.ASSIGNMENT, FileKind.MODULE, FileKind.REPORT})


class LensChoice(Enum):
    """The lenses to show; the values are those of the setting ``hlo.codeLens``."""

    ALL = "all"
    LARGE = "large"
    OFF = "off"


def lenses(
    dump: Compile, file: DumpFile, choice: LensChoice, times: InstructionTable | None = None
) -> Iterator[tuple[int, LensData]]:
    """Yield the line (from 0) and the data of each lens.

    ``LARGE`` leaves out allocations of one value or without reuse, allocations, values, and
    computations that are smaller than both limits, and values that occupy no bytes at the peak.
    Computations that take much time are shown. ``times`` is None if the times of the compile are
    not computed yet.
    """
    own_times = _own_times(dump, file, times)
    if choice is LensChoice.OFF:
        return
    has_summary = file.kind in _SUMMARY_KINDS and any(dump.allocations())
    is_measured = times is not None and times.measured is not None
    if describe_run(times or NO_INSTRUCTIONS if has_summary and is_measured else own_times):
        yield 0, {"run": True}  # first, because the summary is long
    if has_summary:
        yield 0, {"summary": True}
    limits = None if choice is LensChoice.ALL else large_sizes(dump)
    entered = _entered_computations(file)
    for record in file.records:
        checkpoint()
        if type(record) is InstructionLine:  # most records of a module text, so tested first
            continue
        for data in _data(dump, record, entered, limits, own_times):
            yield record.line, data


def _data(
    dump: Compile,
    record: Record,
    entered: set[str],
    limits: Mapping[int, int] | None,
    times: InstructionTable,
) -> Iterator[LensData]:
    match record:
        case AllocationLine():
            if limits is None or _is_large_arena(dump, record, limits):
                yield {"allocation": record.number}
        case AssignedValue() | UsedValue() if record.id is not None:
            if limits is None or _is_large_at_peak(dump, record.id, limits):
                yield {"value": record.id}
        case PeakLabel():
            yield {"peak": record.moment}
            if largest_off_chip_space(memory_space_occupancies(dump), dump.backend) is not None:
                yield {"occupied": record.moment}
        case TotalLine():
            yield {"total": record.total}
        case ComputationLine() if record.is_entry or record.name in entered:
            is_hot = computation_time(times, record.name).share >= MIN_HOT_SHARE
            if limits is None or record.is_entry or is_hot or _defines_large(dump, record, limits):
                yield {"computation": record.name}


def _defines_large(dump: Compile, record: ComputationLine, limits: Mapping[int, int]) -> bool:
    buffers = buffers_by_computation(dump).get(record)
    return buffers is not None and buffers.bytes >= max(limits.values(), default=0)


def _own_times(dump: Compile, file: DumpFile, times: InstructionTable | None) -> InstructionTable:
    """Return the times of the text that runs; names in texts of other passes mean other things."""
    return NO_INSTRUCTIONS if times is None or file is not dump.module_file else times


def has_value_lens(dump: Compile, value_id: int, choice: LensChoice) -> bool:
    """Return whether a value has a lens, which shows its size, its live range, and its origin."""
    if choice is LensChoice.LARGE:
        return _is_large_at_peak(dump, value_id, large_sizes(dump))
    return choice is LensChoice.ALL


@query
def large_sizes(dump: Compile) -> Mapping[int, int]:
    """Return the smallest size in bytes, by memory space, of a value that has a lens."""
    allocated: dict[int, int] = {}
    for allocation in dump.allocations():
        record = allocation.record
        allocated[record.color] = allocated.get(record.color, 0) + record.size
    occupancies = memory_space_occupancies(dump)
    peaks = allocated | {each.space: each.peak_bytes for each in occupancies}
    return {
        space: min(_LARGE_BYTES, max(_MIN_BYTES, int(peak * _LARGE_SHARE)))
        for space, peak in peaks.items()
    }


def large_size(dump: Compile, space: int) -> int:
    """Return the smallest size in bytes of a large buffer in a memory space."""
    return large_sizes(dump).get(space, _LARGE_BYTES)


def _is_large_arena(dump: Compile, record: AllocationLine, limits: Mapping[int, int]) -> bool:
    """Return whether an allocation is large and several values take turns in its bytes.

    The values of other allocations occupy the same bytes during the whole program, and have lenses.
    """
    if record.is_fixed or record.thread_local:
        return False
    if record.size < limits.get(record.color, _LARGE_BYTES):
        return False
    allocation = dump.allocation(record.number)
    values = () if allocation is None else dump.assigned_to(allocation)
    return sum(1 for _ in islice(values, 2)) == 2


def _is_large_at_peak(dump: Compile, value_id: int, limits: Mapping[int, int]) -> bool:
    assigned = dump.find(lambda index: index.assigned, value_id)
    if assigned is None:
        return False
    allocation = dump.allocation_of(assigned)
    if allocation is None or allocation.record.thread_local:
        return False
    if assigned.record.size < limits.get(allocation.record.color, _LARGE_BYTES):
        return False
    value = dump.value(value_id)
    steps = None if value is None else occupied_steps(dump, value)
    return steps is None or steps.is_at_peak is not False


def _entered_computations(file: DumpFile) -> set[str]:
    """Return the names of the called computations that are not fusions."""
    found: set[str] = set()
    if file.kind is FileKind.MODULE:
        for record in file.module.instructions.records():
            checkpoint()
            if record.opcode in CALLING_OPCODES:
                found.update(record.called)
    return found


def lens_title(
    dump: Compile, file: DumpFile, data: LensData, times: InstructionTable | None
) -> str:
    """Return the text of a lens without Markdown, or the text that its record no longer exists.

    ``times`` is None if the times of the compile are not computed yet.
    """
    if "run" in data:
        return describe_run(times or NO_INSTRUCTIONS) or "no longer available"
    return _markdown_title(dump, file, data, _own_times(dump, file, times)).replace("`", "")


def _markdown_title(dump: Compile, file: DumpFile, data: LensData, times: InstructionTable) -> str:
    if "total" in data:
        return summaries.total_summary(dump)
    if "peak" in data:
        return summaries.declared_peak_summary(dump)
    if "occupied" in data:
        return summaries.occupied_peak_summary(dump)
    if "computation" in data:
        computation = file.module.named(data["computation"])
        if computation is not None:
            summary = summaries.computation_summary(dump, LocatedRecord(file, computation))
            time = computation_time(times, computation.name).text
            return f"{summary}, {time}" if time else summary
    allocation = dump.allocation(data["allocation"]) if "allocation" in data else None
    if allocation is not None:
        return summaries.allocation_summary(dump, allocation)
    value = dump.value(data["value"]) if "value" in data else None
    if value is None:
        return "no longer available"
    title = value_headline(dump, value) or "no live range"
    user = _last_user(dump, value)
    return title if user in {None, value.name} else f"{title} → {user}"


def lens_places(
    dump: Compile, file: DumpFile, data: LensData, times: InstructionTable | None
) -> list[Place]:
    """Return the places that a click shows, at most ``MAX_LISTED_PLACES``; a single one is opened.

    A lens on a value leads to its last user, one on occupied bytes to the step with most of them,
    one on the time of a run to the instructions with most of it, and the others to buffers, the
    largest first.
    """
    if "run" in data:
        hot = [] if times is None else times.timed[:_MAX_HOT_INSTRUCTIONS]
        lines = [dump.instruction(one.name) for one in hot]
        return [line.name_place for line in lines if line is not None]
    if "peak" in data:
        return _value_places(list(_values_at(dump, int(data["peak"]))))
    if "occupied" in data:
        space = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
        row = None if space is None else dump.at_step(space.peak_step)
        return [] if row is None else [row.name_place]
    if "total" in data:
        found = nsmallest(
            MAX_LISTED_PLACES, dump.allocations(), key=lambda one: (-one.record.size, one.line)
        )
        return [allocation.name_place for allocation in found]
    if "computation" in data:
        return _computation_places(dump, file, str(data["computation"]))
    allocation = dump.allocation(data["allocation"]) if "allocation" in data else None
    if allocation is not None:
        values = (LocatedRecord(allocation.file, value) for value in dump.assigned_to(allocation))
        return _value_places(list(values))
    value = dump.value(data["value"]) if "value" in data else None
    return [] if value is None else _last_user_places(dump, value)


def _values_at(dump: Compile, step: int) -> Iterator[LocatedRecord[AssignedValue]]:
    for allocation in dump.allocations():
        for value in dump.assigned_to(allocation):
            live = dump.live(value.key)
            if live is not None and live.record.start_step <= step <= live.record.end_step:
                yield LocatedRecord(allocation.file, value)


def _value_places(values: list[LocatedRecord[AssignedValue]]) -> list[Place]:
    found = nsmallest(
        MAX_LISTED_PLACES, values, key=lambda one: (-one.record.size, one.record.line)
    )
    return [value.name_place for value in found]


def _computation_places(dump: Compile, file: DumpFile, name: str) -> list[Place]:
    """Return the instructions with the largest buffers, or the root if there are none."""
    computation = file.module.named(name)
    if computation is None:
        return []
    buffers = buffers_by_computation(dump).get(computation)
    names = () if buffers is None else buffers.largest
    lines = [file.module.instruction_in_scope(computation, each) for each in names]
    if not any(lines):
        lines = [file.module.computation(computation).root]
    return [name_place(file, line) for line in lines if line is not None]


def _last_user(dump: Compile, value: Value) -> str | None:
    """Return the instruction that ends a live range, or the last one that uses the value."""
    row = None if value.live is None else dump.at_step(value.live.record.end_step)
    if row is not None:
        return row.record.name
    if value.entry is None:
        return None
    uses = [(dump.step(use.name), use.name) for use in value.entry.record.uses]
    ordered = sorted((step.record.step, use) for step, use in uses if step is not None)
    return ordered[-1][1] if ordered else None


def _last_user_places(dump: Compile, value: Value) -> list[Place]:
    line = dump.instruction(_last_user(dump, value) or value.name)
    if line is not None:
        return [line.name_place]
    row = None if value.live is None else dump.at_step(value.live.record.end_step)
    if row is not None:
        return [row.name_place]
    places = use_places(value)[-1:]
    part = value.entry or value.assigned
    return places or ([] if part is None else [part.name_place])
