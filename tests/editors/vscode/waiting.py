"""Waiting for what an editor will show: no test sleeps and hopes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Answer = TypeVar("Answer")
SECONDS = 90.0
"""How long anything may take on a machine that is busy with other tests."""
_BETWEEN = 0.1


class NotYet(Exception):  # noqa: N818  (nothing is wrong)
    """Raised by a question that cannot be answered now, and may be later."""


async def until(
    ask: Callable[[], Awaitable[Answer]],
    holds: Callable[[Answer], object] = bool,
    seconds: float = SECONDS,
) -> Answer:
    """Asks again and again; returns the first answer that holds.

    Raises AssertionError with the last answer if none does in time.
    """
    end = time.monotonic() + seconds
    last: object = None
    while True:
        try:
            answer = await ask()
        except NotYet as problem:
            last = problem
        else:
            last = answer
            if holds(answer):
                return answer
        if time.monotonic() > end:
            raise AssertionError(
                f"nothing that was waited for in {seconds:.0f} s; last: {last!r:.2000}"
            )
        await asyncio.sleep(_BETWEEN)
