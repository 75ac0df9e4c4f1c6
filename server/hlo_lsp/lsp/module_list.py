"""The request ``hlo/modules``: the compiles in the workspace with their files and buffers."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hlo_lsp.hlo.notation import tuple_path
from hlo_lsp.lsp.client import Client, Json, path_of
from hlo_lsp.lsp.custom_requests import MODULES_CHANGED_METHOD, MODULES_METHOD, ModulesParams
from hlo_lsp.lsp.fact_kinds import FactKind, Reading, Unit
from hlo_lsp.lsp.scheduling import Priority, Refresh
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.memory.live_set import LiveBuffer
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.folder_scan import ScannedFolder, SearchScope, Stamp
from hlo_lsp.model.module_reader import ModuleReader
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.program.argument_names import buffer_name
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
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import printable_json

_NOTIFICATION_DELAY_SECONDS = 1.0  # after the last change, as XLA writes many files in a row
_MAX_BUFFERS = 10  # of one compile
_SUFFIXES = frozenset({".txt", ".hlo"})
_UNLISTED_ROLES = frozenset({FileRole.OTHER, FileRole.MODULE_FOLDER, FileRole.THUNK_METADATA})
_MEMORY_ROLES = [role for role in FileRole if role.is_memory]


@dataclass(frozen=True, slots=True)
class _ListedCompile:
    """A compile as it was read, with what the answer adds to ``hlo-lsp modules --format json``."""

    module: CompiledModule
    place: Json


class _ListedCompiles(FactKind[CompileFiles, list[_ListedCompile]]):
    """The facts about the compiles on disk that the list shows."""

    title = "Reading dumps"
    priority = Priority.CHECK

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def units(self, folder: ScannedFolder) -> Iterator[Unit[CompileFiles]]:
        """Yield the compiles, but not beside open files."""
        for compile_ in folder.compiles() if folder.top.scope is not SearchScope.OPEN_FILE else ():
            path = compile_.path
            if path.suffix in _SUFFIXES or text_name(path.name):
                module = folder.module(compile_)
                stamps = tuple(
                    (file, module.stamps.get(file)) for file in _files_in_order(compile_)
                )
                yield Unit(path, stamps, module, _read_bytes(stamps), compile_)

    def reading(self, unit: Unit[CompileFiles]) -> Reading[list[_ListedCompile]]:
        """Return the function that reads the compiles in a file and its companions."""
        files, client = _files_in_order(unit.subject), self._session.client
        return partial(read_compiles, path=unit.key, files=files, client=client)


class ModuleList(Service):
    """Lists the compiles below folders, and reads each again only after it has changed on disk."""

    def __init__(self, session: Session, notify: Callable[[str, Json], None]) -> None:
        self._index = session.index
        self._notify = notify
        self._lock = asyncio.Lock()
        self._on_disk = _ListedCompiles(session)
        self._index.add(self._on_disk)
        self._notification = Refresh(self._notify_client, _NOTIFICATION_DELAY_SECONDS)
        self._is_requested = False

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests."""
        return {MODULES_METHOD: self.answer}

    async def answer(self, params: ModulesParams | None) -> Json:
        """Return the compiles of each module, those with the largest peak first."""
        self._is_requested = True
        named = None if params is None else params.folders
        folders = None if named is None else [path for uri in named if (path := path_of(uri))]
        compiles = await self._compiles(folders)
        places = {id(compile_.module): compile_.place for compile_ in compiles}
        groups = sorted_by_name(compile_.module for compile_ in compiles)
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
            self._notification.schedule()

    async def _notify_client(self) -> None:
        self._notify(MODULES_CHANGED_METHOD, {})

    async def _compiles(self, folders: list[Path] | None) -> list[_ListedCompile]:
        """Return the compiles in some folders, by default in those of the workspace."""
        async with self._lock:
            self._on_disk.is_stopped = False
            self._index.search_also(folders or ())
            facts = [(unit.key, fact) async for unit, fact in self._index.facts(self._on_disk)]
            self._index.search_also(())
        tops = list(self._index.workspace_folders()) if folders is None else folders
        return [
            compile_
            for path, compiles in facts
            if compiles and any(path.is_relative_to(top) for top in tops)
            for compile_ in compiles
        ]


def read_compiles(
    reader: ModuleReader, path: Path, files: Sequence[Path], client: Client
) -> list[_ListedCompile]:
    """Return the compiles in a file and its companions.

    Args:
        reader: The reader of the files.
        path: The file.
        files: All files of its compile, in the order of the list.
        client: The client whose positions are used.
    """
    workspace = reader.without_values
    try:
        if path.suffix in _SUFFIXES and not reader.is_dump(path):
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
    live = largest_buffers(dump, _MAX_BUFFERS)
    buffers = [named_buffer(dump, buffer) for buffer in live]
    labels = [
        _argument(dump, buffer) or named.name.removesuffix("{}")
        for buffer, named in zip(live, buffers, strict=True)
    ]
    locations = client.locations(buffer.place for buffer in buffers)
    return {
        "uri": file.uri,
        "line": file.first_line,
        "title": file.title if path is None else _title(path.name),
        "files": [
            _file_json(path) for path in files if suffix_of(path.name).role not in _UNLISTED_ROLES
        ],
        "buffers": [
            {"name": buffer.name, "label": label, "text": buffer.text, "location": location}
            for buffer, label, location in zip(buffers, labels, locations, strict=True)
        ],
    }


def _argument(dump: Compile, buffer: LiveBuffer) -> str | None:
    """Return the argument whose buffer it is, such as ``params['w']``, None if there is none."""
    record = buffer.allocation.record
    if record.parameter is None:
        return None
    return buffer_name(dump, record.parameter, tuple_path(record.parameter_index))


def _files_in_order(compile_: CompileFiles) -> list[Path]:
    """Return the memory files, then the module texts in pipeline order, then the others."""
    memory = [path for path in compile_.files if suffix_of(path.name).role.is_memory]
    memory.sort(key=lambda path: _MEMORY_ROLES.index(suffix_of(path.name).role))
    return list(dict.fromkeys((*memory, *compile_.texts, *compile_.files)))


def _read_bytes(stamps: Iterable[tuple[Path, Stamp | None]]) -> int:
    """Return the bytes of the files that are read."""
    return sum(
        stamp[1]
        for path, stamp in stamps
        if stamp is not None and suffix_of(path.name).role not in ROLES_WITHOUT_SIZES
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
