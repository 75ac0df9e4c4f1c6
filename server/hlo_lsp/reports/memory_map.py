"""The memory map of a compile as JSON: buffers over schedule steps and byte offsets.

The JSON is compact: tables are lists of columns, and texts are numbers of a table of strings. See
docs/json_schema.md.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nlargest

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.hlo.notation import TuplePath, tuple_path
from hlo_lsp.hlo.vocabulary import CONTROL_FLOW_OPCODES
from hlo_lsp.memory.advice import Advice, advice
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_name
from hlo_lsp.memory.live_set import LiveBuffer, live_buffers
from hlo_lsp.memory.lost_bytes import lost_bytes
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.memory.occupancy_and_peaks import (
    SpaceOccupancy,
    largest_off_chip_space,
    memory_space_occupancies,
)
from hlo_lsp.memory.savings import large_spaces
from hlo_lsp.memory.why_alive import lifetime_of
from hlo_lsp.model.backend import is_on_chip, space_title
from hlo_lsp.model.buffer_assignment import AllocationBlock, BufferAssignment, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import logical_bytes_of_text
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.program.data_origin import Origin, origins_of
from hlo_lsp.program.device_tables import describe_cut, device_table
from hlo_lsp.program.donation import argument_name
from hlo_lsp.program.global_shapes import global_shape
from hlo_lsp.program.schedule import Schedule, printed_schedule, schedule_of
from hlo_lsp.program.trip_counts import trip_count
from hlo_lsp.reports.summary import SpaceSummary, allocation_role, tuple_table_count
from hlo_lsp.reports.summary_text import lost_lines
from hlo_lsp.reports.timeline import peaks_of
from hlo_lsp.reports.why_alive_text import kept_for
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json, printable_json

Table = dict[str, list[int]]

FORMAT = "hlo-lsp memory map"
VERSION = 1
GROUPINGS = (GroupKey.LINE, GroupKey.SCOPE, GroupKey.OPCODE, GroupKey.SHAPE, GroupKey.ROLE)
_MIN_BAND_STEPS = 2  # the condition of a loop is often one comparison

_MAX_REASONS = 250  # of fixed and of other boxes


def memory_map_document(maps: Iterable[Json]) -> Json:
    """Return a document with the memory maps of some compiles."""
    modules = [printable_json(one) for one in maps]
    return {"format": FORMAT, "version": VERSION, "modules": modules}


@query
def memory_map(dump: Compile) -> Json:
    """Return the memory map of a compile, which callers must not change."""
    return _Map(dump).json()


class _Strings:
    """A table of distinct texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def texts(self) -> list[str]:
        return list(self._numbers)


