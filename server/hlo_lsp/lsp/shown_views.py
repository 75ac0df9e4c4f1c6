"""Views of the client, such as its code lenses: refreshed only if a shown answer has changed."""

import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from pygls.exceptions import JsonRpcException

from hlo_lsp.lsp.scheduling import Refresh, start_task
from hlo_lsp.lsp.session import Session

logger = logging.getLogger(__name__)

T = TypeVar("T")
_VIEW_DEBOUNCE_SECONDS = 0.5  # without a change, before shown answers are compared
_MAX_ANSWERS = 200  # of a view; a client resolves the lenses that are visible


@dataclass(slots=True)
class _Shown:
    """An answer that the client shows, and the function that asks for it again.

    ``version`` is that of the text at the time of the request, None after a refresh was sent: the
    client asks for another answer then, as it does after an edit.
    """

    version: int | None
    value: Hashable
    again: Callable[[], Awaitable[Any]]
    digest: Callable[[Any], Hashable]


def _digest(answer: object) -> Hashable:
    return hash(repr(answer))


class ShownView:
    """The answers of one kind that the client shows.

    After a change of what answers depend on, those that are shown are computed again. The client
    refreshes the view only if one differs: otherwise, work that a refresh causes could cause the
    next one. ``capability`` is the field of ``Client`` that a refresh needs, ``send`` sends it.
    """

    def __init__(
        self,
        session: Session,
        capability: str,
        send: Callable[[None], Awaitable[None]],
        seconds: float = _VIEW_DEBOUNCE_SECONDS,
    ) -> None:
        self._session = session
        self._capability = capability
        self._send = send
        self._shown: dict[tuple[str, Hashable], _Shown] = {}
        self._change_count = 0
        self._comparison = Refresh(self._compare, seconds)

    async def answer(
        self,
        uri: str,
        part: Hashable,
        ask: Callable[[], Awaitable[T]],
        *,
        again: Callable[[], Awaitable[T]] | None = None,
        digest: Callable[[T], Hashable] = _digest,
    ) -> T:
        """Return an answer, and note that the client shows it.

        Args:
            uri: The document.
            part: What distinguishes the answer from others about the document.
            ask: The function that computes the answer.
            again: The function that computes it for a comparison, by default the same.
            digest: A value that differs if the client shows something else; None if the answer
                says that nothing has changed.
        """
        version, count = self._session.version(uri), self._change_count
        found = await ask()
        if version is None or not self._can_refresh:
            return found
        again = again or ask
        before = self._shown.pop((uri, part), None)
        value = digest(found)
        if value is None:
            value = digest(await again()) if before is None else before.value
        self._shown[uri, part] = _Shown(version, value, again, digest)
        if len(self._shown) > _MAX_ANSWERS:
            del self._shown[next(iter(self._shown))]
        if count != self._change_count:  # a comparison may have missed the answer
            self.schedule()
        return found

    def forget(self, uri: str) -> None:
        """Forget the answers about a document that a new one replaces."""
        self._shown = {key: shown for key, shown in self._shown.items() if key[0] != uri}

    def schedule(self) -> None:
        """Compare the shown answers after a pause without further changes."""
        if self._can_refresh:
            self._change_count += 1
            self._comparison.schedule()

    def refresh(self) -> None:
        """Send a refresh without a comparison, for a change outside of the server."""
        if self._can_refresh:
            for shown in self._shown.values():
                shown.version = None
            start_task(self._request())

    @property
    def _can_refresh(self) -> bool:
        return bool(getattr(self._session.client, self._capability))

    async def _compare(self) -> None:
        if await self._has_changed():
            self.refresh()

    async def _has_changed(self) -> bool:
        for key, shown in list(self._shown.items()):
            if not self._is_shown(key, shown):
                continue
            found = await shown.again()
            if self._is_shown(key, shown) and shown.digest(found) != shown.value:
                return True
        return False

    def _is_shown(self, key: tuple[str, Hashable], shown: _Shown) -> bool:
        if shown.version is None or self._shown.get(key) is not shown:
            return False
        return shown.version == self._session.version(key[0])

    async def _request(self) -> None:
        try:
            await self._send(None)
        except JsonRpcException as refusal:
            logger.info("the client rejected a refresh: %s", refusal.message)
