"""Messages as bytes: headers, and bodies of the length that they say."""

import re
from collections.abc import AsyncIterator, Awaitable
from typing import Protocol

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_LARGEST = 1 << 30  # bytes of a body; a header that says more is not believed


class Reader(Protocol):
    """What bytes come from."""

    def readline(self) -> Awaitable[bytes]:
        """A line with its end; what is left when there is no more, then nothing.

        Raises:
            ValueError: the line is too long.
        """

    def readexactly(self, n: int, /) -> Awaitable[bytes]:
        """So many bytes.

        Raises:
            asyncio.IncompleteReadError: there are not so many any more.
        """


async def bodies(reader: Reader) -> AsyncIterator[bytes | None]:
    """The bodies of all messages up to the end of the input; None for headers without a length.

    After a body that was longer than its header said the next header is found at the end of a
    line, behind what was left of the body.

    Raises:
        asyncio.IncompleteReadError: the input ends in the middle of a body.
    """
    length: int | None = None
    is_header = False
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # a line without an end: the reader has dropped what it had of it
            is_header = True
            continue
        if not line:
            return
        if line.strip():
            is_header = True
            found = _LENGTH.search(line)
            if found is not None and int(found[1]) <= _LARGEST:
                length = int(found[1])
        elif is_header:
            yield None if length is None else await reader.readexactly(length)
            length, is_header = None, False
