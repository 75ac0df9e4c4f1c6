"""workspace/diagnostic: findings in all dumps of the workspace."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hlo_lsp.checks.catalogue import Selection
from hlo_lsp.checks.folders.jobs import CheckJob, jobs_below
from hlo_lsp.checks.run import check
from hlo_lsp.lsp.diagnostic_conversion import diagnostics_json
from hlo_lsp.lsp.positions import Json, path_of, workspace_folders
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.pull_diagnostics import diagnostic_report
from hlo_lsp.lsp.request import current_request
from hlo_lsp.lsp.scheduling import run_in_background
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.disk import UnreadableError

logger = logging.getLogger(__name__)

_MIN_PROGRESS_BYTES = 4_000_000  # about 2 s of checks; less work shows no progress
_MAX_CLOSED_BYTES = 100_000_000  # larger compiles are checked only while a file is open


@dataclass(frozen=True, slots=True)
class _FileReport:
    """The diagnostics of a file. A ``result_id`` is unique in the process."""

    path: Path
    result_id: str
    items: list[Json]


class WorkspaceDiagnostics:
    """Checks all dumps in the workspace folders when a client pulls them.

    A compile is checked again when one of its files or its options change. Open files are left to
    ``textDocument/diagnostic``; their closed companions are checked with the text in the editor.
    ``notify`` sends a notification.
    """

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._server = server
        self._session = session
        self._notify = notify
        self._known: dict[CheckJob, list[_FileReport]] = {}
        self._numbers = itertools.count()
        self._lock = asyncio.Lock()
        self._is_stopped = False  # the user has cancelled the checks

    def folders_changed(self) -> None:
        """Allow checks again that the user cancelled."""
        self._is_stopped = False

    def reload(self) -> None:
        """Discard all reports; the next pull checks everything again."""
        self._known.clear()
        self._is_stopped = False

    async def pull(self, params: types.WorkspaceDiagnosticParams) -> Json:
        """Return the reports that changed since the client's last pull.

        With a token for partial results they are sent per compile, and the answer has none.
        """
        token = params.partial_result_token
        items: list[Json] = []
        async with self._lock:
            async for changes in self._changed_reports(
                _PreviousReports(params.previous_result_ids)
            ):
                if token is None:
                    items += changes
                elif changes:
                    self._notify("$/progress", {"token": token, "value": {"items": changes}})
        return {"items": items}

    async def _changed_reports(self, previous: "_PreviousReports") -> AsyncIterator[list[Json]]:
        jobs = await run_in_background(partial(jobs_below, self._folders(), self._selection_of))
        self._known = {job: self._known[job] for job in jobs if job in self._known}
        sizes = {job: job.size for job in jobs if self._is_unknown(job)}
        total, done = sum(sizes.values()), 0
        with ExitStack() as stack:
            progress: Progress | None = None
            if total > _MIN_PROGRESS_BYTES and not current_request().has_listener:
                progress = stack.enter_context(Progress(self._server, "Checking HLO dumps"))
            for job in jobs:
                if self._is_open(job):
                    yield await self._check_companions(job, previous)
                    continue
                if job in sizes and not self._is_stopped:
                    current_request().report(job.files[0].name, 100 * done // max(total, 1))
                    if progress is not None:
                        progress.report(100 * done // total, job.files[0].name)
                        self._is_stopped = progress.is_cancelled
                    self._known[job] = await run_in_background(partial(self._check_job, job))
                    done += sizes[job]
                reports = self._known.get(job, [])
                yield [reports_json for each in reports for reports_json in previous.changes(each)]
        removed: Json = {"version": None, "kind": "full", "items": []}
        yield [{"uri": uri, **removed} for uri in self._removed(previous)]

    def _check_job(self, job: CheckJob) -> list[_FileReport]:
        """Check the files of a compile on disk."""
        workspace = DumpWorkspace()  # one for each compile: the files before are let go
        reports: list[_FileReport] = []
        for path in job.files:
            try:
                items = self._check_file(workspace, path, job.selection)
            except UnreadableError:
                continue
            except Exception:  # a bug with one file must not hide all others
                logger.exception("checking %s failed", path)
                continue
            if items is not None:
                reports.append(_FileReport(path, f"disk {next(self._numbers)}", items))
        return reports

    def _check_file(
        self, workspace: DumpWorkspace, path: Path, selection: Selection
    ) -> list[Json] | None:
        """Return the diagnostics of a file, or None if it is not a dump."""
        workspace.read(path, lambda _: None)
        file = workspace.file(path)
        if file.kind is FileKind.OTHER:
            return None
        items: list[Json] = []
        for part in workspace.parts(file):
            dump = workspace.set_of(part)
            found = check(dump, part, selection.rules, selection.thresholds)
            items += diagnostics_json(self._session.client, found)
        return items

    async def _check_companions(self, job: CheckJob, previous: "_PreviousReports") -> list[Json]:
        """Check the closed files of a compile with the open ones as they are in the editor."""
        number = self._session.selections.number
        reports_json: list[Json] = []
        for path in job.files:
            if path in self._opened():
                previous.pop(path)
                continue
            try:
                context = await self._session.contexts_on_disk(path)
            except UnreadableError:
                continue
            report = await diagnostic_report(context, None, number)
            if context:
                reports_json += previous.changes(
                    _FileReport(path, report["resultId"], report["items"])
                )
        return reports_json

    def _is_unknown(self, job: CheckJob) -> bool:
        return job not in self._known and job.size <= _MAX_CLOSED_BYTES and not self._is_open(job)

    def _is_open(self, job: CheckJob) -> bool:
        opened = self._opened()
        return any(path in opened for path in job.files)

    def _opened(self) -> set[Path | None]:
        return {file.path for file in self._session.workspace.open_files.values()}

    def _removed(self, previous: "_PreviousReports") -> Iterator[str]:
        """Yield the files with a report that are no longer dumps in the workspace folders."""
        opened = self._opened()
        return (uri for path, uri in previous.remaining() if path not in opened)

    def _folders(self) -> list[Path]:
        return workspace_folders(self._server)

    def _selection_of(self, folder: Path) -> Selection:
        return self._session.selections.of_folder(folder, self._session.settings.check)


class _PreviousReports:
    """The reports that a client has, by path, because clients may spell URIs differently."""

    def __init__(self, ids: Iterable[types.PreviousResultId]) -> None:
        self._ids = {_path_of_uri(each.uri): (each.uri, each.value) for each in ids}

    def pop(self, path: Path) -> str | None:
        """Remove and return the result id of the report of a file."""
        known = self._ids.pop(path, None)
        return None if known is None else known[1]

    def remaining(self) -> list[tuple[Path, str]]:
        """Return the paths and URIs of the remaining reports."""
        return [(path, uri) for path, (uri, _) in self._ids.items()]

    def changes(self, report: _FileReport) -> Iterator[Json]:
        """Yield the report of a file, unless it is empty and the client has none."""
        before = self.pop(report.path)
        if before == report.result_id:
            kind: Json = {"kind": "unchanged"}
        elif before is None and not report.items:
            return
        else:
            kind = {"kind": "full", "items": report.items}
        uri = report.path.absolute().as_uri()
        yield {"uri": uri, "version": None, "resultId": report.result_id, **kind}


def _path_of_uri(uri: str) -> Path:
    return path_of(uri) or Path(uri)
