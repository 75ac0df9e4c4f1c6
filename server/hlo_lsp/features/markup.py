"""Cards as Markdown or plain text."""

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from hlo_lsp.analysis.cards.card import Card, Fact, parts
from hlo_lsp.model.source import SourceLine

# Underscores inside of words are no signs, and Neovim would show the backslash.
_SIGNS = re.compile(r"[\\`*<\[\]&]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")


def markdown(card: Card) -> str:
    """A card for a client that renders Markdown."""
    lines = [f"- **{fact.label}** {_linked(fact)}" for fact in card.facts]
    # Bold, no heading: Neovim shows the signs of a heading as they are.
    whole = [f"**{_marked(card.title)}**", "\n".join(lines), _marked(card.text)]
    return "\n\n".join(part for part in whole if part)


def plain(card: Card) -> str:
    """A card for a client that shows text as it is."""
    width = max((len(fact.label) for fact in card.facts), default=0)
    lines = [card.title, *(f"{fact.label:<{width}}  {fact.text}" for fact in card.facts)]
    shown = "\n".join([*lines, *([card.text] if card.text else [])])
    return "".join(part for _, part in parts(shown))


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
        return _marked(fact.text)
    before, shown, after = fact.text.partition(str(fact.source))
    link = f"[{_escaped(shown)}]({uri})" if shown else ""
    return f"{_marked(before)}{link}{_marked(after)}"


def _marked(text: str) -> str:
    """Text with its names as code, and with signs that mean themselves."""
    return "".join(_code(part) if is_name else _escaped(part) for is_name, part in parts(text))


def _code(name: str) -> str:
    return f"`` {name} ``" if "`" in name else f"`{name}`"


def _escaped(text: str) -> str:
    return _SIGNS.sub(lambda match: "".join(f"\\{sign}" for sign in match[0]), text)
