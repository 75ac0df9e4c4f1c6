"""Long replies as plain JSON.

Protocol objects cost 20 us each on their way out; a list of 14 000 lenses would hold up a hover
for half a second. The functions here say the same with plain dictionaries.
"""

from collections.abc import Iterable
from typing import Any

from hlo_lsp.features.convert import Converter
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

Json = dict[str, Any]
LONG = 50_000  # lines; of longer texts an answer about the whole leaves out what fills it


def place_range(line: int, start: int, end: int, *, to_line: int | None = None) -> Json:
    """A range as JSON; columns in units of the client."""
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line if to_line is None else to_line, "character": end},
    }


def name_range(convert: Converter, file: DumpFile, line: int, columns: tuple[int, int]) -> Json:
    """The range of a name in a line; columns in code points."""
    text = file.lines[line]
    units = convert.encoding.units
    line += file.first_line
    return place_range(line, units(text, columns[0]), units(text, columns[1]))


def range_of(convert: Converter, place: Place) -> Json:
    """The range of a place."""
    return name_range(convert, place.file, place.line, (place.start, place.end))


def locations(convert: Converter, places: Iterable[Place]) -> list[Json]:
    """The locations of places."""
    return [{"uri": place.file.uri, "range": range_of(convert, place)} for place in places]


def lines_range(convert: Converter, file: DumpFile, first: int, count: int) -> Json:
    """The range of whole lines, without the end of the last."""
    last = min(first + count, len(file.lines)) - 1
    text = file.lines[last]
    end = convert.encoding.units(text, len(text))
    begin = file.first_line
    return place_range(begin + first, 0, end, to_line=begin + last)
