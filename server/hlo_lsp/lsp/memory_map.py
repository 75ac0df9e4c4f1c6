"""The request ``hlo/memoryMap``: the data of the memory map of a compile, or of two compiles."""

from lsprotocol import types

from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.comparison import NoDumpError, Place, compared_in_process, dumps_at_places
from hlo_lsp.lsp.custom_requests import CompareParams, CompilePlace
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.reports.memory_map import NO_MAPS, compared_maps, memory_map, memory_map_document


async def answer_memory_map(session: Session, params: CompilePlace | CompareParams) -> Json | None:
    """Return the memory map of the compile of a file; None for a file that is not a dump.

    Raises:
        RequestFailedError: A compile has no dump to compare.
    """
    if isinstance(params, CompareParams):
        return await compared_in_process(session, params, _maps_at)
    document = types.TextDocumentIdentifier(params.uri)
    found = await session.answer_at(
        document, params.line, None, lambda one: memory_map(one.dump), whole=True, closed=True
    )
    return memory_map_document(found) if found else None


def _maps_at(places: list[Place], frames: FrameChoice) -> Json:
    document = compared_maps([dumps_at_places(places, frames)])
    if not document["modules"]:
        raise NoDumpError(NO_MAPS)
    return document
