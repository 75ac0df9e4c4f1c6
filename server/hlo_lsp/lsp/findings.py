"""Findings of open texts: one check for all requests that wait for it, with its first findings."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.catalogue import selected_rules
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.framework.rule import AnyRule, Rule
from hlo_lsp.checks.run import CheckProgress, check_by_pace, sort_findings
from hlo_lsp.garbage_collection import release_memory
from hlo_lsp.lsp.client import Json, diagnostics_json
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.query_cache import Memo

FindingsListener = Callable[[RequestContext, list[Finding], frozenset[str]], None]


@dataclass(frozen=True, slots=True)
class CheckedText:
    """The complete check of all files in a text.

    ``diagnostics`` are in line order for each file. ``lines`` has the lines of an open text that
    diagnostics begin on, by their number, and ``line_count`` the number of all. ``state_id`` stays
    the same in this process as long as the diagnostics do. ``is_complete`` is False if they are
    only those of rules on records.
    """

    diagnostics: list[Json]
    lines: dict[int, str]
    line_count: int
    state_id: str
    is_complete: bool = True


async def check_text(
    session: Session,
    document: types.TextDocumentIdentifier,
    listener: FindingsListener = lambda _context, _found, _pending: None,
    *,
    closed: bool = False,
    early: bool = False,
) -> CheckedText:
    """Check all files in a text, for its version at the end of the check.

    The check starts again if a file changes. Meanwhile ``listener`` receives the findings of one
    file so far, and the codes that are still pending.

    Args:
        session: the session.
        document: the text.
        listener: the function that receives findings.
        closed: read the text from disk if the client has not opened it.
        early: apply only rules on records while large files of the compile are being read, because
            the findings of other rules depend on these files.
    """
    with join_check(session, document, listener, closed=closed, early=early) as check:
        return await asyncio.shield(check)


def join_check(
    session: Session,
    document: types.TextDocumentIdentifier,
    listener: FindingsListener,
    *,
    closed: bool = False,
    early: bool = False,
) -> "AbstractContextManager[asyncio.Task[CheckedText]]":
    """Join the check of a text, which ends when all requests have left it; see ``check_text``."""
    file = session.workspace.opened(document.uri)
    path = None if file is None else file.path
    key = document.uri, file, session.selections.of(path, session.settings.check), early
    # The checks of a compile share results. Those of another compile do not wait for them.
    group = document.uri if file is None else session.compile_id(file)
    work = partial(_check, session, document, closed, early)
    return session.foreground.checks.join(key, group, work, listener)


async def _check(
    session: Session,
    document: types.TextDocumentIdentifier,
    closed: bool,  # partial() gives it by position
    early: bool,
    listener: FindingsListener,
) -> CheckedText:
    latest: list[tuple[RequestContext, CheckProgress]] = []

    def check(contexts: Sequence[RequestContext]) -> CheckedText:
        def report(context: RequestContext, progress: CheckProgress) -> None:
            latest[:] = [(context, progress)] if progress.pending else []

        diagnostics: list[Json] = []
        is_complete = True
        for context in contexts:
            if early and context.is_growing:
                is_complete = False
                found = _findings_on_records(context, report)
            else:
                found = _findings(context, report)
            diagnostics += diagnostics_json(context.client, found)
            if failed := session.compile_results.failure(context.file):
                diagnostics.append(failed.diagnostic(context.client, context.file))
        file = session.workspace.opened(document.uri)
        lines = [] if file is None else file.lines
        rows = {one["range"]["start"]["line"] for one in diagnostics}
        texts = {row: lines[row] for row in rows if row < len(lines)}
        return CheckedText(diagnostics, texts, len(lines), state_id(contexts), is_complete)

    async def give_way() -> None:
        if latest:
            context, progress = latest.pop()
            listener(context, progress.findings, progress.pending)
        await session.foreground.give_way()

    checked = await session.answer_text(
        document, check, closed=closed, embedded=True, give_way=give_way
    )
    release_memory()
    return checked


_last_findings = Memo[tuple[Finding, ...]]()  # of a complete check


def known_findings(context: RequestContext) -> Sequence[Finding] | None:
    """Return the findings of a file in line order, if a check has found them; in a reply only."""
    return _last_findings.get(context.file, _state(context))


def all_findings(contexts: Sequence[RequestContext]) -> list[Finding]:
    """Return the findings of all files, each in line order; in a reply only."""
    return [one for context in contexts for one in _findings(context)]


def _findings(
    context: RequestContext,
    report: Callable[[RequestContext, CheckProgress], None] = lambda _context, _progress: None,
) -> Sequence[Finding]:
    known = known_findings(context)
    if known is None:
        known = _found_by(context, selected_rules(context.selection), report)
        _last_findings.keep(context.file, _state(context), known)
    return known


def _findings_on_records(
    context: RequestContext, report: Callable[[RequestContext, CheckProgress], None]
) -> Sequence[Finding]:
    """Return the findings of rules on records that no other finding in the files so far suppresses.

    All codes are pending meanwhile: earlier diagnostics may come from files that are being read.
    """
    rules = selected_rules(context.selection)
    codes = frozenset(rule.code for rule in rules)

    def report_pending(context: RequestContext, progress: CheckProgress) -> None:
        report(context, CheckProgress(progress.findings, codes))

    return _found_by(context, [rule for rule in rules if isinstance(rule, Rule)], report_pending)


def _found_by(
    context: RequestContext,
    rules: Sequence[AnyRule],
    report: Callable[[RequestContext, CheckProgress], None],
) -> tuple[Finding, ...]:
    found: list[Finding] = []
    thresholds = context.selection.thresholds
    for progress in check_by_pace(context.dump, context.file, rules, thresholds):
        found = progress.findings
        report(context, progress)
        checkpoint()
    return tuple(sort_findings(found))


def state_id(contexts: Sequence[RequestContext]) -> str:
    """Return an id that stays the same in this process as long as the findings of files do."""
    return " ".join(_file_state_id(context) for context in contexts)


def _file_state_id(context: RequestContext) -> str:
    number, selection, *files = _state(context)
    failed = context.session.compile_results.failure(context.file)
    compiled = f"/{hash(failed)}" if failed else ""
    return f"{number}-{files}@{context.file.first_line}/{hash(selection)}{compiled}"


def _state(context: RequestContext) -> tuple[object, ...]:
    """Return what the findings of a file depend on; messages contain numbers of lines."""
    files = (*context.dump.files, *context.dump.others)
    versions = ((file.version, file.first_line) for file in files)
    return context.dump.number, context.selection, *versions
