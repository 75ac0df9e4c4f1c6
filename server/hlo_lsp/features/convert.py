"""Between places of the model and positions of the protocol."""

from dataclasses import dataclass

from lsprotocol import types

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.text.encoding import Encoding


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts for one client, in the encoding that was agreed with it."""

    encoding: Encoding

    def column(self, file: DumpFile, position: types.Position) -> tuple[int, int]:
        """Line and code point of a position; one outside the text becomes the nearest inside."""
        lines = file.lines
        asked = position.line - file.first_line
        line = min(asked, len(lines) - 1)
        if line < asked:
            return line, len(lines[line])
        return line, self.encoding.column(lines[line], position.character)

    def position(self, file: DumpFile, line: int, column: int) -> types.Position:
        """The position of a line and code point of a file."""
        units = self.encoding.units(file.lines[line], column)
        return types.Position(file.first_line + line, units)

    def range(self, place: Place) -> types.Range:
        """The range of a place."""
        file, line = place.file, place.line
        start = self.position(file, line, place.start)
        return types.Range(start, self.position(file, line, place.end))

    def location(self, place: Place) -> types.Location:
        """The location of a place."""
        return types.Location(place.file.uri, self.range(place))
