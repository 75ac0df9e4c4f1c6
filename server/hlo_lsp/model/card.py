"""A card: a title and facts about one thing, in the order in which a reader wants them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.source import SourceLine

_QUOTED_NAME = re.compile(r"(?:^|(?<=[\s(]))`(.+?)`(?=[\s,:;.)|]|$)")


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a card. Names from dumps stand between backticks in ``text``.

    ``source`` is the Python line that the text speaks of, for a client that can link to it.
    """

    label: str
    text: str
    source: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """What is known about one subject."""

    title: str
    facts: tuple[Fact, ...] = ()
    text: str = ""


def split_quoted_names(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a text in order: whether each is a name from the dump, and what it says.

    Names stand between backticks with a blank or a bracket in front of them. A backtick inside of
    a word is itself.
    """
    end = 0
    for match in _QUOTED_NAME.finditer(text):
        if match.start() > end:
            yield False, text[end : match.start()]
        yield True, match[1]
        end = match.end()
    if end < len(text):
        yield False, text[end:]


def join_limited(items: list[str], most: int) -> str:
    """The first items, separated by commas, and how many more there are."""
    more = len(items) - most
    shown = ", ".join(items[:most])
    return f"{shown} and {more:,} more" if more > 0 else shown


def count_noun(count: int, noun: str) -> str:
    """A number with its noun: ``1 use``, ``13 uses``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
