"""The request ``hlo/compare``: the differences between two compiles, as Markdown and as texts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from hlo_lsp.display.table import Cell, Link
from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import CompareParams
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.memory.buffer_changes import ChangedBuffer
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import FolderSnapshot, compiles_below
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.program.compared_text import compared_texts
from hlo_lsp.program.stages import comparable_modules
from hlo_lsp.reports.diff import compare
from hlo_lsp.reports.diff_text import diff_markdown, headline
from hlo_lsp.reports.source_lines import named_buffer
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import printable
from hlo_lsp.text.remote import shown

_MAX_ENTRIES = 20  # of a list

Place = tuple[Path | None, int | None]
"""A file or a folder, and a line of it or None."""


class NoDumpError(Exception):
    """A place without a dump; the message is for the user."""


async def answer_comparison(session: Session, params: CompareParams) -> Json:
    """Return the differences between two compiles on disk.

    Raises:
        RequestFailedError: A file is not a dump.
    """
    return await compared_in_process(session, params, compare_places)


async def compared_in_process(
    session: Session, params: CompareParams, work: Callable[[list[Place], FrameChoice], Json]
) -> Json:
    """Return what a process of its own finds about the two compiles that a request names.

    Raises:
        RequestFailedError: A file is not a dump.
    """
    places = [(path_of(side.uri), side.line) for side in (params.before, params.after)]
    try:
        return await run_in_process(partial(work, places, session.workspace.frames))
    except NoDumpError as error:
        raise RequestFailedError(str(error)) from None


def compare_places(places: list[Place], frames: FrameChoice) -> Json:
    """Return the differences between the compiles at two places.

    Raises:
        NoDumpError: A place has no dump.
    """
    before, after = dumps_at_places(places, frames)
    diff = compare(before, after)

    def linked(name: str, changed: ChangedBuffer) -> Cell:
        cells: list[str | Link] = [f"`{name}`"]
        for side, dump, owned in (
            ("before", before, changed.before),
            ("after", after, changed.after),
        ):
            if owned is not None:
                place = named_buffer(dump, owned.buffer).place
                cells.append(Link(side, f"{place.file.uri}#L{place.number}"))
        return tuple(cells)

    return {
        "title": printable(headline(diff)),
        "markdown": "\n".join(diff_markdown(diff, _MAX_ENTRIES, linked)) + "\n",
        "texts": _texts(before, after),
    }


def dumps_at_places(places: list[Place], frames: FrameChoice) -> tuple[Compile, Compile]:
    """Return the compiles at two places.

    Raises:
        NoDumpError: A place has no dump.
    """
    before, after = (_dump_at(path, line, frames) for path, line in places)
    return before, after


def _dump_at(path: Path | None, line: int | None, frames: FrameChoice) -> Compile:
    """Return the compile of a file, the first one below a folder, or that of a section."""
    if path is None:
        raise NoDumpError("only files on disk can be compared")
    folders = FolderSnapshot()
    compile_ = next(compiles_below(path, folders), None)
    if compile_ is None:
        raise NoDumpError(f"{shown(path)}: no dumps")
    file_path, workspace = compile_.path, DumpWorkspace(ROLES_WITHOUT_SIZES, frames, folders)
    try:
        found = list(workspace.compiles(workspace.file(file_path)))
    except UnreadableError as error:
        raise NoDumpError(str(error)) from None
    if not found:
        raise NoDumpError(f"{shown(file_path)}: not an HLO module or XLA memory dump")
    before = [dump for dump in found if dump.files[0].first_line <= (line or 0)]
    return before[-1] if before else found[0]


def _texts(before: Compile, after: Compile) -> list[Json] | None:
    """Return both module texts for comparison, None if one is missing."""
    files = comparable_modules(before, after)
    if files is None:
        return None
    texts = compared_texts(files[0].module, files[1].module)
    return [
        {
            "uri": file.uri,
            "text": "\n".join(text.lines) + "\n",
            "lines": [file.first_line + place for place in text.places],
        }
        for file, text in zip(files, texts, strict=True)
    ]
