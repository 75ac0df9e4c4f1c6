"""textDocument/definition, declaration, typeDefinition and implementation."""

from lsprotocol import types

from hlo_lsp.analysis.cursor import navigation
from hlo_lsp.analysis.cursor.links import source_at
from hlo_lsp.features.links import python_location
from hlo_lsp.features.session import Asked
from hlo_lsp.model.place import Place

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
