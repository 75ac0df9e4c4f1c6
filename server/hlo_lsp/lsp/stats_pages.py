"""The commands whose results are pages of tables: of a compile, and of two profiles compared."""

from functools import partial
from pathlib import Path

from hlo_lsp.lsp.client import path_of
from hlo_lsp.lsp.commands import answer_with_times, summary_links
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.source import FrameChoice, SourceFiles, SourceMap
from hlo_lsp.profiles.files import profile_run, read_profile
from hlo_lsp.profiles.modules import compiles_in
from hlo_lsp.reports.profile_comparison import profile_comparison_markdown
from hlo_lsp.reports.stats_summary import stats_summary_markdown
from hlo_lsp.stats.measured_programs import join
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import markdown_code, markdown_text
from hlo_lsp.text.remote import shown

_MAX_ROWS = 20  # of a table


async def summarize_time(session: Session, uri: str, line: int) -> str:
    """Return the time and the cost of the compile of a file as Markdown.

    Raises:
        RequestFailedError: The file is not a dump, or its compile has no module text.
    """

    def reply(context: RequestContext) -> str | None:
        table = session.times.compute(context.dump)
        if table.cost is None and table.measured is None:
            return None
        links = summary_links(session, context.dump)
        return "\n".join(stats_summary_markdown(context.dump, table, _MAX_ROWS, links)) + "\n"

    text = await answer_with_times(session, uri, line, reply)
    if text is None:
        raise RequestFailedError("no module text beside this file, so the time is unknown")
    return text


async def compare_profile_files(session: Session, before: str, after: str) -> str:
    """Return what changed between the profiles with two URIs as Markdown.

    Raises:
        RequestFailedError: A file cannot be read, or is not a profile.
    """
    paths = [path_of(before), path_of(after)]
    local = [path for path in paths if path is not None]
    if len(local) < len(paths):
        raise RequestFailedError("a profile must be a file on disk")
    work = partial(_compare, local, session.workspace.frames, session.settings.source_map)
    try:
        return await run_in_process(work)
    except UnreadableError as error:
        raise RequestFailedError(str(error)) from None


def _compare(paths: list[Path], frames: FrameChoice, source_map: SourceMap) -> str:
    """Return what changed between two profiles.

    Raises:
        UnreadableError: One cannot be read, or no program ran in it.
    """
    head = ["# Profile comparison", ""]
    sides = []
    for title, path in zip(("Before", "After"), paths, strict=True):
        run = profile_run(path)
        profile = read_profile(run)
        joined = join(profile, compiles_in(profile, path, frames))
        if not joined.programs:
            raise UnreadableError(f"{shown(path)}: no instruction of XLA ran in this profile")
        sides.append(joined)
        newest = f", the newest of {run.others + 1:,} runs" if run.others else ""
        head.append(f"- {title}: {markdown_code(shown(run.path))}{newest}")
        head += (f"- {markdown_text(damage)}" for damage in dict.fromkeys(profile.damages))
    before, after = sides
    link = SourceFiles(source_map).uri
    page = profile_comparison_markdown(before, after, _MAX_ROWS, link)
    return "\n".join([*head, *page]) + "\n"
