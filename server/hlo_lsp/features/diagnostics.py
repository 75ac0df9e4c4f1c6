"""Diagnostics: pushed after a pause in typing, or pulled where the client can."""

import asyncio
import gc
import logging
from collections.abc import Coroutine, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.run import check
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked, Session
from hlo_lsp.model.dump_file import DumpFile

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

_PAUSE = 0.15  # seconds without an edit before a file is looked at
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}
_SOURCE = "hlo-lsp"


class DiagnosticsPusher:
    """Looks at open files again after edits; one waiting task for each file."""

    def __init__(self, server: "LanguageServer", session: Session) -> None:
        self._server = server
        self._session = session
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def changed(self, file: DumpFile) -> None:
        """A file was opened or edited: it and the open files of its compile want a look."""
        for other in self._session.open_siblings(file):
            self._schedule(other)
        if self._session.client.pulls_diagnostics and self._session.client.refreshes_diagnostics:
            self._schedule_refresh()

    def neighbour_read(self, path: Path) -> None:
        """A large neighbour is there now: the files that were looked at without it want a look."""
        for file in list(self._session.library.open_files.values()):
            if file.path is not None and path in self._session.library.compile(file.path).files:
                self.changed(file)

    def closed(self, file: DumpFile) -> None:
        """A file was closed: what was said of it goes, and its compile reads it from disk now."""
        task = self._tasks.pop(file.uri, None)
        if task is not None:
            task.cancel()
        if not self._session.client.pulls_diagnostics:
            self._publish(types.PublishDiagnosticsParams(file.uri, []))
        self.changed(file)
        # Records and their blocks point at each other: only a full collection frees them, and
        # the next one by itself may be far away.
        asyncio.get_running_loop().call_later(_PAUSE, gc.collect)

    def _schedule(self, file: DumpFile) -> None:
        if self._session.client.pulls_diagnostics:
            return
        self._replace(file.uri, self._look(file))

    def _schedule_refresh(self) -> None:
        self._replace("", self._ask_for_pull())

    def _replace(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        old = self._tasks.get(key)
        if old is not None:
            old.cancel()
        task = self._tasks[key] = asyncio.ensure_future(work)
        task.add_done_callback(_log_failure)

    async def _look(self, file: DumpFile) -> None:
        await asyncio.sleep(_PAUSE)
        await self._session.foreground.rest()
        document = types.TextDocumentIdentifier(file.uri)
        found = await self._session.joined(document, diagnose)
        diagnostics = list(chain.from_iterable(found))
        version = self._session.version(file.uri)
        if version is not None:
            self._publish(types.PublishDiagnosticsParams(file.uri, diagnostics, version))

    async def _ask_for_pull(self) -> None:
        await asyncio.sleep(_PAUSE)
        await self._server.workspace_diagnostic_refresh_async(None)

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self._server.text_document_publish_diagnostics(params)


async def diagnose(asked: Asked) -> list[types.Diagnostic]:
    """What is wrong in a file, as its text is at the end of the work."""
    findings = await steadily(asked.dump, lambda: check(asked.dump, asked.file), asked.rest)
    return [_diagnostic(asked, finding) for finding in findings]


async def pulled(
    asked: Sequence[Asked], previous_result_id: str | None
) -> types.DocumentDiagnosticReport:
    """The answer to a pull: unchanged if no file in the text and no compile of one has changed."""
    if not asked:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    result_id = " ".join(map(_state, asked))
    if result_id == previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    items = [found for one in asked for found in await diagnose(one)]
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def _state(asked: Asked) -> str:
    versions = ".".join(str(file.version) for file in asked.dump.files)
    return f"{asked.dump.number}-{versions}@{asked.file.first_line}"


def _diagnostic(asked: Asked, finding: Finding) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(asked.convert.location(other.place), other.message)
        for other in finding.related
    ]
    return types.Diagnostic(
        range=asked.convert.range(finding.place),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=_SOURCE,
        related_information=(related or None) if asked.client.shows_related else None,
    )


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("diagnostics failed", exc_info=task.exception())
