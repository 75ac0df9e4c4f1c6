"""workspace/diagnostic: findings in all dumps of the workspace."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from hlo_lsp.checks.catalogue import selected_rules
from hlo_lsp.checks.check_jobs import CheckJob, jobs_in
from hlo_lsp.checks.run import check
from hlo_lsp.lsp.client import Client, Json, diagnostics_json, path_of
from hlo_lsp.lsp.fact_kinds import FactKind, Reading, Unit
from hlo_lsp.lsp.findings import check_text, state_id
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.folder_scan import ScannedFolder, SearchScope
from hlo_lsp.model.module_reader import ModuleReader
from hlo_lsp.text.disk import UnreadableError

logger = logging.getLogger(__name__)


_MAX_CLOSED_BYTES = 100_000_000  # larger compiles are checked only while a file is open


class _FileReport(NamedTuple):
    """The diagnostics of a file. A ``result_id`` is unique in the process."""

    path: Path
    result_id: str
    items: list[Json]


class _ReportsOnDisk(FactKind[CheckJob, list[_FileReport]]):
    """The diagnostics of compiles without open files."""

    title = "Checking HLO dumps"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._numbers = itertools.count()

    def units(self, folder: ScannedFolder) -> Iterator[Unit[CheckJob]]:
        """Yield the compiles in a workspace folder."""
        if folder.top.scope is not SearchScope.WORKSPACE:
            return
        settings, selections = self._session.settings, self._session.selections
        selection = selections.of_folder(folder.path, settings.check)
        for job in jobs_in(folder, selection):
            module = folder.module_of(job.path.name)
            if module is not None:
                yield Unit(job.path, job, module, job.size, job)

    def is_needed(self, unit: Unit[CheckJob]) -> bool:
        """Return whether a compile is checked: open ones are not, and not very large ones."""
        return unit.size <= _MAX_CLOSED_BYTES and not self.is_open(unit)

    def is_open(self, unit: Unit[CheckJob]) -> bool:
        """Return whether a file of a compile is open."""
        return not self._session.workspace.open_paths.keys().isdisjoint(unit.subject.files)

    def reading(self, unit: Unit[CheckJob]) -> Reading[list[_FileReport]]:
        """Return the function that checks a compile."""
        client, number = self._session.client, next(self._numbers)
        return partial(_read_reports, job=unit.subject, client=client, number=number)


def _read_reports(
    reader: ModuleReader, job: CheckJob, client: Client, number: int
) -> list[_FileReport]:
    rules, thresholds = selected_rules(job.selection), job.selection.thresholds
    workspace = reader.workspace
    reports = []
    for path in job.files:
        try:
            file = workspace.file(path)
            if not file.kind.is_dump:
                continue
            items: list[Json] = []
            for part in workspace.parts(file):
                findings = check(workspace.compile_of(part), part, rules, thresholds)
                items += diagnostics_json(client, findings)
            reports.append(_FileReport(path, f"disk {number}", items))
        except UnreadableError:
            continue
        except Exception:  # a bug with one file must not hide all others
            logger.exception("checking %s failed", path)
    return reports


class WorkspaceDiagnostics(Service):
    """Checks all dumps in the workspace folders when a client pulls them.

    A compile is checked again when one of its files or its options change. Open files are left to
    ``textDocument/diagnostic``; their closed companions are checked with the text in the editor.
    Of the other compiles, only the largest one has advice: a list of advice on every small helper
    hides the problems. ``notify`` sends a notification.
    """

    def __init__(self, session: Session, notify: Callable[[str, Json], None]) -> None:
        self._session = session
        self._notify = notify
        self._on_disk = _ReportsOnDisk(session)
        session.index.add(self._on_disk)
        self._companions: dict[Path, _FileReport] = {}  # of compiles with open files
        self._lock = asyncio.Lock()

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests."""
        return {types.WORKSPACE_DIAGNOSTIC: self.pull}

    def reload(self) -> None:
        """Discard the reports that the index does not have."""
        self._companions.clear()

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
        opened: set[Path] = set()
        largest: Unit[CheckJob] | None = None
        async for unit, reports in self._session.index.facts(self._on_disk):
            if largest is None:
                units = await self._session.index.units(self._on_disk)
                dumps = (one for one in units if self._on_disk.fact(one.key) != [])
                largest = max(dumps, key=lambda one: one.size, default=unit)
            if self._on_disk.is_open(unit):
                opened.update(unit.subject.files)
                yield await self._check_companions(unit.subject)
            elif reports:
                is_largest = unit.key == largest.key
                yield reports if is_largest else list(map(_without_advice, reports))
        self._companions = {
            path: report for path, report in self._companions.items() if path in opened
        }

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
        report = self._companions.pop(path, None)
        state = await self._session.answer_text(document, state_id, closed=True, embedded=True)
        if not state:
            return None
        if report is None or report.result_id != state:
            checked = await check_text(self._session, document, closed=True)
            report = _FileReport(path, checked.state_id, checked.diagnostics)
        self._companions[path] = report
        return report


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
