"""Long answers as text, and in parts, so that other messages have their turn meanwhile."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Dumps = Callable[[Any], str]
Rest = Callable[[], Awaitable[None]]
_FEW = 50  # things that are looked into one by one
_PIECE = 50  # things written in one go
_PART = 1000  # things in a partial result; tokens count five numbers each
_SLICE = 0.004  # seconds of writing between two rests


class LongText:
    """Writes JSON; ``dumps`` writes what is short, ``rest`` lets others have their turn."""

    def __init__(self, dumps: Dumps, rest: Rest) -> None:
        self._dumps = dumps
        self._rest = rest
        self._until = time.monotonic() + _SLICE

    async def of(self, value: Any) -> str:
        """The text of a value."""
        if isinstance(value, dict):
            parts = [f"{self._dumps(key)}:{await self.of(each)}" for key, each in value.items()]
            return f"{{{','.join(parts)}}}"
        if not isinstance(value, list):
            return self._dumps(value)
        if len(value) <= _FEW:
            return f"[{','.join([await self.of(each) for each in value])}]"
        pieces = []
        for first in range(0, len(value), _PIECE):
            pieces.append(self._dumps(value[first : first + _PIECE])[1:-1])
            if time.monotonic() > self._until:
                await self._rest()
                self._until = time.monotonic() + _SLICE
        return f"[{','.join(pieces)}]"


async def in_parts(result: Any, send: Callable[[Any], None], rest: Rest) -> Any:
    """Send a result in parts as far as its kind allows it, and return what is left to be answered.

    Lists come in parts, and the numbers of tokens; other results are one.
    """
    if isinstance(result, list):
        async for part in _parts(result, _PART, rest):
            send(part)
        return []
    if isinstance(result, dict) and isinstance(result.get("data"), list):
        async for part in _parts(result["data"], 5 * _PART, rest):
            send({"data": part})
        return {**result, "data": []}
    return result


async def _parts(items: list[Any], count: int, rest: Rest) -> AsyncIterator[list[Any]]:
    for first in range(0, len(items), count):
        yield items[first : first + count]
        await rest()
