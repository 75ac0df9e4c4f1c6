"""A program on an emulated terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pyte
from pyte.screens import Char

_PATIENCE = 60  # seconds; only a broken program ever takes this long
_END = 10  # seconds for a program to end before it is killed
_QUIET = 0.5  # seconds without a change after which a picture counts as finished
_Found = TypeVar("_Found")


class Terminal:
    """The screen of a program on a terminal of a fixed size. Rows count from 0."""

    def __init__(self, descriptor: int, columns: int, rows: int) -> None:
        self._descriptor = descriptor
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._has_ended = False

    @property
    def rows(self) -> list[str]:
        """Return the rows of the screen without trailing blanks."""
        return [row.rstrip() for row in self._screen.display]

    def cell(self, row: int, column: int) -> Char:
        """Return a character with its colors: names, six hexadecimal digits, or `default`."""
        return self._screen.buffer[row][column]

    def cells(self, row: int) -> list[Char]:
        """Return all characters of a row."""
        return [self.cell(row, column) for column in range(self._screen.columns)]

    def place(self, text: str) -> tuple[int, int] | None:
        """Return the row and column of the first occurrence of a text, or None."""
        for row, shown in enumerate(self._screen.display):
            if text in shown:
                return row, shown.index(text)
        return None

    def row_of(self, text: str) -> str:
        """Wait for a text, and return its row."""
        row, _ = self.wait(text, lambda: self.place(text))
        return self.rows[row]

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._descriptor, keys.encode())

    def wait(self, what: str, condition: Callable[[], _Found | None]) -> _Found:
        """Draw until a condition has a value, and return the value.

        Raises:
            AssertionError: If the program ends or the time is up before.
        """
        until = time.monotonic() + _PATIENCE
        while True:
            found = condition()
            if found is not None and found is not False:
                return found
            screen = "\n".join(self.rows)
            assert not self._has_ended, f"the program ended without {what}:\n{screen}"
            assert time.monotonic() < until, f"timed out: {what}:\n{screen}"
            self._draw(0.1)

    def settle(self) -> None:
        """Draw until nothing has changed for a while."""
        until = time.monotonic() + _PATIENCE
        while self._draw(_QUIET) and time.monotonic() < until:
            pass

    def ended(self) -> None:
        """Draw until the program has ended."""
        until = time.monotonic() + _PATIENCE
        while not self._has_ended:
            assert time.monotonic() < until, "\n".join(("it does not end:", *self.rows))
            self._draw(0.1)

    def _draw(self, seconds: float) -> bool:
        """Draw the next output of the program, and return whether there was any."""
        if self._has_ended or not select.select([self._descriptor], [], [], seconds)[0]:
            return False
        try:
            printed = os.read(self._descriptor, 1 << 16)
        except OSError:  # on Linux, the other end is closed
            printed = b""
        self._has_ended = not printed
        self._stream.feed(printed)
        return bool(printed)


@contextmanager
def running(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    columns: int = 120,
    rows: int = 40,
) -> Iterator[Terminal]:
    """Run a program on a terminal, and end it with the block."""
    process, descriptor = pty.fork()
    if process == 0:
        _become(command, folder, environment)
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    try:
        yield Terminal(descriptor, columns, rows)
    finally:
        os.close(descriptor)  # sends SIGHUP to the program
        _collect(process)


def _become(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Replace the child process by the program, and never return into the tests."""
    try:
        os.chdir(folder)
        variables = {**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            variables.pop(name, None)
        os.execvpe(command[0], list(command), {**variables, "LC_ALL": "C.UTF-8"})
    except OSError as problem:
        os.write(2, str(problem).encode())
    finally:
        os._exit(127)


def _collect(process: int) -> None:
    until = time.monotonic() + _END
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.monotonic() > until:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return
        time.sleep(0.02)
