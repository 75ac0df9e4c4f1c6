"""The request ``hlo/memoryMap``: the data of the memory map of a compile, or of two compiles."""

from functools import partial

from lsprotocol import types

from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.commands import wait_for_profiles
from hlo_lsp.lsp.comparison import Place, compared_in_process, dumps_at_places
from hlo_lsp.lsp.custom_requests import CompareParams, CompilePlace
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.reports.diff import pair_modules
from hlo_lsp.reports.map_comparison import NO_MAPS, compared_maps
from hlo_lsp.reports.memory_map import memory_map_document
from hlo_lsp.reports.step_times import timed_memory_map


async def answer_memory_map(session: Session, params: CompilePlace | CompareParams) -> Json | None:
    """Return the memory map of the compile of a file; None for a file that is not a dump.

    Raises:
        RequestFailedError: A compile has no dump to compare.
    """
    if isinstance(params, CompareParams):
        path = path_of(params.after.uri)
        chip = session.selections.of(path, session.settings.check).thresholds.chip
        return await compared_in_process(session, params, partial(_maps_at, chip))
    document = types.TextDocumentIdentifier(params.uri)

    def reply(context: RequestContext) -> Json:
        return timed_memory_map(context.dump, session.times.sources(context.dump))

    await wait_for_profiles(session, document, params.line)
    found = await session.answer_at(document, params.line, None, reply, whole=True, closed=True)
    return memory_map_document(found) if found else None


def _maps_at(chip: str | None, places: list[Place], frames: FrameChoice) -> Json:
    chip_for = partial(configured_chip, name=chip)
    pairs, _, _ = pair_modules(*dumps_at_places(places, frames))
    document = compared_maps(pairs, chip_for)
    if not document["modules"]:
        raise RequestFailedError(NO_MAPS)
    return document
