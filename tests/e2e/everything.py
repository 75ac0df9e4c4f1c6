"""All that the server says of a file, to be held against what it says of another."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

from pygls.protocol import default_converter

from e2e.asking import card, folds, lenses, symbols
from e2e.editor import OpenFile

_WORD = re.compile(r"[\w.\-]+(?:\{[\d,]*\})?")
_TOGETHER = 100  # requests under way at a time


@dataclass(frozen=True)
class Everything:
    """What is shown of a text: without URIs, so that two files of one text are equal."""

    hovers: dict[tuple[int, int], Any] = field(repr=False)
    symbols: list[Any] = field(repr=False)
    folds: list[tuple[str, str]]
    lenses: list[tuple[str, str]]
    diagnostics: list[tuple[Any, ...]]


async def everything(file: OpenFile) -> Everything:
    """Hovers at the first words of each line, symbols, folds, lenses and diagnostics."""
    places = [
        (number, word.start())
        for number, line in enumerate(file.text.lines)
        for word in list(_WORD.finditer(line[:200]))[:6]
    ]
    hovers: dict[tuple[int, int], Any] = {}
    for first in range(0, len(places), _TOGETHER):
        some = places[first : first + _TOGETHER]
        cards = await asyncio.gather(*(card(file, file.text.position(*place)) for place in some))
        hovers.update(zip(some, cards, strict=True))
    plain = default_converter().unstructure
    return Everything(
        hovers,
        plain(await symbols(file)),
        await folds(file),
        await lenses(file),
        [
            (d.code, d.message, d.range, [r.message for r in d.related_information or ()])
            for d in await file.diagnostics()
        ],
    )


def difference(one: Everything, other: Everything) -> list[str]:
    """Return the parts that differ, each with the first difference."""
    found = [
        f"{name}: {getattr(one, name)} != {getattr(other, name)}"
        for name in ("symbols", "folds", "lenses", "diagnostics")
        if getattr(one, name) != getattr(other, name)
    ]
    places = sorted(set(one.hovers) | set(other.hovers))
    changed = [place for place in places if one.hovers.get(place) != other.hovers.get(place)]
    return found + [
        f"hover at {place}: {one.hovers.get(place)} != {other.hovers.get(place)}"
        for place in changed[:3]
    ]
