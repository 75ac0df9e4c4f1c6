"""Findings in files on disk: named ones, or all dumps of folders."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.jobs import Job, plan
from hlo_lsp.checks.folders.told import Told
from hlo_lsp.checks.run import check
from hlo_lsp.checks.wishes.selection import Selection
from hlo_lsp.checks.wishes.wishes import Wishes
from hlo_lsp.model.library import Library
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.text.disk import BinaryFileError, UnreadableError
from hlo_lsp.text.steps import finish


@dataclass(slots=True)
class Checked:
    """A file that was looked at. ``note`` says why it was not, where the user should know.

    ``counting`` is how many of the findings are a reason to fail.
    """

    path: Path
    kind: FileKind = FileKind.OTHER
    findings: list[Told] = field(default_factory=list)
    counting: int = 0
    note: str | None = None

    @property
    def worst(self) -> int:
        """The rank of the worst finding; without one, behind all others."""
        return min((told.severity.rank for told in self.findings), default=len(Severity))


def check_paths(paths: Sequence[Path], wishes: Wishes | None = None) -> Iterator[Checked]:
    """Look at files, and at everything below folders, one compile after the other.

    Errors in settings files are passed over.
    """
    for job in plan(paths, wishes or Wishes()).jobs:
        yield from check_job(job)


def check_job(job: Job) -> list[Checked]:
    """Look at the files of a job.

    A file that was named and cannot be read, or is no dump, is reported; inside a folder whatever
    is no dump is passed over in silence, as a dump folder holds much else.
    """
    library = Library()  # one for each compile: the files before are let go
    return [_checked(library, file, job) for file in job.files]


def _checked(library: Library, path: Path, job: Job) -> Checked:
    named = path in job.named
    try:
        checked = _check_one(library, path, job.selection)
    except UnreadableError as error:
        if isinstance(error, BinaryFileError) and not named:
            return Checked(path)
        return Checked(path, note=str(error))
    if checked.kind is FileKind.OTHER and named:
        empty = not any(library.file(path).lines)
        what = "the file is empty" if empty else "this is no HLO or memory dump"
        checked.note = f"{path}: {what}"
    return checked


def _check_one(library: Library, path: Path, selection: Selection) -> Checked:
    file = library.file(path)
    if file.kind is FileKind.OTHER:
        return Checked(path)
    told: list[Told] = []
    for part in library.parts(file):
        dump = finish(library.set_of(part))
        found = finish(check(dump, part, selection.rules, selection.thresholds))
        told += map(Told.of, found)
    counting = sum(selection.counts(one.severity) for one in told)
    return Checked(path, file.kind, told, counting)
