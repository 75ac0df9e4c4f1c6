"""workspace/diagnostic: findings in all dumps of the workspace."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.catalogue import selected_rules
from hlo_lsp.checks.folders import CheckJob, jobs_below
from hlo_lsp.checks.framework.options import Selection
from hlo_lsp.checks.run import check
from hlo_lsp.lsp.client import Json, diagnostics_json, path_of, workspace_folders
from hlo_lsp.lsp.findings import check_text, state_id
from hlo_lsp.lsp.progress import current_request, reading_progress
from hlo_lsp.lsp.scheduling import run_in_background
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.disk import UnreadableError, file_stamp

logger = logging.getLogger(__name__)


_MAX_CLOSED_BYTES = 100_000_000  # larger compiles are checked only while a file is open


class _FileReport(NamedTuple):
    """The diagnostics of a file. A ``result_id`` is unique in the process."""

    path: Path
    result_id: str
    items: list[Json]


class _Companion(NamedTuple):
    """What is known of a version of a closed file; ``report`` is None if it is not a dump."""

    stamp: tuple[int, int] | None
    report: _FileReport | None


class WorkspaceDiagnostics:
    """Checks all dumps in the workspace folders when a client pulls them.

    A compile is checked again when one of its files or its options change. Open files are left to
    ``textDocument/diagnostic``; their closed companions are checked with the text in the editor.
    Of the other compiles, only the largest one has advice: a list of advice on every small helper
    hides the problems. ``notify`` sends a notification.
    """

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._server = server
        self._session = session
        self._notify = notify
        self._known: dict[CheckJob, list[_FileReport]] = {}
        self._companions: dict[Path, _Companion] = {}  # closed files of compiles with open ones
        self._numbers = itertools.count()
        self._lock = asyncio.Lock()
        self._is_stopped = False  # the user has cancelled the checks

    def folders_changed(self) -> None:
        """Allow checks again that the user cancelled."""
        self._is_stopped = False

    def reload(self) -> None:
        """Discard all reports; the next pull checks everything again."""
        self._known.clear()
        self._companions.clear()
        self._is_stopped = False

    async def pull(self, params: types.WorkspaceDiagnosticParams) -> Json:
        """Return the reports that changed since the client's last pull.

        With a token for partial results they are sent per compile, and the answer has none.
        """
        token = params.partial_result_token
        items: list[Json] = []
        # By path, because clients may spell URIs differently.
        previous = {path_of(one.uri) or Path(one.uri): one for one in params.previous_result_ids}
        async with self._lock:
            async for reports in self._reports():
                changes = [change for report in reports for change in _changes(report, previous)]
                if token is None:
                    items += changes
                elif changes:
                    self._notify(types.PROGRESS, {"token": token, "value": {"items": changes}})
        opened = self._session.workspace.open_paths
        removed: list[Json] = [
            {"uri": one.uri, "version": None, "kind": "full", "items": []}
            for path, one in previous.items()
            if path not in opened
        ]
        if token is not None and removed:
            self._notify(types.PROGRESS, {"token": token, "value": {"items": removed}})
        return {"items": items if token is not None else items + removed}

    async def _reports(self) -> AsyncIterator[list[_FileReport]]:
        jobs = await run_in_background(self._relevant_jobs)
        total, done = max(sum(job.size for job in jobs if self._is_pending(job)), 1), 0
        largest = max(jobs, key=lambda job: job.size, default=None)
        progress = current_request()
        with ExitStack() as stack:
            if not progress.has_listener:
                background = reading_progress(self._server, "Checking HLO dumps", total)
                progress = stack.enter_context(background)
            for job in jobs:
                if self._is_open(job):
                    yield await self._check_companions(job)
                    continue
                if self._is_pending(job) and not self._is_stopped:
                    progress.report(job.files[0].name, 100 * done // total)
                    self._is_stopped = progress.is_cancelled
                    self._known[job] = await run_in_background(partial(self._check_job, job))
                    done += job.size
                found = self._known.get(job, [])
                yield found if job is largest else list(map(_without_advice, found))

    def _relevant_jobs(self) -> list[CheckJob]:
        """Return the jobs except those that are known to have no dump; forget former jobs."""
        folders, listings = workspace_folders(self._server), self._session.workspace.folders
        known: dict[CheckJob, list[_FileReport]] = {}
        relevant = []
        for job in jobs_below(folders, self._selection_of, listings):
            checkpoint()
            reports = self._known.get(job)
            if reports is not None:
                known[job] = reports
            if reports != [] or self._is_open(job):
                relevant.append(job)
        self._known = known
        opened = {path for job in relevant if self._is_open(job) for path in job.files}
        self._companions = {
            path: known for path, known in self._companions.items() if path in opened
        }
        return relevant

    def _check_job(self, job: CheckJob) -> list[_FileReport]:
        rules, thresholds = selected_rules(job.selection), job.selection.thresholds
        # One for each compile, so that earlier files are freed.
        workspace = DumpWorkspace(folders=job.folders())
        reports = []
        for path in job.files:
            try:
                workspace.read(path, lambda _: None)
                file = workspace.file(path)
                if not file.kind.is_dump:
                    continue
                items: list[Json] = []
                for part in workspace.parts(file):
                    found = check(workspace.compile_of(part), part, rules, thresholds)
                    items += diagnostics_json(self._session.client, found)
                reports.append(_FileReport(path, f"disk {next(self._numbers)}", items))
            except UnreadableError:
                continue
            except Exception:  # a bug with one file must not hide all others
                logger.exception("checking %s failed", path)
        return reports

    async def _check_companions(self, job: CheckJob) -> list[_FileReport]:
        """Check the closed files of a compile with the open ones as they are in the editor."""
        reports = []
        for path in job.files:
            if path in self._session.workspace.open_paths:
                continue
            report = await self._check_companion(path)
            if report is not None:
                reports.append(report)
        return reports

    async def _check_companion(self, path: Path) -> _FileReport | None:
        """Check a closed file, unless nothing has changed that its findings depend on."""
        document = types.TextDocumentIdentifier(path.absolute().as_uri())
        stamp, known = file_stamp(path), self._companions.pop(path, None)
        if known is None or known != _Companion(stamp, None):
            report = None if known is None else known.report
            state = await self._session.answer_text(document, state_id, closed=True, embedded=True)
            if not state:
                report = None
            elif report is None or report.result_id != state:
                checked = await check_text(self._session, document, closed=True)
                report = _FileReport(path, checked.state_id, checked.diagnostics)
            known = _Companion(stamp, report)
        self._companions[path] = known
        return known.report

    def _is_pending(self, job: CheckJob) -> bool:
        return job not in self._known and job.size <= _MAX_CLOSED_BYTES and not self._is_open(job)

    def _is_open(self, job: CheckJob) -> bool:
        return not self._session.workspace.open_paths.keys().isdisjoint(job.files)

    def _selection_of(self, folder: Path) -> Selection:
        return self._session.selections.of_folder(folder, self._session.settings.check)


def _without_advice(report: _FileReport) -> _FileReport:
    problems = [one for one in report.items if one["severity"] <= types.DiagnosticSeverity.Warning]
    return report._replace(result_id=f"{report.result_id} problems", items=problems)


def _changes(report: _FileReport, previous: dict[Path, types.PreviousResultId]) -> Iterator[Json]:
    """Yield the report of a file, unless it is empty and the client has none."""
    before = previous.pop(report.path, None)
    if before is None and not report.items:
        return
    is_known = before is not None and before.value == report.result_id
    kind: Json = {"kind": "unchanged"} if is_known else {"kind": "full", "items": report.items}
    uri = report.path.absolute().as_uri()
    yield {"uri": uri, "version": None, "resultId": report.result_id, **kind}
