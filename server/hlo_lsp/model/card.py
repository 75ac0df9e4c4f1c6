"""Cards of labeled facts for hovers and inspection, and helpers for their text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.source import SourceLine

_QUOTED_NAME = re.compile(r"(?:^|(?<=[\s(]))`(.+?)`(?=[\s,:;.)|]|$)")


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a card; ``text`` has names from dumps in backticks.

    ``source`` is the Python line in the text, for clients that support links.
    """

    label: str
    text: str
    source: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """The facts about one subject, the most relevant first."""

    title: str
    facts: tuple[Fact, ...] = ()
    text: str = ""


def split_quoted_names(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (is_name, part) for the parts of a text in order.

    Names are in backticks after a blank or a bracket. A backtick inside of a word is literal.
    """
    end = 0
    for match in _QUOTED_NAME.finditer(text):
        if match.start() > end:
            yield False, text[end : match.start()]
        yield True, match[1]
        end = match.end()
    if end < len(text):
        yield False, text[end:]


def join_limited(items: list[str], limit: int) -> str:
    """Join the first items by commas, and append the number of the other items."""
    more = len(items) - limit
    shown = ", ".join(items[:limit])
    return f"{shown} and {more:,} more" if more > 0 else shown


def count_noun(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 use``, ``13 uses``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
