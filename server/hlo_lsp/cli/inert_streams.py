"""Standard output and standard error, whose lines no CI system runs as commands.

The guard is on the streams, because a message of ``argparse``, a traceback, and a line that is
wrapped in a narrow terminal reach them without any function of this package.
"""

import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

from hlo_lsp.text.inert import without_commands

_START = re.compile(r"[\W_]*")
_MAX_KEPT = 100  # characters of a line that is not complete


class _InertStream:
    """A text stream that escapes the workflow commands in what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._line = ""  # the start of the current line, as far as a command can continue it

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self.stream.write(without_commands(self._line + text, len(self._line)))
        line = (self._line + text).rpartition("\n")[2]
        if len(line) > _MAX_KEPT and _START.fullmatch(line) is None:
            line = f"-{line[-_MAX_KEPT:]}"  # no longer the start of a line
        self._line = line
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def guard_standard_streams() -> None:
    """Make standard output and standard error inert for the rest of the process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _InertStream):
            setattr(sys, name, _InertStream(stream))


def unguarded_output() -> TextIO:
    """Return standard output for the commands that this program itself gives to a CI system."""
    stream = sys.stdout
    return stream.stream if isinstance(stream, _InertStream) else cast("TextIO", stream)
