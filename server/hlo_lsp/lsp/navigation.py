"""textDocument/documentLink, and the places of Python lines."""

from lsprotocol import types

from hlo_lsp.ide.navigation import definitions as navigation
from hlo_lsp.ide.navigation.references import declared_and_mentioned
from hlo_lsp.ide.navigation.source_links import source_at, source_links
from hlo_lsp.lsp.positions import LONG, Json, locations, name_range, range_of
from hlo_lsp.lsp.scheduling import steadily
from hlo_lsp.lsp.session import Asked
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 500  # links between two breaths


async def document_links(asked: Asked) -> list[Json]:
    """A link on every place that names a Python line, where the file is on this machine.

    Each has its target at once: it is as long as what would bring it later, and Neovim drops links
    without one. In a long module text the tables of locations have links, and no instruction:
    100 000 links are 20 MB. "Go to definition" leads to the Python line from everywhere.
    """
    return await steadily(asked.dump, lambda: _links(asked))


def python_location(asked: Asked, source: SourceLine) -> types.Location | None:
    """The beginning of a Python line, or None if its file is not on this machine."""
    path = asked.sources.resolve(source.file)
    if path is None:
        return None
    start = types.Position(max(source.line - 1, 0), 0)
    return types.Location(path.as_uri(), types.Range(start, start))


def _links(asked: Asked) -> list[Json]:
    is_long = asked.file.kind is FileKind.MODULE and len(asked.file.lines) > LONG
    found = source_links(asked.dump, asked.file, in_instructions=not is_long)
    targets: dict[SourceLine, str | None] = {}
    links: list[Json] = []
    for count, link in enumerate(found):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if link.source not in targets:
            targets[link.source] = asked.sources.uri(link.source)
        target = targets[link.source]
        if target is not None:
            place = name_range(asked.convert, asked.file, link.line, (link.start, link.end))
            links.append({"range": place, "target": target})
    return links


Goal = types.Location | list[types.Location] | None


def definition(asked: Asked, position: types.Position) -> Goal:
    """The entry of a value, the line of an instruction; of a Python line the file, if it is here.

    A stack frame has both: its row, and behind it the Python line.
    """
    found = asked.at(position)
    places = [] if found is None else navigation.definitions(asked.dump, found)
    goals = [asked.convert.location(place) for place in places]
    line, column = asked.convert.column(asked.file, position)
    source = source_at(asked.dump, asked.file, line, column)
    python = None if source is None else python_location(asked, source)
    return _one_or_all(goals if python is None else [*goals, python])


def declaration(asked: Asked, position: types.Position) -> Goal:
    """The allocation line."""
    found = asked.at(position)
    place = None if found is None else navigation.declaration(asked.dump, found)
    return None if place is None else asked.convert.location(place)


def type_definition(asked: Asked, position: types.Position) -> Goal:
    """The computation that an instruction calls; the value that flows through it."""
    found = asked.at(position)
    return _places(asked, [] if found is None else navigation.type_definitions(asked.dump, found))


def implementation(asked: Asked, position: types.Position) -> Goal:
    """The root of what an instruction calls; inside a fusion, the parameter of an operand.

    Of an instruction that calls nothing what became of it in the other texts of the module. Behind
    these, and of a value: the Python line, if the file is here.
    """
    found = asked.at(position)
    if found is None:
        return None
    places = navigation.implementations(asked.dump, found)
    goals = [asked.convert.location(place) for place in places]
    source = navigation.python_line(asked.dump, found)
    python = None if source is None else python_location(asked, source)
    return _one_or_all(goals if python is None else [*goals, python])


def _places(asked: Asked, places: list[Place]) -> Goal:
    return _one_or_all([asked.convert.location(place) for place in places])


def _one_or_all(goals: list[types.Location]) -> Goal:
    """A list only where there are several: every client knows a single location."""
    if len(goals) > 1:
        return goals
    return goals[0] if goals else None


def references(
    asked: Asked, position: types.Position, *, with_declaration: bool
) -> list[Json] | None:
    """All mentions in all files of the compile."""
    found = asked.at(position)
    if found is None:
        return None
    declared, mentioned = declared_and_mentioned(asked.dump, found)
    return locations(asked.convert, [*declared, *mentioned] if with_declaration else mentioned)


def highlight(asked: Asked, position: types.Position) -> list[Json] | None:
    """The mentions in this file: declarations as writes, the rest as reads."""
    found = asked.at(position)
    if found is None:
        return None
    kinds = (types.DocumentHighlightKind.Write.value, types.DocumentHighlightKind.Read.value)
    return [
        {"range": range_of(asked.convert, place), "kind": kind}
        for kind, places in zip(kinds, declared_and_mentioned(asked.dump, found), strict=True)
        for place in places
        if place.file is asked.file
    ]
