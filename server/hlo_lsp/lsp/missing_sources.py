"""The request ``hlo/missingSources``: Python files of a program that are not on this machine."""

from functools import partial
from pathlib import Path

from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import FileParams
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.source import SourceFiles, is_library_file, python_files
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.inert import printable_json

_MAX_FILES = 20
_NOTHING_MISSING: Json = {"files": [], "functions": []}


async def answer_missing_sources(session: Session, params: FileParams) -> Json:
    """Return the Python files that the module text beside a file names, and their functions.

    Files of libraries are left out, as are those that are found with ``hlo.sourceMap``.
    """
    path = path_of(params.uri)
    if path is None:
        return _NOTHING_MISSING
    await session.wait_for_settings()
    find = partial(_missing_sources, session, path)
    return await run_in_slices(find, give_way=session.foreground.give_way)


def _missing_sources(session: Session, path: Path) -> Json:
    module = session.workspace.compile_files(path).module
    if module is None:
        return _NOTHING_MISSING
    try:
        lines = read_document(module).lines
    except UnreadableError:
        return _NOTHING_MISSING
    sources = SourceFiles(session.settings.source_map)
    names = (name for name in python_files(lines) if not is_library_file(name))
    missing = sorted(name for name in names if sources.resolve(name) is None)[:_MAX_FILES]
    if not missing:
        return _NOTHING_MISSING
    head = session.workspace.head(module)
    head.refresh()
    functions = head.module.tables.functions_of_files()
    called = [sorted(functions.get(file, ())) for file in missing]
    return {"files": missing, "functions": printable_json(called)}
