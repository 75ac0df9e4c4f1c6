"""Semantic tokens as the protocol sends them: five numbers each, relative to the one before."""

from array import array
from collections import OrderedDict
from collections.abc import Iterable

from hlo_lsp.analysis.colours.token import Token
from hlo_lsp.features.wire import Json
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text.encoding import Encoding

_WIDTH = 5  # numbers of a token
_CHUNK = _WIDTH * 1024  # numbers compared at once
_KEPT = 8  # documents; as many as an editor shows side by side


class Encoder:
    """Collects the tokens of a file, from top to bottom.

    ``first_line`` is where the file begins in its text: of a part of a longer text it may move
    meanwhile, of which its own lines know nothing.
    """

    def __init__(self, encoding: Encoding, first_line: int) -> None:
        self.data = array("I")
        self._units = encoding.units
        self._first_line = first_line
        self._last = 0, 0  # line and column of the last token

    def add(self, file: DumpFile, tokens: Iterable[Token]) -> None:
        """Add tokens that stand behind all others."""
        last_line, last_start = self._last
        begin, lines = self._first_line, file.lines
        known, text, plain = -1, "", True
        column = units = 0  # how far a line that is not plain is counted, which is slow
        numbers: list[int] = []
        for row, first, end, kind, modifiers in tokens:
            if row != known:
                known, text = row, lines[row]
                plain = text.isascii()
                column = units = 0
            start, length = first, end - first
            if not plain:
                units += self._units(text[column:first], first - column)
                column, start = first, units
                length = self._units(text[first:end], length)
            line = begin + row
            if line != last_line:
                numbers += line - last_line, start, length, kind, modifiers
            else:
                numbers += 0, start - last_start, length, kind, modifiers
            last_line, last_start = line, start
        self.data.extend(numbers)
        self._last = last_line, last_start

    def append(self, other: "Encoder") -> None:
        """Add what was collected of files below."""
        if other.data:
            at = len(self.data)
            self.data += other.data
            self.data[at] -= self._last[0]
            self._last = other._last


class Results:
    """The last tokens of the documents that were asked for last, each under an id."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str, array[int]]] = OrderedDict()
        self._count = 0

    def remember(self, uri: str, data: "array[int]") -> str:
        """Keep the tokens of a document in place of those before; what comes back is their id."""
        self._count += 1
        self._known[uri] = str(self._count), data
        self._known.move_to_end(uri)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return str(self._count)

    def of(self, uri: str, result_id: str) -> "array[int] | None":
        """The tokens with this id, or None if they are not the last of the document."""
        known = self._known.get(uri)
        return known[1] if known is not None and known[0] == result_id else None

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._known.pop(uri, None)


def difference(old: "array[int]", new: "array[int]") -> list[Json]:
    """What makes new tokens of old ones: nothing, or one edit of those in between."""
    if old == new:
        return []
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    return [
        {
            "start": first,
            "deleteCount": len(old) - first - last,
            "data": new[first : len(new) - last].tolist(),
        }
    ]


def _alike(one: "array[int]", other: "array[int]") -> int:
    """How many numbers of whole tokens two have in common at the beginning."""
    at, end = 0, min(len(one), len(other))
    while at + _CHUNK <= end and one[at : at + _CHUNK] == other[at : at + _CHUNK]:
        at += _CHUNK
    while at + _WIDTH <= end and one[at : at + _WIDTH] == other[at : at + _WIDTH]:
        at += _WIDTH
    return at
