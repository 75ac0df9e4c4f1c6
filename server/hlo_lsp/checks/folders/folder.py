"""Findings in files on disk: named ones, or all dumps of folders."""

import logging
from dataclasses import dataclass, field
from pathlib import Path

from hlo_lsp.checks.config.selection import Selection
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.jobs import Job
from hlo_lsp.checks.folders.told import Told
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import BinaryFileError, UnreadableError

logger = logging.getLogger(__name__)

# Under such names a dump may have lost its first line. Sources of tests that hold one do not.
_USUAL_ENDINGS = frozenset({".txt", ".hlo", ".log", ""})


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


def check_job(job: Job) -> list[Checked]:
    """Look at the files of a job.

    A file that was named and cannot be read, or is no dump, is reported; inside a folder whatever
    is no dump is passed over in silence, as a dump folder holds much else.
    """
    return job_checked(job, DumpWorkspace())  # the files of the compile before are let go


def job_checked(job: Job, library: DumpWorkspace) -> list[Checked]:
    """The same, of the files as they are in a library: some may be open there."""
    results = []
    for file in job.files:
        checked = _checked(library, file, job)
        results.append(checked)
    return results


def _checked(library: DumpWorkspace, path: Path, job: Job) -> Checked:
    named = path in job.named
    try:
        file = library.known_file(path)
        is_dump = file.kind is not FileKind.OTHER and (named or _is_dump_by_itself(file, path))
        checked = Checked(path)
        if is_dump:
            checked = file_checked(library, file, path, job.selection)
    except UnreadableError as error:
        if isinstance(error, BinaryFileError) and not named:
            return Checked(path)
        return Checked(path, note=str(error))
    except Exception as error:  # a fault of ours with one file must not hide all others
        logger.info("%s", path, exc_info=True)
        fault = f"the checker failed on this file ({type(error).__name__}: {error})"
        return Checked(path, note=f"{path}: {fault}; please report it")
    if checked.kind is FileKind.OTHER and named:
        empty = not any(library.file(path).lines)
        what = "the file is empty" if empty else "this is no HLO or memory dump"
        checked.note = f"{path}: {what}"
    return checked


def _is_dump_by_itself(file: DumpFile, path: Path) -> bool:
    """Whether a file that nobody has named is a dump, and does not only hold one further down."""
    if path.suffix in _USUAL_ENDINGS:
        return True
    first = next(filter(str.strip, file.lines), "")
    return detect_file_kind([first]) is not FileKind.OTHER


def file_checked(library: DumpWorkspace, file: DumpFile, path: Path, chosen: Selection) -> Checked:
    """Look at a file, read already, and all files in its text."""
    told: list[Told] = []
    for part in library.known_parts(file):
        dump = library.set_of(part)
        found = check(dump, part, chosen.rules, chosen.thresholds)
        told += map(Told.of, found)
    counting = sum(chosen.counts(one.severity) for one in told)
    return Checked(path, file.kind, told, counting)
