"""textDocument/hover: cards as Markdown or plain text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import (
    AllocationTarget,
    ComputationTarget,
    InstructionTarget,
    ValueTarget,
)
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.hover.options import option_card
from hlo_lsp.ide.hover.origin_text import describe_source_line
from hlo_lsp.ide.hover.stats import with_times
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.flags import FLAG_FILES
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceFiles, SourceLine
from hlo_lsp.syntax.scanners import memory_scanner
from hlo_lsp.text.inert import (
    escape_markdown,
    markdown_lines,
    markdown_link,
    markdown_text,
    printable,
    printable_lines,
    split_quoted_names,
)

# Returns a link to a Python line, or None if its file is not on this machine.
UriOf = Callable[[SourceLine], str | None]

_MAX_CALLERS = 3  # one more is listed, too, in place of a line about it
_FOLDER_PREFIX = re.compile(r"^.*[\\/]")
_NON_FILE_NAME = re.compile(r"<.*>")  # <stdin>, <string>, <ipython-input-3-0>


def markdown(card: Card, uri_of: UriOf) -> str:
    """Return a card as Markdown."""
    lines = []
    notes = _Notes()
    for fact in card.facts:
        first, *others = [_linked(line) for line in _fact_lines(fact, uri_of, notes)]
        lines += [f"- **{fact.label}** {first}", *(f"  - {other}" for other in others)]
    # Bold instead of a heading, because Neovim shows the characters of a heading literally.
    title = f"**{markdown_text(card.title)}**"
    sections = [markdown_text(card.headline), title, "\n".join(lines), markdown_lines(card.text)]
    return "\n\n".join(part for part in sections if part)


def plain_text(card: Card, uri_of: UriOf) -> str:
    """Return a card as plain text."""
    width = max((len(fact.label) for fact in card.facts), default=0)
    lines = [*filter(None, [card.headline]), card.title]
    notes = _Notes()
    for fact in card.facts:
        first, *others = [
            printable(line.before + line.link_text + line.after)
            for line in _fact_lines(fact, uri_of, notes)
        ]
        lines += [f"{fact.label:<{width}}  {first}", *(f"{'':<{width}}    {o}" for o in others)]
    text = "\n".join([*lines, card.text] if card.text else lines)
    return "".join(part for _, part in split_quoted_names(printable_lines(text)))


@dataclass(frozen=True, slots=True)
class _HoverLine:
    """A line about a fact; ``link_text`` is the part with the link, if there is one."""

    before: str
    link_text: str = ""
    uri: str | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class _Notes:
    """The files and callers that earlier facts of a card mention.

    Attributes:
        missing: The files that have a note that they are not available.
        callers: The callers that are listed, or counted after those.
    """

    missing: set[str] = field(default_factory=set)
    callers: set[SourceLine] = field(default_factory=set)


def _fact_lines(fact: Fact, uri_of: UriOf, notes: _Notes) -> Iterator[_HoverLine]:
    """Yield the lines about a fact: its own, and those of the callers that no other fact has."""
    if fact.source is None:
        yield _HoverLine(fact.text)
        return
    yield _source_line(fact.source, fact.text, str(fact.source), uri_of, notes.missing)
    before = fact.source
    new = list(takewhile(lambda caller: caller not in notes.callers, fact.callers))
    is_repeated = len(new) < len(fact.callers)
    listed = new if len(new) <= _MAX_CALLERS + 1 else new[:_MAX_CALLERS]
    for caller in listed:
        name = _FOLDER_PREFIX.sub("", caller.file) if caller.file == before.file else caller.file
        text = f"called from {describe_source_line([caller])}"
        yield _source_line(caller, text, f"{name}:{caller.line}", uri_of, notes.missing)
        before = caller
    if more := len(new) - len(listed):
        yield _HoverLine(f"and {more:,} more callers")
    elif is_repeated:
        yield _HoverLine("called as above")
    notes.callers.update(fact.callers)


def _source_line(
    source: SourceLine, text: str, link_text: str, uri_of: UriOf, missing: set[str]
) -> _HoverLine:
    """Return a line about a Python line. The first file that is not available has a note."""
    before, _, after = text.partition(str(source))
    uri = uri_of(source)
    if uri is None and not missing and not _NON_FILE_NAME.fullmatch(source.file):
        missing.add(source.file)
        after += " (not on this machine; see `hlo.sourceMap`)"
    return _HoverLine(before, link_text, uri, after)


def _linked(line: _HoverLine) -> str:
    link_text = escape_markdown(line.link_text)
    link = markdown_link(link_text, line.uri)
    return f"{markdown_text(line.before)}{link}{markdown_text(line.after)}"


# Targets about which several files of a compile have facts.
_COMPILE_TARGETS = (AllocationTarget, ComputationTarget, InstructionTarget, ValueTarget)


def hover(context: RequestContext, position: types.Position) -> types.Hover | None:
    """Return the card about the cursor target."""
    found = context.at(position)
    card = None if found is None else hover_card(context.dump, found)
    if found is None or card is None:
        return None
    card = with_times(context.dump, found, card, context.times)
    if context.unread and isinstance(found.entity, _COMPILE_TARGETS):
        names = ", ".join(f"`{path.name}`" for path in context.unread)
        card = replace(card, facts=(*card.facts, Fact("loading", names)))
    contents = rendered(context.client, card, context.sources.uri)
    return types.Hover(contents, context.client.range(found.place))


def option_hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """Return the hover of an option in an open file that lists those of a compile."""
    file = session.workspace.opened(params.text_document.uri)
    if file is None or not file.uri.endswith(FLAG_FILES):
        return None
    line, column = session.client.point(file, params.position)
    found = option_card(file.lines[line], column)
    if found is None:
        return None
    card, name = found
    contents = rendered(session.client, card, SourceFiles(session.settings.source_map).uri)
    return types.Hover(contents, session.client.range(Place(file, line, name.start, name.end)))


def rendered(client: Client, card: Card, uri_of: UriOf) -> types.MarkupContent:
    """Return a card in the form that a client shows."""
    if client.can_render_markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, markdown(card, uri_of))
    return types.MarkupContent(types.MarkupKind.PlainText, plain_text(card, uri_of))


_WARM_UP_MODULE = """\
HloModule m

ENTRY %e (x: f32[8]) -> f32[8] {
  ROOT %x = f32[8]{0:T(128)} parameter(0), sharding={devices=[1]0}, metadata={op_name="x"}
}
"""


def warm_up() -> None:
    """Load the data that every answer needs and that no dump changes."""
    file = DumpFile.of_text(_WARM_UP_MODULE)
    checkpoint()
    memory_scanner()
    checkpoint()
    found = cursor_target_at(file, 3, 8)
    dump = Compile([file])
    if found is not None:
        hover_card(dump, found)
    checkpoint()
    for _ in semantic_tokens(dump, file):
        checkpoint()
