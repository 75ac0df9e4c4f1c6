"""The work of the server in executed lines of its code, which is equal on every machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

import hlo_lsp
from hlo_lsp import background_jobs
from hlo_lsp.lsp import scheduling

if TYPE_CHECKING:
    from _typeshed import TraceFunction

_SERVER = str(Path(hlo_lsp.__file__).parent)
_CLOCK_DEPENDENT_FILES = {
    scheduling.__file__,
    background_jobs.__file__,
}  # Their work depends on the clock.


class LineCounter:
    """A trace function that counts executed lines."""

    def __init__(self) -> None:
        self.lines = 0

    def trace(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        """Return the trace function for a frame of the server, or None for other code."""
        file = frame.f_code.co_filename
        return (
            self._count if file.startswith(_SERVER) and file not in _CLOCK_DEPENDENT_FILES else None
        )

    def _count(self, _frame: FrameType, event: str, _argument: object) -> TraceFunction:
        self.lines += event == "line"
        return self._count


@contextmanager
def count_lines() -> Iterator[LineCounter]:
    """Count the executed lines of the server on this thread and in jobs."""
    counter = LineCounter()
    run = background_jobs.Job.run

    def traced(job: background_jobs.Job[object]) -> None:
        sys.settrace(counter.trace)
        try:
            run(job)
        finally:
            sys.settrace(None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background_jobs.Job, "run", traced)
        sys.settrace(counter.trace)
        try:
            yield counter
        finally:
            sys.settrace(None)
