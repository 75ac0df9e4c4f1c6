"""The indexes of large compiles that answers need, computed in the background."""

import asyncio
from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary, WeakSet

from hlo_lsp.ide.hover.origin_text import needs_preparation, prepare_hovers
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.scheduling import ForegroundRequests, run_in_slices, start_task
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind


class BackgroundIndexes:
    """Indexes the names in module texts, and computes the facts that many hovers need."""

    def __init__(
        self, foreground: ForegroundRequests, listener: Callable[[], SessionListener]
    ) -> None:
        self._foreground = foreground
        self._listener = listener
        self._prepared: WeakSet[Compile] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._mention_tasks: WeakKeyDictionary[DumpFile, asyncio.Task[None]] = WeakKeyDictionary()

    def start(self, file: DumpFile, dump: Compile, *, is_growing: bool) -> None:
        """Start what is missing for a file with its compile, except the tasks that are running.

        While the compile ``is_growing``, its facts wait for the rest of it.
        """
        is_indexed = file.kind is not FileKind.MODULE or file.module.is_indexed
        if not is_indexed and self.mention_task(file) is None:
            self._mention_tasks[file] = self.run(partial(_index_mentions, file))
        is_new = dump not in self._prepared and needs_preparation(dump)
        if is_new and not is_growing:
            self._prepared.add(dump)
            start_task(self._prepare(dump, self.mention_task(file)))

    def mention_task(self, file: DumpFile) -> "asyncio.Task[None] | None":
        """Return the task that indexes the mentions of a module text while it is running."""
        task = self._mention_tasks.get(file)
        return None if task is None or task.done() else task

    def run(self, work: Callable[[], None]) -> "asyncio.Task[None]":
        """Run work while no request is active."""

        async def run() -> None:
            await self._foreground.give_way()
            await run_in_slices(work, give_way=self._foreground.give_way)

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _prepare(self, dump: Compile, mention_task: "asyncio.Task[None] | None") -> None:
        if mention_task is not None:
            await asyncio.wait([mention_task])
        work, foreground = partial(_prepare_hovers, dump), self._foreground
        await run_in_slices(work, foreground.give_way, before_restart=foreground.typing_paused)
        self._listener().hovers_prepared()


def _index_mentions(file: DumpFile) -> None:
    file.refresh()
    file.module.build_mention_index()


def _prepare_hovers(dump: Compile) -> None:
    dump.refresh()
    prepare_hovers(dump)
