"""Waiting for a condition in an editor."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Answer = TypeVar("Answer")
SECONDS = 90.0
"""The time limit of a condition on a busy machine."""
_BETWEEN = 0.2


class NotYet(Exception):  # noqa: N818  (nothing is wrong)
    """A condition cannot be evaluated yet."""


async def until(
    ask: Callable[[], Awaitable[Answer]],
    holds: Callable[[Answer], object] = bool,
    seconds: float = SECONDS,
) -> Answer:
    """Poll until an answer satisfies a condition, and return the answer.

    Raises:
        AssertionError: If no answer does in time; the message has the last one.
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


async def eventually(check: Callable[[], Awaitable[None]], seconds: float = SECONDS) -> None:
    """Repeat assertions until all of them pass, for a state that comes in several steps.

    Raises:
        AssertionError: If they do not pass in time; it is that of the last attempt.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            await check()
        except (AssertionError, NotYet, TypeError, ValueError):  # None or too few values to unpack
            if time.monotonic() > end:
                raise
        else:
            return
        await asyncio.sleep(_BETWEEN)
