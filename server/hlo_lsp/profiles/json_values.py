"""Reading of JSON in pieces, because the objects of a large file need many times its size."""

import codecs
import re
from collections.abc import Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any

_MAX_VALUE_CHARACTERS = 8 << 20  # of an element, or of a value of the outermost object
_AFTER_VALUE = frozenset(",:]} \t\n\r")
_BLANK = re.compile(r"[ \t\n\r]*")


def elements(pieces: Iterable[bytes], key: str) -> Iterator[Any]:
    """Yield the elements of the list that the outermost object has under a key.

    Args:
        pieces: The parts of the text, each of any size.
        key: The key.

    Raises:
        ValueError: The text is not JSON, has no such list, or has a value that is too long.
        RecursionError: A value is nested too deeply.
    """
    text = _Text(pieces)
    is_found = False
    text.expect("{")
    separator = "," if text.next() != "}" else text.expect("}")
    while separator == ",":
        name = text.value()
        text.expect(":")
        if name == key and text.next() == "[":
            is_found = True
            yield from _elements(text)
        else:
            text.value()
        separator = text.expect(",}")
    if text.next():
        raise ValueError("extra data after the end")
    if not is_found:
        raise ValueError(f"no list {key}")


def _elements(text: "_Text") -> Iterator[Any]:
    text.expect("[")
    separator = "," if text.next() != "]" else text.expect("]")
    while separator == ",":
        yield text.value()
        separator = text.expect(",]")


class _Text:
    """A text of which only the part around the current position is in memory."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogatepass")
        self._part = ""
        self._position = 0
        self._raw_decode = JSONDecoder().raw_decode

    def next(self) -> str:
        """Return the next character that is not blank, and stay before it; "" at the end."""
        while True:
            found = _BLANK.match(self._part, self._position)
            self._position = found.end() if found else self._position
            if self._position < len(self._part):
                return self._part[self._position]
            if not self._read():
                return ""

    def expect(self, characters: str) -> str:
        """Return the next character and go past it if it is one of some.

        Raises:
            ValueError: It is not.
        """
        found = self.next()
        if not found or found not in characters:
            wanted = " or ".join(characters)
            raise ValueError(f"expected {wanted}" if found else "the text ends too early")
        self._position += 1
        return found

    def value(self) -> Any:
        """Return the next value, and go past it.

        Raises:
            ValueError: There is none, or it is too long.
        """
        self.next()
        while True:
            error: JSONDecodeError | None = None
            try:
                found, end = self._raw_decode(self._part, self._position)
            except JSONDecodeError as problem:
                error = problem
            # A number such as `1.` at the end of a part goes on in the next one.
            if error is None and self._part[end : end + 1] in _AFTER_VALUE:
                self._position = end
                return found
            if len(self._part) - self._position > _MAX_VALUE_CHARACTERS:
                raise ValueError(f"a value is longer than {_MAX_VALUE_CHARACTERS:,} characters")
            if not self._read():
                if error is not None:
                    raise ValueError(error.msg)
                self._position = end
                return found

    def _read(self) -> bool:
        """Read the next part, and forget what is before the position; return False at the end."""
        piece = next(self._pieces, None)
        text = self._decoder.decode(piece or b"", final=piece is None)
        self._part = self._part[self._position :] + text
        self._position = 0
        return piece is not None or bool(text)