class _Map:
    def __init__(self, dump: Compile) -> None:
        self._dump = dump
        self._strings = _Strings()
        self._assignment = buffer_assignment(dump)
        self._module = dump.module_file
        schedule = None if self._module is None else schedule_of(self._module.module)
        self._schedule: Schedule | None = None
        self._step_names: list[str] = []
        if schedule is not None:
            self._step_names, self._schedule = printed_schedule(dump, schedule)
        self._arguments = donated_arguments(dump) or ()
        self._whole_arrays: dict[tuple[object, ...], int] = {}
        keys = [(one.name, one.index) for block in self._assignment.blocks for one in block.values]
        self._origins = origins_of(dump, keys)

    def json(self) -> Json:
        dump = self._dump
        occupancies = {one.space: one for one in memory_space_occupancies(dump)}
        blocks = _stacked(self._assignment)
        sizes: Counter[int] = Counter()
        for block in blocks:
            sizes[block.allocation.color] += block.allocation.size
        # XLA moves into on-chip memory what fits, so that the other spaces are of more interest.
        spaces = sorted(
            sizes, key=lambda space: (is_on_chip(space, dump.backend), -sizes[space], space)
        )
        large = {spaces[0], *large_spaces(spaces, sizes.__getitem__)} if spaces else set()
        return {
            "name": dump.module_name,
            "path": dump.files[0].label,
            "backend": dump.backend.value,
            "lastStep": dump.last_step,
            "missing": list(missing_facts(dump)),
            "files": {
                "assignment": self._assignment.file.uri if blocks else None,
                "module": None if self._module is None else self._module.uri,
            },
            "spaces": [
                {
                    **self._space(space, occupancies.get(space)),
                    "isSmall": space not in large,
                }
                for space in spaces
            ],
            "allocations": self._allocations(blocks),
            "wholeArrays": [
                {"text": text, "titles": titles, "rows": rows}
                for text, titles, rows in self._whole_arrays
            ],
            "boxes": self._boxes(blocks),
            "bands": self._bands(),
            "steps": self._steps(),
            "strings": self._strings.texts,
        }

    def _space(self, space: int, occupancy: SpaceOccupancy | None) -> Json:
        title = space_title(space, self._dump.backend)
        allocations = [one.allocation for one in self._assignment.blocks]
        allocated = sum(one.size for one in allocations if one.color == space)
        summary = SpaceSummary(space, title, allocated)
        if occupancy is not None:
            lost = lost_bytes(self._dump, space, occupancy.peak_step)
            tables = tuple_table_count(self._dump, space)
            peak = occupancy.peak_bytes
            summary = replace(summary, bytes=peak, lost=lost, tuple_tables=tables)
        arguments = [one for one in self._arguments if one.space == space]
        found: Json = {
            "space": space,
            "name": title,
            "allocatedBytes": allocated,
            "notes": _space_notes(summary, arguments),
            "donation": _donation_rows(arguments),
            "advice": self._advice(occupancy),
        }
        if occupancy is not None:
            found |= {
                "fixedBytes": occupancy.fixed_bytes,
                "peakStep": occupancy.peak_step,
                "peakBytes": occupancy.peak_bytes,
                "changeSteps": _differences(occupancy.change_steps),
                "tempBytes": _differences(occupancy.temp_bytes),
                "localPeaks": list(map(list, peaks_of(occupancy))),
            }
        return found

    def _advice(self, occupancy: SpaceOccupancy | None) -> list[list[str]]:
        """Return the advice on the memory space with the largest peak, as the summary does."""
        dump = self._dump
        if occupancy is None or occupancy != largest_off_chip_space(
            memory_space_occupancies(dump), dump.backend
        ):
            return []
        buffers = [
            OwnedBuffer(
                buffer,
                None
                if buffer.value is None
                else self._origins.get((buffer.value.record.name, buffer.value.record.index)),
            )
            for buffer in live_buffers(dump, occupancy.space, occupancy.peak_step)
        ]
        return _advice_rows(advice(dump, buffers, occupancy))

    def _allocations(self, blocks: list[AllocationBlock]) -> Table:
        first_line = self._assignment.file.first_line
        keys = ("number", "space", "size", "fixed", "kind", "line", "donation", "whole")
        table: Table = {key: [] for key in keys}
        donation: dict[tuple[int | None, TuplePath], str] = {
            (one.parameter, one.index): one.text for one in self._arguments
        }
        for block in blocks:
            allocation = block.allocation
            argument = allocation.parameter, tuple_path(allocation.parameter_index)
            table["number"].append(allocation.number)
            table["space"].append(allocation.color)
            table["size"].append(allocation.size)
            table["fixed"].append(int(not allocation.preallocated_temp))
            table["kind"].append(self._strings.number(allocation_role(allocation)))
            table["line"].append(first_line + allocation.line)
            table["donation"].append(self._strings.number(donation.get(argument, "")))
            table["whole"].append(self._whole_array(allocation))
        return table

    def _whole_array(self, allocation: AllocationLine) -> int:
        """Return the number of the array of which an argument is a part, -1 for others."""
        if self._module is None or allocation.parameter is None:
            return -1
        record = self._module.module.parameters.get(allocation.parameter)
        whole = record and global_shape(self._dump, LocatedRecord(self._module, record))
        if not whole:
            return -1
        table = device_table(whole)
        titles, rows = ((), ()) if table is None else (table.titles, table.rows)
        one = describe_cut(whole).replace("`", ""), tuple(titles), tuple(map(tuple, rows))
        return self._whole_arrays.setdefault(one, len(self._whole_arrays))

    def _boxes(self, blocks: list[AllocationBlock]) -> Table:
        keys = ("allocation", "offset", "size", "padding", "start", "end", "name", "index")
        places = ("argument", "id", "assignmentLine", "moduleLine")
        table: Table = {
            key: [] for key in (*keys, *places, *(grouping.value for grouping in GROUPINGS))
        }
        for number, block in enumerate(blocks):
            allocation = LocatedRecord(self._assignment.file, block.allocation)
            for value in block.values:
                checkpoint()
                if value.size:
                    origin = self._origins.get((value.name, value.index))
                    self._add_box(table, number, allocation, value, origin)
        return table | {"kept": self._reasons(blocks, table)}

    def _reasons(self, blocks: list[AllocationBlock], table: Table) -> list[int]:
        """Return for what the boxes with the largest areas are kept, and no text for others."""
        starts, ends = table["start"], table["end"]
        areas = [
            size * (end - start + 1)
            for size, start, end in zip(table["size"], starts, ends, strict=True)
        ]
        by_kind: dict[bool, list[int]] = {}
        for row, number in enumerate(table["allocation"]):
            if starts[row] >= 0:
                kind = blocks[number].allocation.is_fixed
                by_kind.setdefault(kind, []).append(row)
        found = [self._strings.number("")] * len(areas)
        for rows in by_kind.values():
            for row in nlargest(_MAX_REASONS, rows, key=areas.__getitem__):
                checkpoint()
                value = self._dump.value(table["id"][row])
                lifetime = None if value is None else lifetime_of(self._dump, value)
                if value is not None and lifetime is not None:
                    text = kept_for(self._dump, value, lifetime, is_short=True).replace("`", "")
                    found[row] = self._strings.number(text)
        return found

    def _add_box(
        self,
        table: Table,
        number: int,
        allocation: LocatedRecord[AllocationLine],
        value: AssignedValue,
        origin: Origin | None,
    ) -> None:
        live = self._dump.live(value.key)
        instruction = self._dump.instruction(value.name)
        logical = logical_bytes_of_text(value.shape)
        padding = max(0, value.size - logical) if logical else 0
        file = allocation.file
        buffer = LiveBuffer(allocation, LocatedRecord(file, value), value.size, padding)
        owned = OwnedBuffer(buffer, origin, by_value=True)
        text = self._strings.number
        row = {
            "allocation": number,
            "offset": value.offset,
            "size": value.size,
            "padding": padding,
            "start": -1 if live is None else live.record.start_step,
            "end": -1 if live is None else live.record.end_step,
            "name": text(value.name),
            "index": text(value.index or ""),
            "argument": text("" if origin is None else _named_argument(origin, value)),
            "id": value.id,
            "assignmentLine": file.first_line + value.line,
            "moduleLine": -1
            if instruction is None
            else instruction.file.first_line + instruction.record.line,
        }
        for grouping in GROUPINGS:
            row[grouping.value] = text(group_name(self._dump, owned, grouping))
        for key, entry in row.items():
            table[key].append(entry)

    def _bands(self) -> Table:
        """Return the steps of the bodies of loops, calls, and conditionals, outermost first."""
        keys = ("start", "end", "depth", "name", "opcode", "line", "tripCount")
        table: Table = {key: [] for key in keys}
        if self._schedule is None or self._module is None:
            return table
        callers = self._callers(self._schedule)
        open_ends: list[int] = []
        spans = sorted(self._schedule.spans.items(), key=lambda item: (item[1].start, -item[1].end))
        for computation, span in spans:
            caller = callers.get(computation.name)
            if caller is None or span.is_async or span.end - span.start < _MIN_BAND_STEPS:
                continue
            while open_ends and open_ends[-1] <= span.start:
                open_ends.pop()
            table["start"].append(span.start)
            table["end"].append(span.end - 1)
            table["depth"].append(len(open_ends))
            table["name"].append(self._strings.number(caller.name))
            table["opcode"].append(self._strings.number(caller.opcode))
            table["line"].append(self._module.first_line + computation.line)
            count = trip_count(self._module.module, caller)
            table["tripCount"].append(-1 if count is None else count)
            open_ends.append(span.end)
        return table

    def _callers(self, schedule: Schedule) -> dict[str, InstructionLine]:
        """Return an instruction that calls each computation of a band."""
        found: dict[str, InstructionLine] = {}
        for instruction in schedule.instructions:
            if instruction.opcode in CONTROL_FLOW_OPCODES:
                for name in instruction.called:
                    found.setdefault(name, instruction)
        return found

    def _steps(self) -> list[int]:
        """Return the names of the scheduled instructions by step."""
        return list(map(self._strings.number, self._step_names))


