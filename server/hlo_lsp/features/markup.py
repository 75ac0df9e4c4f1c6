"""Cards as Markdown or plain text."""

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from hlo_lsp.analysis.cards.card import Card, Fact
from hlo_lsp.model.source import SourceLine

# Underscores inside of words are no signs, and Neovim would show the backslash.
_SIGNS = re.compile(r"[<*]")


def markdown(card: Card) -> str:
    """A card for a client that renders Markdown."""
    lines = [f"- **{fact.label}** {_linked(fact)}" for fact in card.facts]
    # Bold, no heading: Neovim shows the signs of a heading as they are.
    parts = [f"**{card.title}**", "\n".join(lines), card.text]
    return "\n\n".join(part for part in parts if part)


def plain(card: Card) -> str:
    """A card for a client that shows text as it is."""
    width = max((len(fact.label) for fact in card.facts), default=0)
    lines = [card.title, *(f"{fact.label:<{width}}  {fact.text}" for fact in card.facts)]
    return "\n".join([*lines, *([card.text] if card.text else [])]).replace("`", "")


def source_uri(source: SourceLine) -> str | None:
    """A link to a Python line, or None for a file name that is not absolute."""
    windows = source.file[1:3] in {":\\", ":/"}
    if not windows and not PurePosixPath(source.file).is_absolute():
        return None
    path = ("/" + source.file.replace("\\", "/")) if windows else source.file
    return f"file://{quote(path)}#L{source.line}"


def _linked(fact: Fact) -> str:
    uri = None if fact.source is None else source_uri(fact.source)
    if uri is None or fact.source is None:
        return _escaped(fact.text)
    shown = str(fact.source)
    return _escaped(fact.text).replace(_escaped(shown), f"[{_escaped(shown)}]({uri})", 1)


def _escaped(text: str) -> str:
    """Text whose signs mean themselves; what stands between backticks does so anyway."""
    parts = text.split("`")
    return "`".join(
        part if place % 2 else _SIGNS.sub(r"\\\g<0>", part) for place, part in enumerate(parts)
    )
