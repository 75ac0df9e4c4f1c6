"""The work of the server, counted in lines of its code that run: equal on every machine."""

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
_TIMED = {scheduling.__file__, background_jobs.__file__}  # their work depends on the clock


class LineCounter:
    """Counts the lines that run."""

    def __init__(self) -> None:
        self.lines = 0

    def trace(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        """Return the function that counts the lines of a frame, None for other code."""
        file = frame.f_code.co_filename
        return self._count if file.startswith(_SERVER) and file not in _TIMED else None

    def _count(self, _frame: FrameType, event: str, _argument: object) -> TraceFunction:
        self.lines += event == "line"
        return self._count


@contextmanager
def counted_lines() -> Iterator[LineCounter]:
    """Count the lines of the server that run on this thread and in jobs."""
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
