"""A card: a title and facts about one thing, in the order in which a reader wants them."""

from dataclasses import dataclass

from hlo_lsp.model.source import SourceLine


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


def listed(items: list[str], most: int) -> str:
    """The first items, separated by commas, and how many more there are."""
    more = len(items) - most
    shown = ", ".join(items[:most])
    return f"{shown} and {more:,} more" if more > 0 else shown


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 use``, ``13 uses``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
