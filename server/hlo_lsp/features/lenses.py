"""textDocument/codeLens and codeLens/resolve."""

from typing import Any

from lsprotocol import types

from hlo_lsp.analysis.cursor import summaries
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import Json, lines_range
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, PeakLabel
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.steps import Steps

_STEP = 200  # records between two breaths


async def code_lenses(asked: Asked) -> list[Json]:
    """A lens on every allocation, value and peak header.

    The text comes when a lens is on screen, or at once for a client that would ask for all.
    """
    return await steadily(asked.dump, lambda: _lenses(asked))


def resolve(asked: Asked, lens: types.CodeLens) -> types.CodeLens:
    """Give a lens its text. What it was about may be gone by now: then it says so."""
    data = lens.data if isinstance(lens.data, dict) else {}
    return types.CodeLens(lens.range, types.Command(_title(asked, data), ""), lens.data)


def _lenses(asked: Asked) -> Steps[list[Json]]:
    lenses: list[Json] = []
    data: dict[str, Any]
    for count, record in enumerate(asked.file.records):
        if count % _STEP == _STEP - 1:
            yield
        if isinstance(record, AllocationLine):
            data = {"allocation": record.number}
        elif isinstance(record, AssignedValue | UsedValue) and record.id is not None:
            data = {"value": record.id}
        elif isinstance(record, PeakLabel):
            data = {"peak": record.moment}
        else:
            continue
        data["uri"] = asked.file.uri
        data["line"] = asked.file.first_line + record.line
        lens: Json = {"range": lines_range(asked.convert, asked.file, record.line, 1), "data": data}
        if asked.client.wants_lens_texts:
            lens["command"] = {"title": _title(asked, data), "command": ""}
        lenses.append(lens)
    return lenses


def _title(asked: Asked, data: dict[str, Any]) -> str:
    dump = asked.dump
    if "allocation" in data:
        allocation = dump.allocation(data["allocation"])
        if allocation is not None:
            return summaries.allocation_summary(dump, allocation)
    if "value" in data:
        value = dump.value(data["value"])
        if value is not None:
            return summaries.value_summary(dump, value)
    if "peak" in data:
        return summaries.peak_summary(dump)
    return "gone"
