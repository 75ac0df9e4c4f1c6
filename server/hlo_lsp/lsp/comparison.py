"""The request ``hlo/compare``: the differences between compiles, as Markdown and as texts."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hlo_lsp.display.table import Cell, Link
from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import CompareParams
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.text_pages import text_page_json
from hlo_lsp.memory.buffer_changes import ChangedBuffer
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import FolderSnapshot, compiles_below
from hlo_lsp.model.file_dumps import dumps_of
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.program.compared_text import compared_texts
from hlo_lsp.program.stages import comparable_modules
from hlo_lsp.reports.comparison import (
    ComparedPair,
    compare_all,
    comparison_headline,
    comparison_page,
)
from hlo_lsp.reports.diff_text import NameCell
from hlo_lsp.reports.source_lines import named_buffer
from hlo_lsp.text.inert import markdown_text, printable
from hlo_lsp.text.remote import shown

_MAX_ENTRIES = 20  # of a list

Place = tuple[Path | None, int | None]
"""A file or a folder, and a line that selects a section of the file; None selects all of it."""


async def answer_comparison(session: Session, params: CompareParams) -> Json:
    """Return the differences between the compiles of two files or folders on disk.

    Raises:
        RequestFailedError: A file is not a dump, or the width of the page is invalid.
    """
    found = await compared_in_process(session, params, compare_places)
    if notes := session.compile_results.notes(params.after.uri):
        found["markdown"] = _with_notes(found["markdown"], notes)
    if params.columns is None:
        return found
    return found | {"page": text_page_json(session.client, found["markdown"], params.columns)}


def _with_notes(page: str, notes: Sequence[str]) -> str:
    """Return a page with notes before the names of both sides."""
    title, sides, rest = page.partition("\n- Before: ")
    return "\n\n".join((title.rstrip("\n"), *map(markdown_text, notes), sides.lstrip("\n") + rest))


async def compared_in_process(
    session: Session, params: CompareParams, work: Callable[[list[Place], FrameChoice], Json]
) -> Json:
    """Return what a process of its own finds about the two compiles that a request names.

    Raises:
        RequestFailedError: A file is not a dump.
    """
    places = [(path_of(side.uri), side.line) for side in (params.before, params.after)]
    return await run_in_process(partial(work, places, session.workspace.frames))


def compare_places(places: list[Place], frames: FrameChoice) -> Json:
    """Return the differences between the compiles at two places.

    Raises:
        RequestFailedError: A place has no dump.
    """
    one, other = dumps_at_places(places, frames)
    comparison = compare_all(one, other)
    before, after = (shown(path) for path, _ in places if path is not None)
    page = comparison_page(comparison, _MAX_ENTRIES, (before, after), _linked_names)
    pairs = comparison.shown
    return {
        "title": printable(comparison_headline(comparison)),
        "markdown": "\n".join(page) + "\n",
        "texts": _texts(pairs[0].before, pairs[0].after) if len(pairs) == 1 else None,
    }


def _linked_names(pair: ComparedPair) -> NameCell:
    """Return the function that links the name of a buffer to its places in both dumps."""

    def linked(name: str, changed: ChangedBuffer) -> Cell:
        cells: list[str | Link] = [f"`{name}`"]
        for side, dump, owned in (
            ("before", pair.before, changed.before),
            ("after", pair.after, changed.after),
        ):
            if owned is not None:
                place = named_buffer(dump, owned.buffer).place
                cells.append(Link(side, f"{place.file.uri}#L{place.number}"))
        return tuple(cells)

    return linked


def dumps_at_places(places: list[Place], frames: FrameChoice) -> list[list[Compile]]:
    """Return the compiles at each place.

    Raises:
        RequestFailedError: A place has no dump.
    """
    return [_dumps_at(path, line, frames) for path, line in places]


def _dumps_at(path: Path | None, line: int | None, frames: FrameChoice) -> list[Compile]:
    """Return all compiles of a file or below a folder, or that of a section of a file."""
    if path is None:
        raise RequestFailedError("only files on disk can be compared")
    folders, errors = FolderSnapshot(), list[str]()
    found: list[Compile] = []
    for compile_ in compiles_below(path, folders):
        workspace = DumpWorkspace(ROLES_WITHOUT_SIZES, frames, folders)
        found += dumps_of(workspace, compile_.path, errors, is_named=compile_.path == path)
    if not found:
        raise RequestFailedError(next(iter(errors), f"{shown(path)}: no dumps"))
    if line is None or path.is_dir():
        return found
    before = [dump for dump in found if dump.files[0].first_line <= line]
    return [before[-1] if before else found[0]]


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
