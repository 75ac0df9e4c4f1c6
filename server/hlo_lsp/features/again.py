"""When clients should ask again for what they show: something else has changed than its text."""

import asyncio
from collections.abc import Awaitable, Callable

from hlo_lsp.features.session import Session
from hlo_lsp.model.dump_file import DumpFile

_PAUSE = 0.5  # seconds without a change before clients are told


class Again:
    """Tells a client to ask again, once for many changes; one that cannot be told is not.

    ``is_wanted`` says whether it can be told by now, ``refresh`` tells it.
    """

    def __init__(
        self,
        session: Session,
        is_wanted: Callable[[], bool],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._session = session
        self._is_wanted = is_wanted
        self._refresh = refresh
        self._waiting: asyncio.Task[None] | None = None

    def changed(self, file: DumpFile) -> None:
        """A file was opened, edited or closed: what others of its compile say may have changed."""
        if any(other is not file for other in self._session.open_siblings(file)):
            self.soon()

    def soon(self) -> None:
        """Tell the client after a while without further changes."""
        if self._is_wanted():
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = asyncio.ensure_future(self._after_a_pause())

    async def _after_a_pause(self) -> None:
        await asyncio.sleep(_PAUSE)
        # A question that is on its way is not taken back: its answer would find nobody.
        await asyncio.shield(self._refresh())
