"""The texts that a client has open, and edits of them as it may send them."""

import random
from dataclasses import dataclass, field
from typing import Any

from e2e.text import Text

Json = dict[str, Any]
_SNIPPETS = (
    "", "\n", " ", "x", "0", "9", "{", "}", "(", ")", ",", "\r\n", "\t", "é│𝔸", "%", "ROOT ", "/*",
    "allocation 7: size 512, thread-local:\n", " value: <9 z @0> (size=8,offset=0): f32[2]{0}\n",
    "  %extra = f32[4]{0} add(%a, %b)\n", "}\n\n", "*** Begin x.txt ***\n", "*** End x.txt ***\n",
)  # fmt: skip
_FAR = 2**31 - 1


@dataclass
class OpenText:
    """A text that is open under a URI; ``original`` is what it was, and is again and again."""

    uri: str
    original: str
    text: Text = field(init=False)
    version: int = 0
    is_open: bool = False

    def __post_init__(self) -> None:
        self.text = Text(self.original, "utf-16")

    def opened(self, rng: random.Random) -> Json:
        """Return the notification that opens the text."""
        self.is_open = True
        self.version = rng.randint(0, 5)
        self.text = Text(self.original, "utf-16")
        item = {
            "uri": self.uri,
            "languageId": "hlo",
            "version": self.version,
            "text": self.original,
        }
        return {"textDocument": item}

    def closed(self) -> Json:
        """Return the notification that closes the text."""
        self.is_open = False
        return {"textDocument": {"uri": self.uri}}

    def edited(self, rng: random.Random) -> Json:
        """Apply some edits, and return their notification."""
        changes = [self._change(rng) for _ in range(rng.choice((1, 1, 1, 2, 5)))]
        if len(self.text.whole) > 2 * len(self.original) + 5000:
            changes.append(self._replaced(self.original))
        self.version += rng.choice((1, 1, 1, 7, -3))
        document = {"uri": self.uri, "version": self.version}
        return {"textDocument": document, "contentChanges": changes}

    def position(self, rng: random.Random) -> Json:
        """Return a place in the text."""
        line = rng.randrange(len(self.text.lines))
        column = rng.randint(0, min(len(self.text.lines[line]), 300))
        return self._position(line, column)

    def range(self, rng: random.Random, lines: int) -> Json:
        """Return a range of at most this number of lines."""
        first = rng.randrange(len(self.text.lines))
        last = min(first + rng.randint(0, lines), len(self.text.lines) - 1)
        return {"start": self._position(first, 0), "end": self._position(last, 0)}

    def _change(self, rng: random.Random) -> Json:
        kind = rng.random()
        if kind < 0.03:
            return self._replaced(rng.choice((self.original, "", "no dump at all\n" * 3)))
        if kind < 0.06:  # behind the end of a line: the specification says what that is
            line = rng.randrange(len(self.text.lines))
            line_end = line, len(self.text.lines[line])
            span = self._span(line_end, line_end)
            span["end"]["character"] = span["start"]["character"] = _FAR
            return self._between(line_end, line_end, rng.choice(_SNIPPETS), span)
        if kind < 0.08:  # after the end of the text
            last = len(self.text.lines) - 1
            last_end = last, len(self.text.lines[last])
            place = {"line": _FAR, "character": rng.choice((0, _FAR))}
            span = {"start": place, "end": place}
            return self._between(last_end, last_end, rng.choice(_SNIPPETS), span)
        first = rng.randrange(len(self.text.lines))
        last = min(first + rng.choice((0, 0, 0, 1, 3)), len(self.text.lines) - 1)
        columns = [rng.randint(0, len(self.text.lines[line])) for line in (first, last)]
        start, end = (first, columns[0]), max((first, columns[0]), (last, columns[1]))
        return self._between(start, end, rng.choice(_SNIPPETS), self._span(start, end))

    def _between(self, start: tuple[int, int], end: tuple[int, int], new: str, span: Json) -> Json:
        self.text = self.text.with_edit(start, end, new)
        return {"range": span, "text": new}

    def _replaced(self, text: str) -> Json:
        self.text = Text(text, "utf-16")
        return {"text": text}

    def _span(self, start: tuple[int, int], end: tuple[int, int]) -> Json:
        return {"start": self._position(*start), "end": self._position(*end)}

    def _position(self, line: int, column: int) -> Json:
        place = self.text.position(line, column)
        return {"line": place.line, "character": place.character}
