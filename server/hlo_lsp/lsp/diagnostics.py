"""Diagnostics of open files, pushed after a pause in typing or pulled by the client."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from lsprotocol import types

from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.garbage_collection import collect_all
from hlo_lsp.lsp.client import Json, diagnostic_json
from hlo_lsp.lsp.findings import CheckedText, check_text, known_findings, state_id
from hlo_lsp.lsp.scheduling import start_task
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile

_DEBOUNCE_SECONDS = 0.03  # without an edit, before a file is checked
_PUSH_INTERVAL_SECONDS = 0.1  # between two partial lists
_PULL_INTERVAL_SECONDS = 1.0  # the same for a client that pulls, because it pulls all files
_QUICK_ANSWER_SECONDS = 0.01  # that the pull of a large compile waits for a complete check
_MAX_PARTIAL_DIAGNOSTICS = 200  # longer lists are only shown when they are complete


class FileDiagnostics:
    """The diagnostics of a file as the client has them, also while the file is checked again.

    A partial list has the new findings and earlier diagnostics that may still hold, which avoids
    flicker. ``on_change`` is called when it differs from the list before, at most once in
    ``interval`` seconds. ``is_partial`` is true after a check by rules on records only.
    """

    def __init__(
        self, file: DumpFile, on_change: Callable[[list[Json]], None], interval: float
    ) -> None:
        self.file = file
        self._on_change = on_change
        self._interval = interval
        self._sent: list[Json] = []  # the last list, complete or not
        self._version: int | None = None  # of the text that it describes
        self._checked: list[Json] = []  # the list after the last check
        self._lines: dict[int, str] = {}  # the lines with its diagnostics at that time
        self._line_count = 0
        self._found: list[Finding] = []  # of the running check
        self._count = 0  # of its findings when the last list was made
        self._next_time = 0.0  # time.monotonic() from which the next list may be shown
        self.is_partial = False

    @property
    def is_empty(self) -> bool:
        """True if the client has no diagnostics of the file."""
        return not self._sent

    async def check(self, session: Session) -> CheckedText:
        """Check the file; while files of its compile are being read, only by rules on records."""
        self._next_time = 0.0
        self.is_partial = False
        document = types.TextDocumentIdentifier(self.file.uri)
        checked = await check_text(session, document, self.update, early=True)
        self.complete(checked)
        return checked

    def complete(self, checked: CheckedText) -> None:
        """Store the result of a check, or show a partial one."""
        self.is_partial = not checked.is_complete
        if self.is_partial:
            self._show(list(checked.diagnostics), None)
            lines = self.file.lines
            rows = {_place(one)[0] for one in self._sent}
            self._lines = {row: lines[row] for row in rows if row < len(lines)}
        else:
            self._sent, self._lines = checked.diagnostics, checked.lines
        self._checked = self._sent
        self._version = self.file.version
        self._line_count = checked.line_count

    def update(
        self, context: RequestContext, found: list[Finding], pending: frozenset[str]
    ) -> None:
        """Take the findings so far and the codes that are still pending."""
        # A text of several files has one list, which is shown when all files are checked.
        if context.file is not self.file:
            return
        if found is not self._found:  # the check started, possibly again after an edit
            self._found, self._count = found, 0
        is_long = max(len(found), len(self._checked)) > _MAX_PARTIAL_DIAGNOSTICS
        if len(found) == self._count or is_long or time.monotonic() < self._next_time:
            return
        self._count = len(found)
        self._show([diagnostic_json(context.client, one) for one in found], pending)

    def _show(self, listed: list[Json], pending: frozenset[str] | None) -> None:
        """Show a partial list, with the earlier diagnostics that may still hold."""
        keys = set(map(_key, listed))
        listed += (one for one in self.still_valid(pending) if _key(one) not in keys)
        listed.sort(key=_place)
        if listed != self._sent:
            self._sent, self._version = listed, self.file.version
            self._on_change(listed)
            self._next_time = time.monotonic() + self._interval

    def so_far(self) -> list[Json]:
        """Return the diagnostics that are known for the current text."""
        return self._sent if self._version == self.file.version else list(self.still_valid(None))

    def still_valid(self, pending: frozenset[str] | None) -> Iterator[Json]:
        """Yield earlier diagnostics that may still hold, at their current lines.

        A diagnostic may hold while its code is ``pending`` (None: all codes are) and its line is
        unchanged at the same distance from the start or from the end of the text. So diagnostics
        move with an edit in one place.
        """
        lines = self.file.lines
        for one in self._checked:
            if pending is not None and one["code"] not in pending:
                continue
            row = _place(one)[0]
            for moved in (row, row + len(lines) - self._line_count):
                if 0 <= moved < len(lines) and lines[moved] == self._lines.get(row):
                    ends = {end: {**one["range"][end], "line": moved} for end in ("start", "end")}
                    yield {**one, "range": ends}
                    break


def _key(diagnostic: Json) -> tuple[object, ...]:
    return diagnostic["code"], *_place(diagnostic), diagnostic["message"]


def _place(diagnostic: Json) -> tuple[int, int]:
    start = diagnostic["range"]["start"]
    return start["line"], start["character"]


class OpenFileDiagnostics:
    """Checks open files; each file has at most one pending check.

    If the client does not pull, files are checked after edits. Only a complete list has the version
    of the text, so a client can distinguish partial lists. If it pulls and a complete check of a
    large compile takes seconds, it receives a partial list first, and a refresh when there is
    more.

    ``publish`` sends parameters of ``textDocument/publishDiagnostics``, and ``refresh`` requests
    that a client pulls again.
    """

    def __init__(
        self,
        session: Session,
        publish: Callable[[Json], None],
        refresh: Callable[[], None],
    ) -> None:
        self._session = session
        self._publish = publish
        self._refresh = refresh
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._files: dict[str, FileDiagnostics] = {}

    def changed(self, file: DumpFile) -> None:
        """Check a file that was opened or edited, and the open files of its compile."""
        for other in self._session.open_companions(file):
            self._schedule(other)
        if file.host is None:  # no other file depends on a text in another language
            self._refresh()

    def all_changed(self, below: Path | None = None) -> None:
        """Check all open files, or those in a folder, with changed options."""
        workspace = self._session.workspace
        for file in (*workspace.open_files.values(), *workspace.open_hosts.values()):
            if below is None or (file.path is not None and below in file.path.parents):
                self._schedule(file)
        self._refresh()

    def companion_read(self, path: Path) -> None:
        """Check the files of a compile again after the last one of its large files was read."""
        for file in list(self._session.workspace.open_files.values()):
            if path in self._compile_paths(file) and not self._is_growing(file, path):
                self.changed(file)

    def closed(self, file: DumpFile) -> None:
        """Remove the diagnostics of a closed file, and check its open companions."""
        self._cancel(file.uri)
        if not self._session.client.can_pull_diagnostics:
            self._publish({"uri": file.uri, "diagnostics": []})
        self._files.pop(file.uri, None)
        if file.host is None:
            self.changed(file)

        # Records and their blocks refer to each other, so only a full collection frees them.
        asyncio.get_running_loop().call_later(_DEBOUNCE_SECONDS, collect_all)

    async def pull(self, params: types.DocumentDiagnosticParams) -> Json:
        """Return the report of a document; a partial report has no result id."""
        document, previous = params.text_document, params.previous_result_id
        is_slow, is_unchanged = await self._session.answer_text(
            document,
            lambda contexts: (self._is_slow(contexts), state_id(contexts) == previous),
            embedded=True,
        )
        file = self._session.workspace.opened(document.uri)
        if file is not None and is_slow and not is_unchanged:
            diagnostics = self._diagnostics(file)
            # A partial check is not repeated: ``companion_read`` requests the next pull.
            if not (diagnostics.is_partial and self._is_growing(file)):
                task = self._checks.get(file.uri)
                if task is None or task.done():
                    task = self._checks[file.uri] = start_task(self._check_pulled(file))
                await asyncio.wait((task,), timeout=_QUICK_ANSWER_SECONDS)
                if task.done() and not diagnostics.is_partial:
                    return await diagnostic_report(self._session, document, previous)
            return {"kind": "full", "items": diagnostics.so_far()}
        return await diagnostic_report(self._session, document, previous)

    def _is_slow(self, contexts: Sequence[RequestContext]) -> bool:
        return self._session.client.can_refresh_diagnostics and any(
            one.is_large and known_findings(one) is None for one in contexts
        )

    def _compile_paths(self, file: DumpFile) -> Sequence[Path]:
        return () if file.path is None else self._session.workspace.compile_files(file.path).files

    def _is_growing(self, file: DumpFile, read: Path | None = None) -> bool:
        """Return whether files of a compile are being read, apart from one that was just read."""
        paths = (path for path in self._compile_paths(file) if path != read)
        return any(map(self._session.loader.is_reading, paths))

    def _schedule(self, file: DumpFile) -> None:
        known = self._files.get(file.uri)
        if known is not None:
            known.is_partial = False
        if not self._session.client.can_pull_diagnostics:
            self._cancel(file.uri)
            self._checks[file.uri] = start_task(self._check_pushed(file))

    def _cancel(self, uri: str) -> None:
        task = self._checks.pop(uri, None)
        if task is not None:
            task.cancel()

    def _diagnostics(self, file: DumpFile) -> FileDiagnostics:
        known = self._files.get(file.uri)
        if known is None or known.file is not file:  # a client may open a file twice
            if self._session.client.can_pull_diagnostics:
                known = FileDiagnostics(file, lambda _: self._refresh(), _PULL_INTERVAL_SECONDS)
            else:
                known = FileDiagnostics(file, partial(self._send, file), _PUSH_INTERVAL_SECONDS)
            self._files[file.uri] = known
        return known

    async def _check_pushed(self, file: DumpFile) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        await self._session.foreground.give_way()
        diagnostics = self._diagnostics(file)
        was_empty = diagnostics.is_empty
        checked = await diagnostics.check(self._session)
        version, found = self._session.version(file.uri), checked.diagnostics
        if file.host is not None and was_empty and not found:
            return  # most texts in other languages contain no HLO
        if version is not None and checked.is_complete:
            self._publish({"uri": file.uri, "version": version, "diagnostics": found})

    async def _check_pulled(self, file: DumpFile) -> None:
        with self._session.listener.progress(f"Checking {file.title}", is_indefinite=True):
            checked = await self._diagnostics(file).check(self._session)
        if checked.is_complete or not self._is_growing(file):
            self._refresh()

    def _send(self, file: DumpFile, listed: list[Json]) -> None:
        self._publish({"uri": file.uri, "diagnostics": listed})


async def diagnostic_report(
    session: Session, document: types.TextDocumentIdentifier, previous_result_id: str | None
) -> Json:
    """Return the complete report of a text, unchanged if no file of its compiles has changed."""
    result_id = await session.answer_text(document, state_id, embedded=True)
    if result_id and result_id == previous_result_id:
        return {"kind": "unchanged", "resultId": result_id}
    checked = await check_text(session, document)
    report: Json = {"kind": "full", "items": checked.diagnostics}
    return {**report, "resultId": checked.state_id} if checked.state_id else report
