"""textDocument/codeLens and codeLens/resolve."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from lsprotocol import types

from hlo_lsp.ide.hover import summaries
from hlo_lsp.ide.navigation.references import assigned_value_places, use_places
from hlo_lsp.lsp.client import SHOW_PLACES_COMMAND, Json
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.memory.computation_buffers import COMPUTATION_CALLING_OPCODES, buffers_by_computation
from hlo_lsp.memory.memory_spaces import memory_space_occupancies
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Place, Value
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, PeakLabel, TotalLine
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_MIN_LISTED_PLACES = 2  # fewer places need no list
_MAX_LISTED_PLACES = 2000  # 10 ms and 400 kB; the tooltip shows how many there are


async def code_lenses(context: RequestContext) -> list[Json]:
    """Return a lens for each allocation, value, peak, total, and entered computation.

    The text is added by ``codeLens/resolve``, or here for a client that would resolve all lenses.
    """
    return await run_on_compile(context.dump, lambda: _lenses(context))


async def resolve(context: RequestContext, lens: types.CodeLens) -> types.CodeLens:
    """Add the text to a lens; a lens whose record no longer exists says so.

    A click shows the values in an allocation or the uses of a value, if there are several.
    """
    data = lens.data if isinstance(lens.data, dict) else {}
    if "computation" in data:
        await run_on_compile(context.dump, lambda: buffers_by_computation(context.dump))
    if "peak" in data:
        await run_on_compile(context.dump, lambda: memory_space_occupancies(context.dump))
    command = types.Command(_title(context, data), "")
    places = _places(context, data) if context.client.can_show_places else []
    if len(places) >= _MIN_LISTED_PLACES:
        command.command = SHOW_PLACES_COMMAND
        start = _start(lens.range.start.line)
        command.arguments = [
            context.file.uri,
            start,
            context.client.locations(places[:_MAX_LISTED_PLACES]),
        ]
        if len(places) > _MAX_LISTED_PLACES:
            command.tooltip = f"first {_MAX_LISTED_PLACES:,} of {len(places):,} places"
    return types.CodeLens(lens.range, command, lens.data)


def _lenses(context: RequestContext) -> list[Json]:
    lenses: list[Json] = []
    entered = _entered_computations(context)
    is_eager = context.client.has_eager_lenses
    if entered and is_eager:
        buffers_by_computation(context.dump)
    for record in context.file.records:
        checkpoint()
        if type(record) is InstructionLine:  # most records of a module text, so tested first
            continue
        data = _data(record, entered)
        if data is None:
            continue
        if is_eager and "peak" in data:
            memory_space_occupancies(context.dump)
        data |= {"uri": context.file.uri, "line": context.file.first_line + record.line}
        lens: Json = {
            "range": context.client.lines_range(context.file, record.line, 1),
            "data": data,
        }
        if is_eager:
            lens["command"] = _command_without_places(context, data)
        lenses.append(lens)
    return lenses


def _data(record: Record, entered: set[str]) -> dict[str, Any] | None:
    match record:
        case AllocationLine():
            return {"allocation": record.number}
        case AssignedValue() | UsedValue() if record.id is not None:
            return {"value": record.id}
        case PeakLabel():
            return {"peak": record.moment}
        case TotalLine():
            return {"total": record.total}
        case ComputationLine() if record.is_entry or record.name in entered:
            return {"computation": record.name}
    return None


def _command_without_places(context: RequestContext, data: dict[str, Any]) -> Json:
    """Return a command that holds the data of its lens instead of places.

    The places of all lenses of a file would be too many. On a click, the client resolves the data.
    """
    command: Json = {"title": _title(context, data), "command": ""}
    if context.client.can_show_places and _has_several_places(context, data):
        command["command"] = SHOW_PLACES_COMMAND
        command["arguments"] = [context.file.uri, _start(data["line"]), data]
    return command


def _entered_computations(context: RequestContext) -> set[str]:
    """Return the names of the entry and of all called computations that are not fusions."""
    if context.file.kind is not FileKind.MODULE:
        return set()
    entry = context.file.module.entry
    found = set() if entry is None else {entry.name}
    for record in context.file.records:
        checkpoint()
        if type(record) is InstructionLine and record.opcode in COMPUTATION_CALLING_OPCODES:
            found.update(record.called)
    return found


def _title(context: RequestContext, data: dict[str, Any]) -> str:
    dump = context.dump
    if "total" in data:
        return summaries.total_summary(dump)
    if "peak" in data:
        return summaries.peak_summary(dump)
    if "computation" in data:
        computation = context.file.module.named(data["computation"])
        if computation is not None:
            return summaries.computation_summary(dump, LocatedRecord(context.file, computation))
    allocation, value = _entities(dump, data)
    if allocation is not None:
        return summaries.allocation_summary(dump, allocation)
    return "no longer available" if value is None else summaries.value_summary(dump, value)


def _entities(
    dump: DumpSet, data: dict[str, Any]
) -> tuple[LocatedRecord[AllocationLine] | None, Value | None]:
    return (
        dump.allocation(data["allocation"]) if "allocation" in data else None,
        dump.value(data["value"]) if "value" in data else None,
    )


def _places(context: RequestContext, data: dict[str, Any]) -> list[Place]:
    allocation, value = _entities(context.dump, data)
    if allocation is not None:
        return assigned_value_places(context.dump, allocation)
    return [] if value is None else use_places(value)


def _has_several_places(context: RequestContext, data: dict[str, Any]) -> bool:
    """Check that ``_places`` finds at least ``_MIN_LISTED_PLACES``, without finding all."""
    allocation, value = _entities(context.dump, data)
    found: Iterable[object] = ()
    if allocation is not None:
        found = context.dump.assigned_to(allocation)
    elif value is not None and value.entry is not None:
        found = value.entry.record.uses
    return len(list(islice(found, _MIN_LISTED_PLACES))) == _MIN_LISTED_PLACES


def _start(line: int) -> Json:
    return {"line": line, "character": 0}
