"""Windows of files on disk that are too large to open."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import (
    decode,
    file_stamp,
    open_regular_file,
    read_first_lines,
    unreadable,
)

_MIN_WINDOW_BYTES = 256 << 10
_SEARCH_BYTES = 512 << 10  # reach of the search for a line without indentation as the end
_FALLBACK_SEARCH_BYTES = 64 << 10  # reach of the search for the least indented line instead
_MAX_CACHED_FILES = 16  # the window boundaries of a file take some kilobytes

# A brace alone closes a computation or is a row of a constant, so no record begins there.
_RECORD_START = re.compile(rb"\n(?=[^\s{}])")
_LINE_START = re.compile(rb"\n(?=([ \t]*)[^\s{}])")
_LINE_BREAK = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class FileWindow:
    """Some lines of a file with their line ends; ``first_line`` counts from 0."""

    text: str
    first_line: int
    line_count: int


@dataclass(slots=True)
class _WindowBoundaries:
    """The beginnings of the windows of a file that are known so far, in bytes and in lines."""

    stamp: tuple[int, int] | None
    offsets: list[int] = field(default_factory=lambda: [0])
    lines: list[int] = field(default_factory=lambda: [0])
    is_whole: bool = False  # the last boundary is the end of the file

    def find_next(self, file: BinaryIO) -> None:
        """Find the end of the next window."""
        start = self.offsets[-1]
        size = self.stamp[1] if self.stamp else 0
        file.seek(start)
        block = file.read(_MIN_WINDOW_BYTES + _SEARCH_BYTES)
        while (length := _window_length(block, is_last=start + len(block) >= size)) is None:
            more = file.read(_SEARCH_BYTES)
            block += more
            if not more:  # the file was truncated meanwhile
                size = start + len(block)
        self.is_whole = start + length >= size
        text = block[:length]
        count = len(_LINE_BREAK.findall(text)) if b"\r" in text else text.count(b"\n")
        self.offsets.append(start + length)
        # The last line, perhaps an empty one, has no line end.
        self.lines.append(self.lines[-1] + count + self.is_whole)


class FileWindows:
    """Windows of files, which depend only on the content of the file.

    A window is smaller than a megabyte unless its last line is very long. A file is read up to the
    end of the requested window only.
    """

    def __init__(self) -> None:
        self._files: dict[Path, _WindowBoundaries] = {}

    def at(self, path: Path, line: int) -> FileWindow | None:
        """Return the window that contains a line (from 0).

        Raises:
            UnreadableError: The file cannot be read or is not text.
        """
        boundaries = self._boundaries(path)
        try:
            with open_regular_file(path) as file:
                while not boundaries.is_whole and boundaries.lines[-1] <= line:
                    boundaries.find_next(file)
                    checkpoint()
                number = bisect_right(boundaries.lines, line)
                if not 0 < number < len(boundaries.lines):
                    return None
                start, end = boundaries.offsets[number - 1 : number + 1]
                file.seek(start)
                text = decode(file.read(end - start), start)
        except OSError as error:
            raise unreadable(path, error) from error
        first, stop = boundaries.lines[number - 1 : number + 1]
        return FileWindow(text, first, stop - first)

    def _boundaries(self, path: Path) -> _WindowBoundaries:
        stamp = file_stamp(path)
        boundaries = self._files.pop(path, None)
        if boundaries is None or boundaries.stamp != stamp:
            is_dump = detect_file_kind(read_first_lines(path)) is not FileKind.OTHER
            boundaries = _WindowBoundaries(stamp, is_whole=not is_dump)
        self._files[path] = boundaries  # in the order of use
        for oldest in list(self._files)[:-_MAX_CACHED_FILES]:
            del self._files[oldest]
        return boundaries


def _window_length(block: bytes, *, is_last: bool) -> int | None:
    """Return the length of the first window of a block, or None if the block is too short.

    A window ends before a line without indentation, which begins most records and all heads. If
    there is none within reach, the window ends before the least indented line.
    """
    head = _RECORD_START.search(block, _MIN_WINDOW_BYTES)
    if head is not None:
        return head.end()
    if is_last:
        return len(block)
    end = _MIN_WINDOW_BYTES + _FALLBACK_SEARCH_BYTES
    lines = _LINE_START.finditer(block, _MIN_WINDOW_BYTES, end)
    least = min(lines, key=lambda line: len(line[1]), default=None)
    least = least or _LINE_START.search(block, _MIN_WINDOW_BYTES)
    return None if least is None else least.end()
