"""The request ``hlo/memoryMap``: the data of the memory map of a compile, or of two compiles."""

from typing import Any

from lsprotocol import types

from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.comparison import NoDumpError, Place, compared_in_process, dumps_at_places
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.reports.map_comparison import NO_MAPS, compared_maps
from hlo_lsp.reports.memory_map import memory_map, memory_map_document

MEMORY_MAP_METHOD = "hlo/memoryMap"


async def answer_memory_map(session: Session, params: Any) -> Json | None:
    """Return the memory map of the compile of a file; None for a file that is not a dump.

    Args:
        session: The session.
        params: ``uri`` of the file, and ``line`` from 0, which selects a section of a stdout dump;
            or the parameters of ``hlo/compare`` for the maps of two compiles.

    Raises:
        RequestFailedError: A compile has no dump to compare.
    """
    if hasattr(params, "before"):
        return await compared_in_process(session, params, _maps_at)
    uri, line = getattr(params, "uri", None), getattr(params, "line", 0)
    if not isinstance(uri, str) or not isinstance(line, int):
        return None
    document = types.TextDocumentIdentifier(uri)
    found = await session.answer_at(
        document, line, None, lambda one: memory_map(one.dump), whole=True, closed=True
    )
    return memory_map_document(found) if found else None


def _maps_at(places: list[Place], frames: FrameChoice) -> Json:
    document = compared_maps([dumps_at_places(places, frames)])
    if not document["modules"]:
        raise NoDumpError(NO_MAPS)
    return document
