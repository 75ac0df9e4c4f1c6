"""Findings of open files: one check for all requests that wait for it, with its first findings."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.catalogue import selected_rules
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.framework.options import Selection
from hlo_lsp.checks.run import CheckProgress, check_by_pace, sort_findings
from hlo_lsp.lsp.garbage_collection import release_memory
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.query_cache import query

FindingsListener = Callable[[list[Finding], frozenset[str]], None]


async def findings(
    context: RequestContext, listener: FindingsListener = lambda _found, _pending: None
) -> list[Finding]:
    """Return the findings of a file in line order, for its text at the end of the check.

    The check starts again if the text changes. Meanwhile ``listener`` receives the findings so far,
    and the codes that are still pending.
    """
    while True:
        known = cached_findings(context)
        if known is not None:
            return known
        with _join_check(context, listener) as work:
            # The text may change before this task runs again, so the loop checks the cache.
            await asyncio.shield(work)


async def findings_until(
    context: RequestContext, is_enough: Callable[[list[Finding]], bool]
) -> list[Finding]:
    """Return the first findings that satisfy ``is_enough``, or all of them.

    A request about one place of a large text does not have to wait for the rest.
    """
    while True:
        known = cached_findings(context)
        if known is not None:
            return known
        early: asyncio.Future[tuple[list[int], list[Finding]]] = asyncio.Future()

        def listener(
            found: list[Finding],
            _: frozenset[str],
            early: "asyncio.Future[tuple[list[int], list[Finding]]]" = early,
        ) -> None:
            if not early.done() and is_enough(found):
                early.set_result((_versions(context), sort_findings(found)))

        with _join_check(context, listener) as work:
            await asyncio.wait((work, early), return_when=asyncio.FIRST_COMPLETED)
        if not early.done():
            work.result()
        elif early.result()[0] == _versions(context) and _is_fresh(context):
            return early.result()[1]


def cached_findings(context: RequestContext) -> list[Finding] | None:
    """Return the findings of a file if they are known for its current text."""
    known = _complete_findings(context.dump).get((context.file, context.selection))
    return known if _is_fresh(context) else None


@query
def _complete_findings(dump: DumpSet) -> dict[tuple[DumpFile, Selection], list[Finding]]:
    """Return a memo of the complete checks of the current texts, by file and selection."""
    for file in (*dump.files, *dump.others):
        file.read()
    return {}


async def findings_of_text(parts: Sequence[RequestContext]) -> list[Finding]:
    """Return the findings of all files in a text, each for its text at the end of the check."""
    while True:
        files = [file for context in parts for file in context.dump.files]
        before = [file.version for file in files]
        found = [one for context in parts for one in await findings(context)]
        if [file.version for file in files] == before and all(file.is_fresh for file in files):
            return found


def state_id(context: RequestContext) -> str:
    """Return an id that stays the same in this process as long as the findings of a file do."""
    versions = ".".join(map(str, _versions(context)))
    selection = hash(context.selection)
    return f"{context.dump.number}-{versions}@{context.file.first_line}/{selection}"


def _join_check(
    context: RequestContext, listener: FindingsListener
) -> "AbstractContextManager[asyncio.Task[list[Finding]]]":
    key = context.dump, context.file, context.selection
    # The checks of a compile share results. Those of another compile do not wait for them.
    return context.session.checks.join(key, context.dump, partial(_run_check, context), listener)


async def _run_check(context: RequestContext, listener: FindingsListener) -> list[Finding]:
    latest: list[CheckProgress] = []

    def check() -> list[Finding]:
        rules, thresholds = selected_rules(context.selection), context.selection.thresholds
        found: list[Finding] = []
        for progress in check_by_pace(context.dump, context.file, rules, thresholds):
            found = progress.findings
            latest[:] = [progress] if progress.pending else []
            checkpoint()
        return sort_findings(found)

    async def give_way() -> None:
        if latest:
            progress = latest.pop()
            listener(progress.findings, progress.pending)
        await context.session.foreground.give_way()

    found = await run_on_compile(context.dump, check, give_way)
    _complete_findings(context.dump)[context.file, context.selection] = found
    release_memory()
    return found


def _is_fresh(context: RequestContext) -> bool:
    return all(file.is_fresh for file in context.dump.files)


def _versions(context: RequestContext) -> list[int]:
    return [file.version for file in (*context.dump.files, *context.dump.others)]
