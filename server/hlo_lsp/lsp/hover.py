"""Cards as Markdown or plain text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lsprotocol import types

from hlo_lsp.ide.cursor.target import subject_at
from hlo_lsp.ide.cursor.targets import (
    AllocationSubject,
    ComputationSubject,
    InstructionSubject,
    ValueSubject,
)
from hlo_lsp.ide.hover.hover import card_about
from hlo_lsp.ide.hover.values import StackFact, source_words
from hlo_lsp.ide.tokens.tokens import tokens
from hlo_lsp.lsp.session import Asked
from hlo_lsp.model.card import Card, Fact, parts
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.scanners import memory_scanner
from hlo_lsp.text.checkpoint import checkpoint

# A link to a Python line, or None where its file is not on this machine.
UriOf = Callable[[SourceLine], str | None]

_FRAMES = 8  # lines of a call stack that a hover has room for
# Underscores inside of words are no signs, and Neovim would show the backslash.
_SIGNS = re.compile(r"[\\`*<\[\]&]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_FOLDERS = re.compile(r".*[\\/]")
_NO_FILE = re.compile(r"<.*>")  # <stdin>, <string>, <ipython-input-3-0>


def markdown(card: Card, uri_of: UriOf) -> str:
    """A card for a client that renders Markdown."""
    lines = []
    missing: set[str] = set()
    for fact in card.facts:
        first, *others = [_linked(words) for words in _words_of(fact, uri_of, missing)]
        lines += [f"- **{fact.label}** {first}", *(f"  - {other}" for other in others)]
    # Bold, no heading: Neovim shows the signs of a heading as they are.
    whole = [f"**{_marked(card.title)}**", "\n".join(lines), _marked(card.text)]
    return "\n\n".join(part for part in whole if part)


def plain(card: Card, uri_of: UriOf) -> str:
    """A card for a client that shows text as it is."""
    width = max((len(fact.label) for fact in card.facts), default=0)
    lines = [card.title]
    missing: set[str] = set()
    for fact in card.facts:
        first, *others = [
            words.before + words.shown + words.after for words in _words_of(fact, uri_of, missing)
        ]
        lines += [f"{fact.label:<{width}}  {first}", *(f"{'':<{width}}    {o}" for o in others)]
    shown = "\n".join([*lines, *([card.text] if card.text else [])])
    return "".join(part for _, part in parts(shown))


@dataclass(frozen=True, slots=True)
class _Words:
    """A line about a fact; ``shown`` is the part that a link is on, if there is one."""

    before: str
    shown: str = ""
    uri: str | None = None
    after: str = ""


def _words_of(fact: Fact, uri_of: UriOf, missing: set[str]) -> Iterator[_Words]:
    """The lines about a fact: its own, and who called. ``missing`` files were said to be so."""
    if fact.source is None:
        yield _Words(fact.text)
        return
    yield _about(fact.source, fact.text, str(fact.source), uri_of, missing)
    callers = fact.callers if isinstance(fact, StackFact) else ()
    before = fact.source
    for caller in callers[: _FRAMES - 1]:
        name = _FOLDERS.sub("", caller.file) if caller.file == before.file else caller.file
        text = f"called from {source_words([caller])}"
        yield _about(caller, text, f"{name}:{caller.line}", uri_of, missing)
        before = caller
    more = len(callers) - (_FRAMES - 1)
    if more > 0:
        yield _Words(f"and {more:,} more")


def _about(source: SourceLine, text: str, shown: str, uri_of: UriOf, missing: set[str]) -> _Words:
    """A line about a Python line, which is shown so. A file that is not here is said so once."""
    before, _, after = text.partition(str(source))
    uri = uri_of(source)
    if uri is None and source.file not in missing and not _NO_FILE.fullmatch(source.file):
        missing.add(source.file)
        after += " (not on this machine; see `hlo.sourceMap`)"
    return _Words(before, shown, uri, after)


def _linked(words: _Words) -> str:
    shown = (
        _escaped(words.shown) if words.uri is None else f"[{_escaped(words.shown)}]({words.uri})"
    )
    return f"{_marked(words.before)}{shown}{_marked(words.after)}"


def _marked(text: str) -> str:
    """Text with its names as code, and with signs that mean themselves."""
    return "".join(_code(part) if is_name else _escaped(part) for is_name, part in parts(text))


def _code(name: str) -> str:
    return f"`` {name} ``" if "`" in name else f"`{name}`"


def _escaped(text: str) -> str:
    return _SIGNS.sub(lambda match: "".join(f"\\{sign}" for sign in match[0]), text)


# What several files of a compile speak of.
_SHARED = (AllocationSubject, ComputationSubject, InstructionSubject, ValueSubject)


def hover(asked: Asked, position: types.Position) -> types.Hover | None:
    """What the cursor is on, as a card."""
    found = asked.at(position)
    card = None if found is None else card_about(asked.dump, found)
    if found is None or card is None:
        return None
    if asked.unread and isinstance(found.subject, _SHARED):
        names = ", ".join(f"`{path.name}`" for path in asked.unread)
        card = replace(card, facts=(*card.facts, Fact("not read yet", names)))
    if asked.client.reads_markdown:
        contents = types.MarkupContent(types.MarkupKind.Markdown, markdown(card, asked.sources.uri))
    else:
        contents = types.MarkupContent(types.MarkupKind.PlainText, plain(card, asked.sources.uri))
    return types.Hover(contents, asked.convert.range(found.place))


_MODULE = """\
HloModule m

ENTRY %e (x: f32[8]) -> f32[8] {
  ROOT %x = f32[8]{0:T(128)} parameter(0), sharding={devices=[1]0}, metadata={op_name="x"}
}
"""


def warm() -> None:
    """Read what every answer needs and no dump changes."""
    file = DumpFile.of_text(_MODULE)
    checkpoint()
    memory_scanner()
    checkpoint()
    found = subject_at(file, 3, 8)
    dump = DumpSet([file])
    if found is not None:
        card_about(dump, found)
    checkpoint()
    for _ in tokens(dump, file):
        checkpoint()
