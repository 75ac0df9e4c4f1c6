"""Facts of large compiles that many hovers need, computed in the background."""

from collections.abc import Callable
from functools import partial
from weakref import WeakSet

from hlo_lsp.ide.hover.origin_text import needs_preparation, prepare_hovers
from hlo_lsp.lsp.scheduling import (
    ForegroundRequests,
    SharedTasks,
    run_in_slices,
    start_task,
)
from hlo_lsp.model.compile import Compile


class HoverPreparation:
    """Computes the facts that many hovers need, so that the first one is fast, too."""

    def __init__(self, foreground: ForegroundRequests, checks: SharedTasks) -> None:
        self._foreground = foreground
        self._checks = checks
        self._prepared: WeakSet[Compile] = WeakSet()

    def start(self, dump: Compile) -> None:
        """Start to compute the facts of a large compile, once."""
        if dump not in self._prepared and needs_preparation(dump):
            self._prepared.add(dump)
            start_task(self.run(partial(_prepare_hovers, dump)))

    async def run(self, work: Callable[[], None]) -> None:
        """Run work while no request and no check is active."""
        await self._give_way()
        await run_in_slices(work, self._give_way, before_restart=self._foreground.typing_paused)

    async def _give_way(self) -> None:
        await self._checks.wait()  # diagnostics come first, and they compute some of the facts
        await self._foreground.give_way()


def _prepare_hovers(dump: Compile) -> None:
    dump.refresh()
    prepare_hovers(dump)
