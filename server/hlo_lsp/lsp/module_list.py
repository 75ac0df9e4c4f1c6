"""The request ``hlo/modules``: the compiles in the workspace with their files and buffers."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.client import Client, Json, path_of, workspace_folders
from hlo_lsp.lsp.custom_requests import MODULES_CHANGED_METHOD, ModulesParams
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import BackgroundProgress
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles, FolderSnapshot, compiles_below
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.protos.names import text_name
from hlo_lsp.reports.history import stage_label
from hlo_lsp.reports.modules import (
    CompiledModule,
    by_host,
    compiled_module,
    largest_buffers,
    modules_json,
    short_size,
    size_text,
    sorted_by_name,
)
from hlo_lsp.reports.source_lines import named_buffer
from hlo_lsp.reports.summary import largest_first
from hlo_lsp.syntax.file_kinds import detect_file_kind
from hlo_lsp.text.disk import UnreadableError, file_stamp, read_first_lines
from hlo_lsp.text.inert import printable_json

_NOTIFICATION_DELAY_SECONDS = 1.0  # after the last change, as XLA writes many files in a row
_MAX_BUFFERS = 10  # of one compile
_SUFFIXES = frozenset({".txt", ".hlo"})
_UNLISTED_ROLES = frozenset({FileRole.OTHER, FileRole.MODULE_FOLDER, FileRole.THUNK_METADATA})
_MEMORY_ROLES = [role for role in FileRole if role.is_memory]

_MAX_BYTES_IN_SERVER = 4_000_000  # larger compiles are read in a process of their own

_Stamp = tuple[tuple[Path, tuple[int, int] | None], ...]


@dataclass(frozen=True, slots=True)
class _ListedCompile:
    """A compile as it was read, with what the answer adds to ``hlo-lsp modules --format json``."""

    module: CompiledModule
    place: Json


class ModuleList:
    """Lists the compiles below folders, and reads each again only after it has changed on disk."""

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._server = server
        self._session = session
        self._notify = notify
        self._lock = asyncio.Lock()
        self._known: dict[Path, tuple[_Stamp, list[_ListedCompile]]] = {}
        self._notification: asyncio.TimerHandle | None = None
        self._is_requested = False

    async def answer(self, params: ModulesParams | None) -> Json:
        """Return the compiles of each module, those with the largest peak first."""
        self._is_requested = True
        if params is None or params.folders is None:
            folders = workspace_folders(self._server)
        else:
            folders = [path for uri in params.folders if (path := path_of(uri)) is not None]
        async with self._lock:
            found = await self._compiles(folders)
        places = {id(one.module): one.place for one in found}
        groups = sorted_by_name(one.module for one in found)
        modules = modules_json(groups)
        small = {id(group) for group in largest_first(groups, lambda group: group[0].size)[1]}
        for group, content in zip(groups, modules, strict=True):
            content["isSmall"] = id(group) in small and group[0].size > 0  # 0 is an unknown size
            row_of = {
                id(module): row for row, alike in enumerate(by_host(group)) for module in alike
            }
            for module, compile_ in zip(group, content["compiles"], strict=True):
                row = row_of[id(module)]
                sizes = {"size": short_size(module), "text": size_text(module)}
                compile_.update({**sizes, "row": row, **places[id(module)]})
        return {"modules": printable_json(modules)}

    def files_changed(self) -> None:
        """Notify a client that has requested the list, once for many changes."""
        if self._is_requested:
            if self._notification is not None:
                self._notification.cancel()
            self._notification = asyncio.get_running_loop().call_later(
                _NOTIFICATION_DELAY_SECONDS, self._notify, MODULES_CHANGED_METHOD, {}
            )

    async def _compiles(self, folders: Iterable[Path]) -> list[_ListedCompile]:
        give_way = self._session.foreground.give_way
        stamps = await run_in_slices(partial(self._stamps, folders), give_way=give_way)
        unread = [
            path
            for path, stamp in stamps.items()
            if path not in self._known or self._known[path][0] != stamp
        ]
        if unread:
            with BackgroundProgress(self._server, "Reading dumps") as progress:
                for number, path in enumerate(unread):
                    progress.report(path.name, 100 * number // len(unread))
                    files = [one for one, _ in stamps[path]]
                    frames, client = self._session.workspace.frames, self._session.client
                    read = partial(read_compiles, path, files, frames, client)
                    if _read_bytes(stamps[path]) > _MAX_BYTES_IN_SERVER:
                        listed = await run_in_process(read)
                    else:
                        listed = await run_in_slices(read, give_way=give_way)
                    self._known[path] = stamps[path], listed
                    if progress.is_cancelled:
                        break
        return [one for path in stamps for one in self._known.get(path, ((), []))[1]]

    def _stamps(self, folders: Iterable[Path]) -> dict[Path, _Stamp]:
        """Return a file of each compile with the versions of all files that its facts are from."""
        found: dict[Path, _Stamp] = {}
        listings = self._session.workspace.folders
        for folder in folders:
            for compile_ in compiles_below(folder, listings):
                path = compile_.path
                is_text = path.suffix in _SUFFIXES
                if path in found or not (is_text or text_name(path.name)):
                    continue
                found[path] = tuple((one, file_stamp(one)) for one in _files_in_order(compile_))
        return found


def read_compiles(
    path: Path, files: Sequence[Path], frames: FrameChoice, client: Client
) -> list[_ListedCompile]:
    """Return the compiles in a file and its companions.

    Args:
        path: The file.
        files: All files of its compile, in the order of the list.
        frames: The frames that can be the Python line of a buffer.
        client: The client whose positions are used.
    """
    # Of one compile, so that its files do not stay in memory.
    own = FolderSnapshot.of_compile(path.parent, [one.name for one in files])
    workspace = DumpWorkspace(ROLES_WITHOUT_SIZES, frames, own)
    try:
        if path.suffix in _SUFFIXES and not detect_file_kind(read_first_lines(path)).is_dump:
            return []
        return [
            _ListedCompile(compiled_module(dump), _place(dump, files, client))
            for dump in workspace.compiles(workspace.file(path))
        ]
    except UnreadableError:
        return []


def _place(dump: Compile, files: Iterable[Path], client: Client) -> Json:
    file = dump.files[0]
    path = None if isinstance(file, SectionFile) else file.path
    if path is None:
        files = ()
    buffers = [named_buffer(dump, one) for one in largest_buffers(dump, _MAX_BUFFERS)]
    locations = client.locations(one.place for one in buffers)
    return {
        "uri": file.uri,
        "line": file.first_line,
        "title": file.title if path is None else _title(path.name),
        "files": [
            _file_json(one) for one in files if suffix_of(one.name).role not in _UNLISTED_ROLES
        ],
        "buffers": [
            {"name": one.name, "text": one.text, "location": location}
            for one, location in zip(buffers, locations, strict=True)
        ],
    }


def _files_in_order(compile_: CompileFiles) -> list[Path]:
    """Return the memory files, then the module texts in pipeline order, then the others."""
    memory = [one for one in compile_.files if suffix_of(one.name).role.is_memory]
    memory.sort(key=lambda one: _MEMORY_ROLES.index(suffix_of(one.name).role))
    return list(dict.fromkeys((*memory, *compile_.texts, *compile_.files)))


def _read_bytes(stamp: _Stamp) -> int:
    """Return the bytes of the files that are read."""
    return sum(
        version[1]
        for path, version in stamp
        if version is not None and suffix_of(path.name).role not in ROLES_WITHOUT_SIZES
    )


def _title(filename: str) -> str:
    """Return the part of a name that differs between compiles of one function: its number."""
    name = DumpName.of(filename)
    if name is None:
        return filename
    return filename.partition(f".{name.module_name}.")[0] if name.module_name else name.module


def _file_json(path: Path) -> Json:
    role = suffix_of(path.name).role
    return {
        "label": stage_label(path),
        "isPass": role is FileRole.PASS,
        "uri": path.absolute().as_uri(),
    }
