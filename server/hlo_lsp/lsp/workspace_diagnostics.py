"""workspace/diagnostic: what is wrong in all dumps of the workspace."""

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

from hlo_lsp.checks.config.selection import Selection
from hlo_lsp.checks.folders.jobs import Job
from hlo_lsp.checks.folders.walking import jobs_below
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

_MIN_PROGRESS_BYTES = 4_000_000  # bytes to look at from which on that shows its progress: about 2 s
_MAX_CLOSED_BYTES = (
    100_000_000  # bytes of a compile that is only looked at when a file of it is open
)


@dataclass(frozen=True, slots=True)
class _FileReport:
    """What was found in a file. ``result_id`` is that of no other report of this process."""

    path: Path
    result_id: str
    items: list[Json]


class WorkspaceDiagnostics:
    """Looks at all dumps in the folders of the workspace when a client asks for it.

    Each compile is looked at again when a file of it, or what is checked in it, has changed. Files
    that are open are left to ``textDocument/diagnostic``; their closed neighbours are held against
    the text as it is in the editor. ``notify`` sends a notification.
    """

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._server = server
        self._session = session
        self._notify = notify
        self._known: dict[Job, list[_FileReport]] = {}
        self._numbers = itertools.count()
        self._lock = asyncio.Lock()
        self._is_stopped = False  # the user has stopped the looking

    def folders_changed(self) -> None:
        """The workspace has other folders: what the user has stopped may begin again."""
        self._is_stopped = False

    def reload(self) -> None:
        """Forget what was found: it is looked for again, and told anew, at the next question."""
        self._known.clear()
        self._is_stopped = False

    async def pull(self, params: types.WorkspaceDiagnosticParams) -> Json:
        """The reports that are news for a client.

        With a token for partial results they come compile by compile, and the answer has none.
        """
        token = params.partial_result_token
        items: list[Json] = []
        async with self._lock:
            async for news in self._news(_PreviousReports(params.previous_result_ids)):
                if token is None:
                    items += news
                elif news:
                    self._notify("$/progress", {"token": token, "value": {"items": news}})
        return {"items": items}

    async def _news(self, previous: "_PreviousReports") -> AsyncIterator[list[Json]]:
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
                    yield await self._beside_open(job, previous)
                    continue
                if job in sizes and not self._is_stopped:
                    current_request().report(job.files[0].name, 100 * done // max(total, 1))
                    if progress is not None:
                        progress.report(100 * done // total, job.files[0].name)
                        self._is_stopped = progress.is_cancelled
                    self._known[job] = await run_in_background(partial(self._look, job))
                    done += sizes[job]
                reports = self._known.get(job, [])
                yield [said for each in reports for said in previous.news(each)]
        gone: Json = {"version": None, "kind": "full", "items": []}
        yield [{"uri": uri, **gone} for uri in self._gone(previous)]

    def _look(self, job: Job) -> list[_FileReport]:
        """Look at the files of a compile as they are on disk."""
        library = DumpWorkspace()  # one for each compile: the files before are let go
        reports: list[_FileReport] = []
        for path in job.files:
            try:
                items = self._look_at(library, path, job.selection)
            except UnreadableError:
                continue
            except Exception:  # a fault of ours with one file must not hide all others
                logger.exception("nothing can be said of %s", path)
                continue
            if items is not None:
                reports.append(_FileReport(path, f"disk {next(self._numbers)}", items))
        return reports

    def _look_at(self, library: DumpWorkspace, path: Path, chosen: Selection) -> list[Json] | None:
        """What is wrong in a file; None if it is no dump."""
        library.read(path, lambda _: None)
        file = library.file(path)
        if file.kind is FileKind.OTHER:
            return None
        items: list[Json] = []
        for part in library.known_parts(file):
            dump = library.set_of(part)
            found = check(dump, part, chosen.rules, chosen.thresholds)
            items += diagnostics_json(self._session.client, found)
        return items

    async def _beside_open(self, job: Job, previous: "_PreviousReports") -> list[Json]:
        """Look at the closed files of a compile with others as they are in the editor."""
        number = self._session.selections.number
        said: list[Json] = []
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
                said += previous.news(_FileReport(path, report["resultId"], report["items"]))
        return said

    def _is_unknown(self, job: Job) -> bool:
        return job not in self._known and job.size <= _MAX_CLOSED_BYTES and not self._is_open(job)

    def _is_open(self, job: Job) -> bool:
        opened = self._opened()
        return any(path in opened for path in job.files)

    def _opened(self) -> set[Path | None]:
        return {file.path for file in self._session.library.open_files.values()}

    def _gone(self, previous: "_PreviousReports") -> Iterator[str]:
        """Files that a client has a report of, and that are no dump below its folders any more."""
        opened = self._opened()
        return (uri for path, uri in previous.left() if path not in opened)

    def _folders(self) -> list[Path]:
        return workspace_folders(self._server)

    def _selection_of(self, folder: Path) -> Selection:
        return self._session.selections.of_folder(folder, self._session.settings.check)


class _PreviousReports:
    """The reports that a client has, by path: it may write a URI otherwise than we do."""

    def __init__(self, ids: Iterable[types.PreviousResultId]) -> None:
        self._ids = {_path_of_uri(each.uri): (each.uri, each.value) for each in ids}

    def pop(self, path: Path) -> str | None:
        """The id of the report that the client has of a file; asked for once."""
        known = self._ids.pop(path, None)
        return None if known is None else known[1]

    def left(self) -> list[tuple[Path, str]]:
        """Paths and URIs that nobody asked for."""
        return [(path, uri) for path, (uri, _) in self._ids.items()]

    def news(self, report: _FileReport) -> Iterator[Json]:
        """What is said of a file: nothing if it has no findings and the client had none of it."""
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
