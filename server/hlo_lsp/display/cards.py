"""Cards of labeled facts: what hovers, inspection, and explanations show of one subject."""

from dataclasses import dataclass

from hlo_lsp.model.source import SourceLine


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a card; ``text`` has names from dumps in backticks.

    ``source`` is the Python line in the text, for clients that support links; ``callers`` are the
    lines that call it, from the inside out, which are not in the text.
    """

    label: str
    text: str
    source: SourceLine | None = None
    callers: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """The facts about one subject, the most relevant first; ``headline`` sums them up."""

    title: str
    facts: tuple[Fact, ...] = ()
    text: str = ""
    headline: str = ""
