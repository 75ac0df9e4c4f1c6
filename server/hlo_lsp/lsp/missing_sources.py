"""The request ``hlo/missingSources``: Python files of a program that are not on this machine."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import FileParams
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.source import SourceFiles, is_library_file, python_files
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.inert import printable_json

_MAX_FILES = 20


async def answer_missing_sources(session: Session, params: FileParams) -> Json:
    """Return the Python files that the module text beside a file names, and their functions.

    Files of libraries are left out, as are those that are found with ``hlo.sourceMap``.
    """
    path = path_of(params.uri)
    if path is None:
        return _answer([])
    await session.wait_for_settings()
    find = partial(_missing_sources, session, path)
    return await run_in_slices(find, give_way=session.foreground.give_way)


def _answer(
    files: list[str], functions: Mapping[str, Iterable[str]] = MappingProxyType({})
) -> Json:
    names = [sorted(functions.get(file, ())) for file in files]
    return {"files": files, "functions": printable_json(names)}


def _missing_sources(session: Session, path: Path) -> Json:
    module = session.workspace.compile_files(path).module
    if module is None:
        return _answer([])
    try:
        lines = read_document(module).lines
    except UnreadableError:
        return _answer([])
    sources = SourceFiles(session.settings.source_map)
    names = (name for name in python_files(lines) if not is_library_file(name))
    missing = sorted(name for name in names if sources.resolve(name) is None)[:_MAX_FILES]
    if not missing:
        return _answer([])
    head = session.workspace.head(module)
    head.refresh()
    return _answer(missing, head.module.tables.functions_of_files())
