"""Findings of open files: run the checks, cache the results, and list partial ones."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from hlo_lsp.checks.catalogue import Selection
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.run import CheckProgress, check_by_pace, sort_findings
from hlo_lsp.lsp.diagnostic_conversion import diagnostic_json
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.scheduling import release_memory, run_on_compile
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.query import query
from hlo_lsp.text.checkpoint import checkpoint


@dataclass(slots=True)
class PublishedDiagnostics:
    """The diagnostics of the last complete check, and the last list that was sent.

    ``lines`` maps the numbers of the lines with diagnostics to their text at that time.
    """

    last_complete: list[Json] = field(default_factory=list)
    lines: dict[int, str] = field(default_factory=dict)
    count: int = 0
    sent: list[Json] = field(default_factory=list)

    def complete(self, found: list[Json], lines: list[str]) -> None:
        """Store the result of a complete check."""
        self.last_complete = found
        self.count = len(lines)
        rows = {_line(one) for one in found}
        self.lines = {row: lines[row] for row in rows if row < len(lines)}

    def still_valid(self, pending: frozenset[str] | None, lines: list[str]) -> Iterator[Json]:
        """Yield earlier diagnostics that may still hold, at their current lines.

        A diagnostic may hold while its code is ``pending`` (None: all codes are) and its line is
        unchanged at the same distance from the start or from the end of the text. So diagnostics
        move with an edit in one place.
        """
        for one in self.last_complete:
            if pending is not None and one["code"] not in pending:
                continue
            row = _line(one)
            for moved in (row, row + len(lines) - self.count):
                if 0 <= moved < len(lines) and lines[moved] == self.lines.get(row):
                    yield _on_line(one, moved)
                    break


def _line(diagnostic: Json) -> int:
    line: int = diagnostic["range"]["start"]["line"]
    return line


def _on_line(diagnostic: Json, line: int) -> Json:
    span = diagnostic["range"]
    return {**diagnostic, "range": {end: {**span[end], "line": line} for end in ("start", "end")}}


FindingsListener = Callable[[list[Finding], frozenset[str]], None]


async def findings(
    context: RequestContext, listener: FindingsListener | None = None
) -> list[Finding]:
    """Return the findings of a file in line order, for its text at the end of the check.

    The check starts again if the text changes. Meanwhile ``listener`` receives the findings so far,
    and the codes that are still pending.
    """
    while True:
        known = cached_findings(context)
        if known is not None:
            return known
        with _join_check(context, listener or _ignore_progress) as work:
            # The text may change before this task runs again, so the loop checks the cache.
            await asyncio.shield(work)


async def findings_until(
    context: RequestContext, is_enough: Callable[[list[Finding]], bool]
) -> list[Finding]:
    """Return the first findings that satisfy ``is_enough``, or all of them.

    A request about one place of a large text does not have to wait for the rest.
    """
    while True:
        found = cached_findings(context)
        if found is None:
            found = await _first_found(context, is_enough)
        if found is not None:
            return found


async def _first_found(
    context: RequestContext, is_enough: Callable[[list[Finding]], bool]
) -> list[Finding] | None:
    """Return the findings that are enough, or all; None if the text has changed meanwhile."""
    early: asyncio.Future[list[Finding]] = asyncio.get_running_loop().create_future()
    state: list[list[int]] = []

    def listener(found: list[Finding], _: frozenset[str]) -> None:
        if not early.done() and is_enough(found):
            state.append(_state(context))
            early.set_result(sort_findings(found))

    with _join_check(context, listener) as work:
        await asyncio.wait((work, early), return_when=asyncio.FIRST_COMPLETED)
    if not early.done():
        work.result()
        return cached_findings(context)
    return early.result() if state == [_state(context)] and _is_fresh(context) else None


def cached_findings(context: RequestContext) -> list[Finding] | None:
    """Return the findings of a file if they are known for its current text."""
    known = _complete_findings(*_arguments(context))
    return known[0] if known and _is_fresh(context) else None


@query
def _complete_findings(file: DumpFile, dump: DumpSet, _: Selection) -> list[list[Finding]]:
    """Return a memo of the findings, empty until a check of the current texts is complete."""
    for other in (file, *dump.files, *dump.others):
        other.read()
    return []


async def findings_of_text(parts: Sequence[RequestContext]) -> list[Finding]:
    """Return the findings of all files in a text, each for its text at the end of the check."""
    while True:
        files = [file for context in parts for file in context.dump.files]
        before = [file.version for file in files]
        found = [one for context in parts for one in await findings(context)]
        if [file.version for file in files] == before and all(file.is_fresh for file in files):
            return found


def state_id(context: RequestContext, selection: int) -> str:
    """Return an id that stays the same as long as the findings of a file do.

    Args:
        context: the file with its compile.
        selection: a number that identifies the selection of rules.
    """
    files = [*context.dump.files, *context.dump.others]
    versions = ".".join(str(file.version) for file in files)
    return f"{context.dump.number}-{versions}@{context.file.first_line}/{selection}"


def _join_check(
    context: RequestContext, listener: FindingsListener
) -> "AbstractContextManager[asyncio.Task[list[Finding]]]":
    return context.checks.join(_arguments(context), partial(_run_check, context), listener)


async def _run_check(context: RequestContext, listener: FindingsListener) -> list[Finding]:
    latest: deque[CheckProgress] = deque(maxlen=1)

    async def give_way() -> None:
        if latest:
            progress = latest.pop()
            listener(progress.findings, progress.pending)
        await context.give_way()

    found = await run_on_compile(context.dump, lambda: _check(context, latest), give_way)
    _complete_findings(*_arguments(context))[:] = [found]
    release_memory()
    return found


def _check(context: RequestContext, latest: deque[CheckProgress]) -> list[Finding]:
    chosen = context.selection
    latest.clear()
    found: list[Finding] = []
    for progress in check_by_pace(context.dump, context.file, chosen.rules, chosen.thresholds):
        found = progress.findings
        if progress.pending:
            latest.append(progress)
        checkpoint()
    latest.clear()
    return sort_findings(found)


def _is_fresh(context: RequestContext) -> bool:
    return all(file.is_fresh for file in context.dump.files)


def _state(context: RequestContext) -> list[int]:
    return [file.version for file in (*context.dump.files, *context.dump.others)]


def _arguments(context: RequestContext) -> tuple[DumpFile, DumpSet, Selection]:
    return context.file, context.dump, context.selection


def _ignore_progress(found: list[Finding], pending: frozenset[str]) -> None:
    """Ignore partial findings."""


_MAX_PARTIAL_DIAGNOSTICS = 200  # longer lists are only shown when they are complete


class PartialDiagnostics:
    """Partial lists of diagnostics: new findings, and earlier diagnostics that may still hold.

    Keeping earlier diagnostics avoids flicker. ``on_change`` receives a list when it differs from
    the one before, at most once in ``interval`` seconds.
    """

    def __init__(
        self,
        file: DumpFile,
        published: PublishedDiagnostics,
        on_change: Callable[[list[Json]], None],
        interval: float,
    ) -> None:
        self._file = file
        self._published = published
        self._on_change = on_change
        self._interval = interval
        self._found: list[Finding] = []
        self._count = 0
        self._next_time = 0.0  # time.monotonic() from which the next list may be shown

    def update(
        self, context: RequestContext, found: list[Finding], pending: frozenset[str]
    ) -> None:
        """Take the findings so far and the codes that are still pending."""
        # A text of several files has one list, which is shown when all files are checked.
        if context.file is not self._file:
            return
        if found is not self._found:  # the text has changed, and the check started again
            self._found, self._count = found, 0
        if len(found) == self._count:
            return
        if (
            max(len(found), len(self._published.last_complete)) > _MAX_PARTIAL_DIAGNOSTICS
            or time.monotonic() < self._next_time
        ):
            return
        self._count = len(found)
        listed = [diagnostic_json(context.client, one) for one in found]
        keys = set(map(_diagnostic_key, listed))
        still_valid = self._published.still_valid(pending, self._file.lines)
        listed += (one for one in still_valid if _diagnostic_key(one) not in keys)
        listed.sort(key=_place)
        if listed != self._published.sent:
            self._published.sent = listed
            self._on_change(listed)
            self._next_time = time.monotonic() + self._interval


def _diagnostic_key(diagnostic: Json) -> tuple[object, ...]:
    return diagnostic["code"], *_place(diagnostic), diagnostic["message"]


def _place(diagnostic: Json) -> tuple[int, int]:
    start = diagnostic["range"]["start"]
    return start["line"], start["character"]