def _named_argument(origin: Origin, value: AssignedValue) -> str:
    """Return the argument with the data of a value, such as ``p['w']``; empty if it has no name."""
    if origin.argument is None or origin.argument.startswith("parameter "):
        return ""
    parameter = origin.instruction.record
    is_itself = parameter.name == value.name and argument_name(parameter)
    return origin.argument + (value.index or "" if is_itself else "")


def _stacked(assignment: BufferAssignment) -> list[AllocationBlock]:
    """Return the blocks of each memory space in the order of the map: fixed ones first.

    Thread-local allocations have no place in the schedule.
    """
    blocks = [block for block in assignment.blocks if not block.allocation.thread_local]
    return sorted(
        blocks,
        key=lambda block: (
            block.allocation.color,
            block.allocation.preallocated_temp,
            block.allocation.number,
        ),
    )


def _differences(numbers: Iterable[int]) -> list[int]:
    """Return the first number, and the difference of each other number to the previous one."""
    found: list[int] = []
    before = 0
    for number in numbers:
        found.append(number - before)
        before = number
    return found


def _space_notes(summary: SpaceSummary, arguments: Iterable[Argument]) -> list[str]:
    """Return sentences on the lost bytes at the peak, and on the donation of arguments."""
    lines = [*lost_lines(summary), *_donation_sums(summary, list(arguments))]
    return [capitalized(line) for line in lines]


def _donation_sums(summary: SpaceSummary, arguments: Sequence[Argument]) -> Iterator[str]:
    for state in DonationState:
        sizes = [one.bytes for one in arguments if one.state is state]
        if sizes and summary.is_shown(sum(sizes)):
            count = count_noun(len(sizes), "argument")
            yield f"{state.title} {format_short_bytes(sum(sizes))}: {count}"


def _donation_rows(arguments: Iterable[Argument]) -> list[list[str]]:
    """Return the name, size, and state of arguments that have or could have an output."""
    return [
        [one.name, format_short_bytes(one.bytes), one.text]
        for one in arguments
        if one.state is not DonationState.KEPT
    ]


def _advice_rows(found: Iterable[Advice]) -> list[list[str]]:
    """Return advice as pairs of text and saving."""
    return [[capitalized(one.text), one.price] for one in found]
