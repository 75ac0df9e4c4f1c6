"""Facts about the compiles on disk: one walk finds the files, and each is read until it changes.

A service of the server names a kind of facts, and reads it here. All kinds that are needed at the
same time are read from the same files, one module after the other.
"""

import asyncio
import logging
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.lsp.fact_kinds import AnyKind, FactKind, Reading, Unit
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import Progress, RequestFailedError, current_request
from hlo_lsp.lsp.scheduling import ForegroundRequests, Priority, run_in_slices, start_task
from hlo_lsp.model.compile_files import Folders
from hlo_lsp.model.folder_scan import (
    ModuleFiles,
    ScannedFolder,
    SearchFolder,
    SearchScope,
    scan_folders,
)
from hlo_lsp.model.module_reader import MAX_KEPT_BYTES, ModuleReader, ModuleTexts
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import DumpWorkspace

logger = logging.getLogger(__name__)

S = TypeVar("S")
F = TypeVar("F")
_UNITS_PER_STEP = 100  # that are compared at once; about 1 ms
_MAX_KEPT_BYTES = 16_000_000  # of the files of all modules whose texts stay in memory
_MIN_SHOWN_BYTES = 4_000_000  # of files that take a second to read: less has no progress
_MAX_SCAN_SHARE = 0.05  # of the time between two scans that no request waits for


class _Units:
    """The units of a kind in a scan, in the order of the walk."""

    def __init__(self, kind: AnyKind, folders: Iterable[ScannedFolder]) -> None:
        units = [unit for folder in folders for unit in kind.units(folder)]
        self.by_key: dict[Path, Unit[Any]] = {unit.key: unit for unit in units}
        self.by_module: dict[ModuleFiles, list[Unit[Any]]] = {}
        for unit in self.by_key.values():
            self.by_module.setdefault(unit.module, []).append(unit)


def _newest_first(module: ModuleFiles) -> tuple[int, Path]:
    return -module.written, module.path


