"""Long work that several requests wait for: it is done once, for all of them."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, ParamSpec, TypeVar

from hlo_lsp.features.asking import asking

P = ParamSpec("P")
T = TypeVar("T")


class SharedWork(Generic[P, T]):
    """Works that go on, one after the other, each under a key.

    ``P`` is what a work tells those who wait for it between two of its slices.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._going: dict[Hashable, _Going[P, T]] = {}

    @contextmanager
    def joined(
        self,
        key: Hashable,
        work: Callable[[Callable[P, None]], Coroutine[Any, Any, T]],
        listen: Callable[P, None],
    ) -> Iterator["asyncio.Task[T]"]:
        """Take part in the work with this key, which begins if none goes on.

        It ends when nobody takes part any more. ``work`` is given what tells all who listen; to
        wait for it shield the task, as others may wait for the same.
        """
        going = self._going.get(key)
        if going is None or going.task.done():
            going = self._going[key] = _Going(work, self._turn)
        request = asking()

        def hear(*args: P.args, **kwargs: P.kwargs) -> None:
            request.rests()
            listen(*args, **kwargs)

        going.listeners.append(hear)
        try:
            yield going.task
        finally:
            going.listeners.remove(hear)
            if not going.listeners:
                going.task.cancel()
                if self._going.get(key) is going:
                    del self._going[key]


class _Going(Generic[P, T]):
    """A work, and who is told of it."""

    def __init__(
        self, work: Callable[[Callable[P, None]], Coroutine[Any, Any, T]], turn: asyncio.Lock
    ) -> None:
        self.listeners: list[Callable[P, None]] = []
        self.task = asyncio.ensure_future(self._in_turn(work, turn))

    async def _in_turn(
        self, work: Callable[[Callable[P, None]], Coroutine[Any, Any, T]], turn: asyncio.Lock
    ) -> T:
        async with turn:
            return await work(self._tell)

    def _tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in self.listeners:
            listener(*args, **kwargs)
