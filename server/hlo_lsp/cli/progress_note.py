"""A note about what a command is reading, on standard error if that is a terminal."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hlo_lsp.display.phrases import shortened
from hlo_lsp.text.inert import printable

_NOTE_DELAY_SECONDS = 0.5
_MAX_NOTE_LENGTH = 70


@contextmanager
def progress_note() -> Iterator[Callable[[str], None]]:
    """Yield a function that sets the text shown on a terminal after half a second of work."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    note = _Note()
    timer = threading.Timer(_NOTE_DELAY_SECONDS, note.start)
    timer.daemon = True
    timer.start()
    try:
        yield note.set
    finally:
        timer.cancel()
        note.stop()


class _Note:
    """A line on the terminal that is shown from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = ""
        self._status: Any = None
        self._spinner: Any = None
        self._is_stopped = False

    def start(self) -> None:
        # Late imports, because importing them takes 60 ms.
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415
        from rich.spinner import Spinner  # noqa: PLC0415

        with self._lock:
            if not self._is_stopped:
                self._spinner = Spinner("dots", _one_line(self._text))
                # What the command prints goes where it would go without the note.
                self._status = Live(
                    self._spinner,
                    console=Console(stderr=True),
                    refresh_per_second=12.5,
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._status.start()

    def set(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self._status is not None:
                self._spinner.update(text=_one_line(text))

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            if self._status is not None:
                self._status.stop()


def _one_line(text: str) -> Any:
    """Return a text that fits in a line of most terminals."""
    from rich.text import Text  # noqa: PLC0415  # as above

    return Text(shortened(printable(text), _MAX_NOTE_LENGTH))
