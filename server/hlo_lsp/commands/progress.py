"""How far a long check is, on a terminal."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hlo_lsp.analysis.cards.card import counted
from hlo_lsp.checks.folders.folder import Checked
from hlo_lsp.checks.folders.jobs import Job

_Results = Iterable[tuple[Job, list[Checked]]]


def shown(results: _Results, jobs: int, size: int) -> Iterator[tuple[Job, list[Checked]]]:
    """The same results, with a bar on standard error if that is a terminal.

    ``size`` is that of all jobs, in bytes: that is what takes time, and not their number.
    """
    console = Console(stderr=True)
    if not console.is_terminal or not jobs:
        yield from results
        return
    columns = (
        TextColumn("{task.fields[done]} of {task.fields[all]}"),
        BarColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=size, done=0, all=counted(jobs, "compile"))
        for done, (job, found) in enumerate(results, 1):
            progress.update(task, advance=job.size, done=done)
            yield job, found
