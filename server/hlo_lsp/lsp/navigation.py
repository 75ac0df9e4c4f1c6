"""Definitions, declarations, references, highlights, and links to Python lines."""

from lsprotocol import types

from hlo_lsp.ide.navigation import definitions as navigation
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.ide.navigation.source_links import source_line_at, source_links
from hlo_lsp.lsp.positions import (
    MAX_FULL_ANSWER_LINES,
    Json,
    locations,
    name_range,
    place_range_json,
)
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.checkpoint import checkpoint

_LINKS_PER_CHECKPOINT = 500


async def document_links(context: RequestContext) -> list[Json]:
    """Return a link for each mention of a Python line whose file is on this machine.

    Each link has its target: the target is as long as the data that would resolve it, and Neovim
    drops links without one. In a long module text only the tables of locations have links, because
    100,000 links are 20 MB. "Go to definition" leads to the Python line from everywhere.
    """
    return await run_on_compile(context.dump, lambda: _links(context))


def python_location(context: RequestContext, source: SourceLine) -> types.Location | None:
    """Return the start of a Python line, or None if its file is not on this machine."""
    path = context.sources.resolve(source.file)
    if path is None:
        return None
    start = types.Position(max(source.line - 1, 0), 0)
    return types.Location(path.as_uri(), types.Range(start, start))


def _links(context: RequestContext) -> list[Json]:
    is_long = (
        context.file.kind is FileKind.MODULE and len(context.file.lines) > MAX_FULL_ANSWER_LINES
    )
    found = source_links(context.dump, context.file, in_instructions=not is_long)
    targets: dict[SourceLine, str | None] = {}
    links: list[Json] = []
    for count, link in enumerate(found):
        if count % _LINKS_PER_CHECKPOINT == _LINKS_PER_CHECKPOINT - 1:
            checkpoint()
        if link.source not in targets:
            targets[link.source] = context.sources.uri(link.source)
        target = targets[link.source]
        if target is not None:
            place = name_range(context.converter, context.file, link.line, (link.start, link.end))
            links.append({"range": place, "target": target})
    return links


Locations = types.Location | list[types.Location] | None


def definition(context: RequestContext, position: types.Position) -> Locations:
    """Return the entry of a value, the line of an instruction, or the file of a Python line.

    A stack frame has both: its row, then the Python line.
    """
    found = context.at(position)
    places = [] if found is None else navigation.definitions(context.dump, found)
    targets = [context.converter.location(place) for place in places]
    line, column = context.converter.column(context.file, position)
    source = source_line_at(context.dump, context.file, line, column)
    python = None if source is None else python_location(context, source)
    return _one_or_all(targets if python is None else [*targets, python])


def declaration(context: RequestContext, position: types.Position) -> Locations:
    """Return the allocation line."""
    found = context.at(position)
    place = None if found is None else navigation.declaration(context.dump, found)
    return None if place is None else context.converter.location(place)


def type_definition(context: RequestContext, position: types.Position) -> Locations:
    """Return the computation that an instruction calls, or the value that flows through it."""
    found = context.at(position)
    return _places(
        context, [] if found is None else navigation.type_definitions(context.dump, found)
    )


def implementation(context: RequestContext, position: types.Position) -> Locations:
    """Return the root of a called computation; in a fusion, the parameter of an operand.

    For an instruction without calls, return its counterparts in the other module texts. The last
    location, also for a value, is the Python line, if its file is on this machine.
    """
    found = context.at(position)
    if found is None:
        return None
    places = navigation.implementations(context.dump, found)
    targets = [context.converter.location(place) for place in places]
    source = navigation.innermost_python_line(context.dump, found)
    python = None if source is None else python_location(context, source)
    return _one_or_all(targets if python is None else [*targets, python])


def _places(context: RequestContext, places: list[Place]) -> Locations:
    return _one_or_all([context.converter.location(place) for place in places])


def _one_or_all(targets: list[types.Location]) -> Locations:
    """Return a list only for several locations: every client supports a single location."""
    if len(targets) > 1:
        return targets
    return targets[0] if targets else None


def references(
    context: RequestContext, position: types.Position, *, with_declaration: bool
) -> list[Json] | None:
    """Return all mentions in all files of the compile."""
    found = context.at(position)
    if found is None:
        return None
    declared, mentioned = declarations_and_references(context.dump, found)
    return locations(context.converter, [*declared, *mentioned] if with_declaration else mentioned)


def highlight(context: RequestContext, position: types.Position) -> list[Json] | None:
    """Return the mentions in this file: declarations as writes, others as reads."""
    found = context.at(position)
    if found is None:
        return None
    kinds = (types.DocumentHighlightKind.Write.value, types.DocumentHighlightKind.Read.value)
    return [
        {"range": place_range_json(context.converter, place), "kind": kind}
        for kind, places in zip(
            kinds, declarations_and_references(context.dump, found), strict=True
        )
        for place in places
        if place.file is context.file
    ]
