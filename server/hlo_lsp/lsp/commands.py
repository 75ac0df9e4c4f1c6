"""The commands ``hlo.*``."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.checks.check_jobs import CheckJob, FileResult, check_file, check_job, outcome, plan
from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.options import CheckOptions, Selection
from hlo_lsp.display.cards import Card
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.hover.stats import with_times
from hlo_lsp.lsp.client import Client, path_of, rule_places
from hlo_lsp.lsp.progress import RequestFailedError, current_request
from hlo_lsp.lsp.scheduling import read_file, run_in_slices
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.times import path_of as path_of_compile
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.schedule import printed_schedule, schedule_of
from hlo_lsp.reports.summary import summarize
from hlo_lsp.reports.summary_text import SummaryLinks, summary_markdown
from hlo_lsp.reports.timeline import timeline_lines, timeline_of
from hlo_lsp.text.inert import notification_text, printable

T = TypeVar("T")
EXPLAIN_RULE_COMMAND = "hlo.explainRule"


async def explain_rule(server: LanguageServer, client: Client, code: str) -> None:
    """Open the documentation of a rule, or show its explanation in a message.

    The message is for clients that cannot open documents, and for installations without the page.
    """
    rule = explanations().get(code)
    if rule is not None and client.can_show_documents and await _open_rule_page(server, code):
        return
    text = notification_text(f"Unknown rule `{code}`.")
    if rule is not None:
        parts = [f"{rule.code}: {rule.what}", rule.why, rule.remedy]
        text = "\n\n".join(filter(None, parts))
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))


async def _open_rule_page(server: LanguageServer, code: str) -> bool:
    uri, line = rule_places().get(code, ("", 0))
    if not uri:
        return False
    start = types.Position(line, 0)
    params = types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(start, start))
    try:
        return (await server.window_show_document_async(params)).success
    except JsonRpcException:
        return False


INSPECT_COMMAND = "hlo.server.inspect"
CHECK_COMMAND = "hlo.server.check"
SUMMARY_COMMAND = "hlo.server.summary"
TIMELINE_COMMAND = "hlo.server.timeline"
TIME_SUMMARY_COMMAND = "hlo.server.timeSummary"
COMPARE_PROFILES_COMMAND = "hlo.server.compareProfiles"
SUMMARY_OWNERS = 15
_TIMELINE_BUFFERS = 50

LOAD_PROFILE_COMMAND = "hlo.server.loadProfile"
RESTART_COMMAND = "hlo.server.restartIndex"


async def inspect_place(session: Session, uri: str, position: types.Position) -> str:
    """Return the facts of the compile about a place in a file, open or on disk.

    Raises:
        RequestFailedError: there is nothing about the place, or the file is not a dump.
    """

    def card_at(context: RequestContext) -> Card | None:
        found = context.at(position)
        card = None if found is None else hover_card(context.dump, found)
        if found is None or card is None:
            return None
        return with_times(context.dump, found, card, session.times.compute(context.dump))

    card = await answer_with_times(session, uri, position.line, card_at)
    if card is None:
        raise RequestFailedError(f"{uri}: no information at this position")
    from hlo_lsp.display.terminal import card_text  # noqa: PLC0415  # loading rich takes 20 ms

    return card_text(card)


async def summarize_uri(session: Session, uri: str, line: int) -> str:
    """Return the memory summary of the compile of a file as Markdown.

    Raises:
        RequestFailedError: the file is not a dump.
    """

    def reply(context: RequestContext) -> str:
        links = summary_links(context.session, context.dump)
        return "\n".join(summary_markdown(summarize(context.dump), SUMMARY_OWNERS, links)) + "\n"

    return of_dump(uri, await answer_whole_compile(session, uri, line, reply))


def summary_links(session: Session, dump: Compile) -> SummaryLinks | None:
    """Return links to what the summary of a compile names, for clients with a page for it."""
    if not session.client.can_show_summary:
        return None

    def step_uri(step: int) -> str | None:
        file = dump.module_file
        schedule = None if file is None else schedule_of(file.module)
        names = [] if schedule is None else printed_schedule(dump, schedule)[0]
        line = dump.instruction(names[step]) if step < len(names) else None
        return None if line is None else f"{line.file.uri}#L{line.number}"

    return SummaryLinks(SourceFiles(session.settings.source_map).uri, step_uri)


async def timeline_uri(
    session: Session, uri: str, line: int, columns: int, step: int | None
) -> str:
    """Return the timeline of the compile of a file as text.

    Raises:
        RequestFailedError: the file is not a dump.
    """
    found = await answer_whole_compile(
        session, uri, line, lambda one: timeline_of(one.dump, step=step)
    )
    return (
        "\n".join(map(printable, timeline_lines(of_dump(uri, found), columns, _TIMELINE_BUFFERS)))
        + "\n"
    )


async def check_uri(session: Session, uri: str) -> str:
    """Return the findings of a file, or of the files in a folder.

    As on the command line, only ``hlo-lsp.toml`` configures the checks. Files that could not be
    checked are listed at the end.

    Raises:
        RequestFailedError: there is nothing to check.
    """
    path = path_of(uri)
    if path is None:
        results, notes = await _check_unsaved(session, uri), list[str]()
    else:
        results, notes = await _check_path(session, path)
    from hlo_lsp.checks.terminal import findings_text  # noqa: PLC0415  # loading rich takes 20 ms

    text = findings_text([finding for one in results for finding in one.findings])
    if notes and not text:
        raise RequestFailedError(*notes)
    return text + "".join(printable(f"hlo-lsp: {note}") + "\n" for note in notes)


async def answer_whole_compile(
    session: Session, uri: str, line: int, reply: Callable[[RequestContext], T]
) -> list[T]:
    """Return the reply for a line after reading all files of its compile, if it is in a dump."""
    document = types.TextDocumentIdentifier(uri)
    return await session.answer_at(
        document, line, None, reply, whole=True, closed=True, max_wait_seconds=None
    )


async def answer_with_times(
    session: Session, uri: str, line: int, reply: Callable[[RequestContext], T]
) -> T:
    """Return the reply about the compile of a file after its profiles were read.

    Raises:
        RequestFailedError: The file is not a dump.
    """
    await wait_for_profiles(session, types.TextDocumentIdentifier(uri), line)
    return of_dump(uri, await answer_whole_compile(session, uri, line, reply))


async def wait_for_profiles(
    session: Session, document: types.TextDocumentIdentifier, line: int | None
) -> None:
    """Wait until the profiles for the compile of a file are read, if the file is a dump."""

    def path(context: RequestContext) -> Path | None:
        return path_of_compile(context.dump)

    paths = await session.answer_at(document, line, None, path, whole=True, closed=True)
    await session.times.wait(paths)


def of_dump(uri: str, found: list[T]) -> T:
    """Return the only result for a dump.

    Raises:
        RequestFailedError: there is none, because the file is not a dump.
    """
    if not found:
        raise RequestFailedError(f"{uri}: not an HLO module or XLA memory dump")
    return found[0]


async def _check_path(session: Session, path: Path) -> tuple[list[FileResult], list[str]]:
    made = await run_in_slices(partial(plan, [path], CheckOptions()))
    if made.errors:
        raise RequestFailedError(*map(str, made.errors))
    known: dict[CheckJob, list[FileResult]] = {}
    total, done = max(sum(job.size for job in made.jobs), 1), 0
    for job in made.jobs:
        current_request().report(job.files[0].name, 100 * done // total)
        known[job] = await run_in_slices(partial(check_job, job, _job_workspace(session, job)))
        done += job.size
    found = outcome(made, [path], known)
    return found.results, found.notes


async def _check_unsaved(session: Session, uri: str) -> list[FileResult]:
    opened = session.workspace.opened(uri)
    if opened is None:
        raise RequestFailedError(f"{uri}: not on disk and not open in the editor")
    workspace = DumpWorkspace()
    file = _open_copy(workspace, opened)
    await read_file(file)
    if not (file.kind.is_dump or file.kind.has_sections):
        raise RequestFailedError(f"{uri}: not an HLO module or XLA memory dump")
    return [await run_in_slices(partial(check_file, workspace, file, Path(uri), Selection.of([])))]


def _job_workspace(session: Session, job: CheckJob) -> DumpWorkspace:
    """Return the files of a job, as copies where they are open and may change meanwhile."""
    workspace = DumpWorkspace(folders=job.folders())
    names = {name for name, _, _ in job.stamps} | {path.name for path in job.files}
    for file in session.workspace.open_files.values():
        path = file.path
        if path is not None and path.parent == job.files[0].parent and path.name in names:
            _open_copy(workspace, file)
    return workspace


def _open_copy(workspace: DumpWorkspace, file: DumpFile) -> DumpFile:
    return workspace.open(file.uri, file.path, file.document.copy(), file.host)
