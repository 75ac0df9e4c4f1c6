"""textDocument/codeLens and codeLens/resolve."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from lsprotocol import types

from hlo_lsp.ide.hover import summaries
from hlo_lsp.ide.navigation.references import uses_of, values_in
from hlo_lsp.lsp.client import SHOW_PLACES_COMMAND
from hlo_lsp.lsp.positions import Json, lines_range, locations
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.memory.computation_buffers import COMPUTATION_CALLING_OPCODES, buffers_by_computation
from hlo_lsp.memory.memory_spaces import memory_space_occupancies
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, PeakLabel, TotalLine
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_RECORDS_PER_CHECKPOINT = 200  # records between two breaths
_MIN_LISTED_PLACES = 2  # places that are worth a list
_MAX_LISTED_PLACES = 2000  # places in a list: 10 ms, and 400 kB; the title says how many there are


async def code_lenses(asked: RequestContext) -> list[Json]:
    """A lens on every allocation, value, peak header, total, and computation that is entered.

    The text comes when a lens is on screen, or at once for a client that would ask for all.
    """
    return await run_on_compile(asked.dump, lambda: _lenses(asked))


async def resolve(asked: RequestContext, lens: types.CodeLens) -> types.CodeLens:
    """Give a lens its text. What it was about may be gone by now: then it says so.

    A click shows the values in an allocation, or the uses of a value, if there are several.
    """
    data = lens.data if isinstance(lens.data, dict) else {}
    if "computation" in data:
        await run_on_compile(asked.dump, lambda: buffers_by_computation(asked.dump))
    if "peak" in data:
        await run_on_compile(asked.dump, lambda: memory_space_occupancies(asked.dump))
    command = types.Command(_title(asked, data), "")
    places = _places(asked, data) if asked.client.shows_places else []
    if len(places) >= _MIN_LISTED_PLACES:
        command.command = SHOW_PLACES_COMMAND
        start = _start(lens.range.start.line)
        command.arguments = [
            asked.file.uri,
            start,
            locations(asked.convert, places[:_MAX_LISTED_PLACES]),
        ]
        if len(places) > _MAX_LISTED_PLACES:
            command.tooltip = f"the first {_MAX_LISTED_PLACES:,} of {len(places):,} places"
    return types.CodeLens(lens.range, command, lens.data)


def _lenses(asked: RequestContext) -> list[Json]:
    lenses: list[Json] = []
    entered = _entered_computations(asked)
    if entered and asked.client.wants_lens_texts:
        buffers_by_computation(asked.dump)
    data: dict[str, Any]
    for count, record in enumerate(asked.file.records):
        if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
            checkpoint()
        if type(record) is InstructionLine:  # nearly all of a module text, at once
            continue
        if isinstance(record, AllocationLine):
            data = {"allocation": record.number}
        elif isinstance(record, AssignedValue | UsedValue) and record.id is not None:
            data = {"value": record.id}
        elif isinstance(record, PeakLabel):
            data = {"peak": record.moment}
            if asked.client.wants_lens_texts:
                memory_space_occupancies(asked.dump)
        elif isinstance(record, TotalLine):
            data = {"total": record.total}
        elif isinstance(record, ComputationLine) and (record.is_entry or record.name in entered):
            data = {"computation": record.name}
        else:
            continue
        data["uri"] = asked.file.uri
        data["line"] = asked.file.first_line + record.line
        lens: Json = {"range": lines_range(asked.convert, asked.file, record.line, 1), "data": data}
        if asked.client.wants_lens_texts:
            lens["command"] = _command_without_places(asked, data)
        lenses.append(lens)
    return lenses


def _command_without_places(asked: RequestContext, data: dict[str, Any]) -> Json:
    """A command without its places, which would be too many for all lenses of a file.

    In their stead it holds the data of the lens: who clicks has the client resolve that.
    """
    command: Json = {"title": _title(asked, data), "command": ""}
    if asked.client.shows_places and _has_several_places(asked, data):
        command["command"] = SHOW_PLACES_COMMAND
        command["arguments"] = [asked.file.uri, _start(data["line"]), data]
    return command


def _entered_computations(asked: RequestContext) -> set[str]:
    """The computations that run by themselves: the entry, and what is called and no fusion."""
    if asked.file.kind is not FileKind.MODULE:
        return set()
    entry = asked.file.module.entry
    found = set() if entry is None else {entry.name}
    for count, record in enumerate(asked.file.records):
        if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
            checkpoint()
        if type(record) is InstructionLine and record.opcode in COMPUTATION_CALLING_OPCODES:
            found.update(record.called)
    return found


def _title(asked: RequestContext, data: dict[str, Any]) -> str:
    dump = asked.dump
    if "allocation" in data:
        allocation = dump.allocation(data["allocation"])
        if allocation is not None:
            return summaries.allocation_summary(dump, allocation)
    if "value" in data:
        value = dump.value(data["value"])
        if value is not None:
            return summaries.value_summary(dump, value)
    if "total" in data:
        return summaries.total_summary(dump)
    if "computation" in data:
        computation = asked.file.module.named(data["computation"])
        if computation is not None:
            return summaries.computation_summary(dump, LocatedRecord(asked.file, computation))
    if "peak" in data:
        return summaries.peak_summary(dump)
    return "gone"


def _places(asked: RequestContext, data: dict[str, Any]) -> list[Place]:
    """The values in an allocation, the uses of a value."""
    dump = asked.dump
    if "allocation" in data:
        allocation = dump.allocation(data["allocation"])
        return [] if allocation is None else values_in(dump, allocation)
    value = dump.value(data["value"]) if "value" in data else None
    return [] if value is None else uses_of(value)


def _has_several_places(asked: RequestContext, data: dict[str, Any]) -> bool:
    """Whether ``_places`` finds that many, without finding them all."""
    dump = asked.dump
    found: Iterable[object] = ()
    if "allocation" in data:
        allocation = dump.allocation(data["allocation"])
        found = () if allocation is None else dump.assigned_to(allocation)
    elif "value" in data:
        value = dump.value(data["value"])
        found = () if value is None or value.entry is None else value.entry.record.uses
    return len(list(islice(found, _MIN_LISTED_PLACES))) == _MIN_LISTED_PLACES


def _start(line: int) -> Json:
    return {"line": line, "character": 0}
