"""Windows of files on disk that are too large to open."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.disk import UnreadableError, decode, read_first_lines

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


@dataclass(frozen=True, slots=True)
class _WindowBoundary:
    """The beginning of a window."""

    offset: int  # bytes
    line: int


@dataclass(slots=True)
class _WindowBoundaries:
    """The window boundaries of a file that are known so far."""

    stamp: tuple[int, int]  # modification time (ns) and size (bytes)
    known: list[_WindowBoundary] = field(default_factory=lambda: [_WindowBoundary(0, 0)])
    is_whole: bool = False  # the last boundary is the end of the file


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
        if line < 0:
            return None
        try:
            boundaries = self._boundaries(path)
            with path.open("rb", buffering=0) as file:
                while not boundaries.is_whole and boundaries.known[-1].line <= line:
                    self._find_next_boundary(file.fileno(), boundaries)
                    checkpoint()
                place = next(
                    (at for at in _boundary_pairs(boundaries) if at[0].line <= line < at[1].line),
                    None,
                )
                if place is None:
                    return None
                first, end = place
                data = _read_bytes(file.fileno(), first.offset, end.offset - first.offset)
        except OSError as error:
            raise UnreadableError(f"{path}: {error.strerror or error}") from error
        return FileWindow(decode(data, first.offset), first.line, end.line - first.line)

    def _boundaries(self, path: Path) -> _WindowBoundaries:
        status = os.stat(path)
        stamp = status.st_mtime_ns, status.st_size
        boundaries = self._files.pop(path, None)
        if boundaries is None or boundaries.stamp != stamp:
            boundaries = _WindowBoundaries(stamp)
            if detect_file_kind(read_first_lines(path)) is FileKind.OTHER:
                boundaries = _WindowBoundaries(stamp, [_WindowBoundary(0, 0)], is_whole=True)
        self._files[path] = boundaries  # in the order of use
        for oldest in list(self._files)[:-_MAX_CACHED_FILES]:
            del self._files[oldest]
        return boundaries

    def _find_next_boundary(self, file: int, boundaries: _WindowBoundaries) -> None:
        """Find the end of the next window."""
        start, size = boundaries.known[-1], boundaries.stamp[1]
        block = _read_bytes(file, start.offset, _MIN_WINDOW_BYTES + _SEARCH_BYTES)
        while True:
            is_last = start.offset + len(block) >= size
            length = _window_length(block, is_last=is_last)
            if length is not None:
                break
            more = _read_bytes(file, start.offset + len(block), _SEARCH_BYTES)
            is_shorter = not more  # the file was truncated meanwhile
            block += more
            if is_shorter:
                length, is_last = len(block), True
                break
        is_last = is_last and length == len(block)
        text = block[:length]
        count = len(_LINE_BREAK.findall(text)) if b"\r" in text else text.count(b"\n")
        # The last line, perhaps an empty one, has no line end.
        boundaries.known.append(
            _WindowBoundary(start.offset + length, start.line + count + is_last)
        )
        boundaries.is_whole = is_last


def _boundary_pairs(
    boundaries: _WindowBoundaries,
) -> Iterator[tuple[_WindowBoundary, _WindowBoundary]]:
    """Return the boundaries of each window."""
    return zip(boundaries.known, boundaries.known[1:], strict=False)


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
    lines = _LINE_START.finditer(
        block, _MIN_WINDOW_BYTES, _MIN_WINDOW_BYTES + _FALLBACK_SEARCH_BYTES
    )
    least = min(lines, key=lambda line: len(line[1]), default=None) or _LINE_START.search(
        block, _MIN_WINDOW_BYTES
    )
    return None if least is None else least.end()


def _read_bytes(file: int, offset: int, count: int) -> bytes:
    os.lseek(file, offset, os.SEEK_SET)
    data = b""
    while len(data) < count:
        more = os.read(file, count - len(data))
        if not more:
            break
        data += more
    return data