class CompileIndex:
    """The compiles below the workspace folders, and beside open files.

    Attributes:
        workspace_folders: The function that returns the workspace folders.
        folders: The folders as of the last walk.
    """

    def __init__(
        self,
        workspace: DumpWorkspace,
        foreground: ForegroundRequests,
        listener: Callable[[], SessionListener],
    ) -> None:
        self.workspace_folders: Callable[[], Iterable[Path]] = tuple
        self._is_beside_open = False
        self._requested_folders: Sequence[Path] = ()
        self._workspace = workspace
        self._foreground = foreground
        self._listener = listener
        self._kinds: list[AnyKind] = []
        self._waiting: list[AnyKind] = []  # that are being read, each once for who waits for it
        self.folders: list[ScannedFolder] = []
        self._units: dict[AnyKind, _Units] = {}  # in these folders
        self._searched: list[SearchFolder] = []  # by the last walk
        self._scanning: asyncio.Task[None] | None = None
        self._is_outdated = True
        self._scan_end = 0.0  # time.monotonic()
        self._scan_seconds = 0.0
        self._reading: asyncio.Task[None] | None = None
        self._read_priority = Priority.INDEX
        self._progress = Progress("")
        self._next_step = asyncio.Event()

    def add(self, *kinds: AnyKind) -> None:
        """Add kinds of facts; of one module, those of the first kind are read first."""
        self._kinds += kinds

    def files_changed(self) -> None:
        """Walk the folders again before the next answer."""
        self._is_outdated = True

    def search_beside_open(self) -> None:
        """Search the folders of open files, too, from now on."""
        self._is_beside_open = True

    def search_also(self, folders: Sequence[Path]) -> None:
        """Search further folders, which a request is about, until the next call."""
        self._requested_folders = folders

    def resume(self) -> None:
        """Allow reading again that the user cancelled."""
        self.files_changed()
        for kind in self._kinds:
            kind.is_stopped = False

    def reload(self) -> None:
        """Discard all facts."""
        self.resume()
        for kind in self._kinds:
            kind.retain(())

    async def scan(self, max_age_seconds: float = 0.0) -> list[ScannedFolder]:
        """Return the folders as of the walk that is running, or of the last or a new one.

        Args:
            max_age_seconds: The age of a walk that may be returned. If it is positive, but walks
                take long, it is extended.
        """
        if max_age_seconds:
            max_age_seconds = max(max_age_seconds, self._scan_seconds / _MAX_SCAN_SHARE)
        is_old = time.monotonic() >= self._scan_end + max_age_seconds
        is_old |= _must_search_again(self._searched, self._searched_folders())
        if self._scanning is None and (self._is_outdated or is_old):
            self._scanning = start_task(self._scan())
        if self._scanning is not None:
            await asyncio.shield(self._scanning)
        return self.folders

    async def facts(self, kind: FactKind[S, F]) -> AsyncIterator[tuple[Unit[S], F | None]]:
        """Yield what there are facts of a kind about, each when its fact is up to date.

        The order is that of the walk. The fact is None if it could not be read. If the user cancels
        the reading, it is the last one.
        """
        with self._wait_for(kind):
            await self.scan(kind.max_scan_age_seconds)
            for count, unit in enumerate((await self._find_units(kind)).by_key.values()):
                if count % _UNITS_PER_STEP == 0:
                    await asyncio.sleep(0)
                latest: Unit[S] | None = unit
                while latest is not None and kind.is_outdated(latest):
                    await self._read_next(kind)
                    latest = (await self._find_units(kind)).by_key.get(unit.key)
                if latest is not None:
                    yield latest, kind.fact(unit.key)

    async def units(self, kind: FactKind[S, Any]) -> Iterable[Unit[S]]:
        """Return what there are facts of a kind about in the last scan."""
        return (await self._find_units(kind)).by_key.values()

    async def read(self, kind: AnyKind) -> None:
        """Read all facts of a kind that are missing."""
        async for _ in self.facts(kind):
            pass

    @contextmanager
    def _wait_for(self, kind: AnyKind) -> Iterator[None]:
        self._waiting.append(kind)
        try:
            yield
        finally:
            self._waiting.remove(kind)

    async def _give_way(self) -> None:
        await self._foreground.give_way(
            min((kind.priority for kind in self._waiting), default=Priority.CHECK)
        )

    async def _scan(self) -> None:
        try:
            while True:
                self._is_outdated = False
                begin = time.monotonic()
                await self._give_way()
                self._searched, listings = self._searched_folders(), self._workspace.folders
                walk = partial(_walk, self._searched, listings, set(self._waiting))
                folders, units = await run_in_slices(walk, self._give_way)
                self._scan_end = time.monotonic()
                self._scan_seconds = self._scan_end - begin
                if not self._is_outdated:
                    break
            self.folders, self._units = folders, {}
            for kind, units_of_kind in units.items():
                self._take_units(kind, units_of_kind)
        finally:
            self._scanning = None

    def _searched_folders(self) -> list[SearchFolder]:
        opened = self._workspace.open_paths if self._is_beside_open else ()
        return [
            *map(SearchFolder, self.workspace_folders()),
            *(SearchFolder(path, SearchScope.REQUEST) for path in self._requested_folders),
            *(
                SearchFolder(path, SearchScope.OPEN_FILE)
                for path in sorted({p.parent for p in opened})
            ),
        ]

    async def _find_units(self, kind: AnyKind) -> _Units:
        """Return the units of a kind in the last scan."""
        while kind not in self._units:
            folders = self.folders
            units = await run_in_slices(partial(_Units, kind, folders), self._give_way)
            if folders is self.folders:
                self._take_units(kind, units)
        return self._units[kind]

    def _take_units(self, kind: AnyKind, units: _Units) -> None:
        self._units[kind] = units
        kind.retain(units.by_key)

    async def _read_next(self, kind: AnyKind) -> None:
        """Wait until the next facts are read."""
        if self._reading is None:
            self._reading = start_task(self._read())
        self._read_priority = min(self._read_priority, kind.priority)
        await self._next_step.wait()
        request = current_request()
        request.report(*self._progress.last_report)
        request.begin()

    async def _read(self) -> None:
        """Read all facts that are waited for, the most urgent ones first.

        Texts of small modules stay in memory for others of their facts, up to a limit.
        """
        kept: dict[ModuleFiles, ModuleTexts] = {}
        kept_bytes = 0
        try:
            while sizes := await run_in_slices(self._plan, self._give_way):
                priority, done, total = self._read_priority, 0, max(sum(sizes.values()), 1)
                kinds = [kind for kind in self._kinds if kind.priority is priority]
                title = next(kind.title for kind in kinds if kind in self._waiting)
                with self._shown_progress(title, total) as self._progress:
                    for module, size in sizes.items():
                        self._progress.report(module.path.name, 100 * done // total)
                        texts = kept.get(module) or ModuleTexts(module)
                        await self._read_module(module, kinds, texts)
                        done += size
                        if module not in kept and kept_bytes + module.size <= _MAX_KEPT_BYTES:
                            kept[module] = texts
                            kept_bytes += module.size
                        if self._progress.is_cancelled:
                            for kind in self._waiting:
                                kind.is_stopped = True
                        if self._progress.is_cancelled or self._read_priority < priority:
                            break
        finally:
            self._reading = None
            self._end_step()

    def _shown_progress(self, title: str, size: int) -> AbstractContextManager[Progress]:
        """Return the progress of the request that waits, else one of its own for long work."""
        request = current_request()
        if request.has_listener:
            return nullcontext(request)
        return Progress(title) if size < _MIN_SHOWN_BYTES else self._listener().progress(title)

    def _plan(self) -> dict[ModuleFiles, int]:
        """Choose the most urgent facts that are missing.

        Returns:
            The modules that they are about, the most recent one first, each with its bytes.
        """
        missing: dict[Priority, dict[ModuleFiles, int]] = {}
        for kind in set(self._waiting) & self._units.keys():
            for module, units in self._units[kind].by_module.items():
                checkpoint()
                for unit in filter(kind.is_outdated, units):
                    sizes = missing.setdefault(kind.priority, {})
                    sizes[module] = max(unit.size, sizes.get(module, 0))
        if not missing:
            return {}
        self._read_priority = min(missing)
        return dict(
            sorted(missing[self._read_priority].items(), key=lambda item: _newest_first(item[0]))
        )

    def _outdated(
        self, module: ModuleFiles, kinds: Iterable[AnyKind]
    ) -> list[tuple[AnyKind, Unit[Any]]]:
        """Return what facts to read about a module, in the order of reading."""
        return [
            (kind, unit)
            for kind in kinds
            if kind in self._waiting and kind in self._units
            for unit in self._units[kind].by_module.get(module, ())
            if kind.is_outdated(unit)
        ]

    async def _read_module(
        self, module: ModuleFiles, kinds: list[AnyKind], texts: ModuleTexts
    ) -> None:
        """Read facts about a module, until no kind needs more from its files."""
        while outdated := self._outdated(module, kinds):
            is_open = not self._workspace.open_paths.keys().isdisjoint(module.stamps)
            is_large = _read_bytes(outdated) > MAX_KEPT_BYTES and not is_open
            apart = [(kind, unit) for kind, unit in outdated if is_large and kind.reads_compile]
            await self._read_facts(module, apart, run_in_process)
            here = [pair for pair in outdated if pair not in apart]
            await self._read_facts(module, here, self._run_here, texts)
            self._end_step()
            await asyncio.sleep(0)  # so that what waited is not other work for this task

    async def _read_facts(
        self,
        module: ModuleFiles,
        wanted: list[tuple[AnyKind, Unit[Any]]],
        run: Callable[[Callable[[], list[Any]]], Awaitable[list[Any]]],
        texts: ModuleTexts | None = None,
    ) -> None:
        if not wanted:
            return
        values: list[Any] = [None] * len(wanted)
        try:
            for kind, unit in wanted:
                await kind.prepare(unit)
            stamps = [kind.stamp(unit) for kind, unit in wanted]
            readings = [kind.reading(unit) for kind, unit in wanted]
            frames = self._workspace.frames
            values = await run(partial(_read_all, module, frames, readings, texts))
        except RequestFailedError as error:
            self._listener().problem_found(f"{module.path.name}: {error.message}")
        except Exception:  # it must not be read again and again
            logger.exception("reading %s failed", module.path)
            stamps = [kind.stamp(unit) for kind, unit in wanted]
        for (kind, unit), stamp, value in zip(wanted, stamps, values, strict=True):
            kind.store(unit, stamp, value)

    async def _run_here(self, work: Callable[[], list[Any]]) -> list[Any]:
        await self._give_way()
        return await run_in_slices(work, self._give_way)

    def _end_step(self) -> None:
        self._next_step.set()
        self._next_step = asyncio.Event()


def _must_search_again(searched: Sequence[SearchFolder], wanted: Sequence[SearchFolder]) -> bool:
    """Return whether facts are missing, or of folders that are no longer searched.

    No kind has facts about a folder of a former request, except for this request.
    """
    lost = (one for one in searched if one.scope is not SearchScope.REQUEST)
    return not set(wanted) <= set(searched) or not set(lost) <= set(wanted)


def _walk(
    searched: list[SearchFolder], listings: Folders, kinds: Iterable[AnyKind]
) -> tuple[list[ScannedFolder], dict[AnyKind, _Units]]:
    folders = list(scan_folders(searched, listings))
    return folders, {kind: _Units(kind, folders) for kind in kinds}


def _read_bytes(wanted: Iterable[tuple[AnyKind, Unit[Any]]]) -> int:
    """Return the bytes that are read for facts about one module."""
    return max((unit.size for _, unit in wanted), default=0)


def _read_all(
    module: ModuleFiles,
    frames: FrameChoice,
    readings: list[Reading[Any]],
    texts: ModuleTexts | None,
) -> list[Any]:
    """Return facts, None for those that cannot be read because of an internal error.

    The files with their records are freed before the job ends, which exempts what remains from
    garbage collection.
    """
    reader = ModuleReader(module, frames, texts)
    values = []
    for reading in readings:
        checkpoint()
        try:
            values.append(reading(reader))
        except Exception:  # a bug with one file must not hide the facts about others
            logger.exception("reading %s failed", module.path)
            values.append(None)
    return values
