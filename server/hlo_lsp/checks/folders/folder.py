"""Findings in files on disk: named ones, or all dumps of folders."""

import logging
from dataclasses import dataclass, field
from pathlib import Path

from hlo_lsp.checks.config.selection import Selection
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.finding_summary import FindingSummary
from hlo_lsp.checks.folders.jobs import Job
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import BinaryFileError, UnreadableError

logger = logging.getLogger(__name__)

# A file with one of these endings may be a dump that lost its first line. A file with another one,
# such as the source of a test, may merely contain a dump and counts only if it begins with it.
_USUAL_ENDINGS = frozenset({".txt", ".hlo", ".log", ""})


@dataclass(slots=True)
class FileResult:
    """The result of checking one file.

    ``counting`` is the number of findings that cause a failure. ``note`` is the reason why the file
    could not be checked, or None.
    """

    path: Path
    kind: FileKind = FileKind.OTHER
    findings: list[FindingSummary] = field(default_factory=list)
    counting: int = 0
    note: str | None = None

    @property
    def worst(self) -> int:
        """The rank of the most severe finding; without findings, the number of severities."""
        return min((finding.severity.rank for finding in self.findings), default=len(Severity))


def check_job(job: Job) -> list[FileResult]:
    """Check the files of a job in a new workspace, which frees the files of earlier jobs.

    A file that the user named is reported if it is unreadable or not a dump. In a folder, files
    that are not dumps are skipped, because dump folders contain other files too.
    """
    return job_checked(job, DumpWorkspace())


def job_checked(job: Job, library: DumpWorkspace) -> list[FileResult]:
    """Check the files of a job as they are in a workspace, where some may be open."""
    results = []
    for file in job.files:
        checked = _checked(library, file, job)
        results.append(checked)
    return results


def _checked(library: DumpWorkspace, path: Path, job: Job) -> FileResult:
    named = path in job.named
    try:
        file = library.known_file(path)
        is_dump = file.kind is not FileKind.OTHER and (named or _is_dump_by_itself(file, path))
        checked = FileResult(path)
        if is_dump:
            checked = file_checked(library, file, path, job.selection)
    except UnreadableError as error:
        if isinstance(error, BinaryFileError) and not named:
            return FileResult(path)
        return FileResult(path, note=str(error))
    except Exception as error:  # an internal error must not hide the results of other files
        logger.info("%s", path, exc_info=True)
        fault = f"the checker failed on this file ({type(error).__name__}: {error})"
        return FileResult(path, note=f"{path}: {fault}; please report it")
    if checked.kind is FileKind.OTHER and named:
        empty = not any(library.file(path).lines)
        what = "the file is empty" if empty else "not an HLO module or XLA memory dump"
        checked.note = f"{path}: {what}"
    return checked


def _is_dump_by_itself(file: DumpFile, path: Path) -> bool:
    """Return True if a file is a dump from its first line, or has a usual dump name."""
    if path.suffix in _USUAL_ENDINGS:
        return True
    first = next(filter(str.strip, file.lines), "")
    return detect_file_kind([first]) is not FileKind.OTHER


def file_checked(
    library: DumpWorkspace, file: DumpFile, path: Path, chosen: Selection
) -> FileResult:
    """Check a file that has been read, and all sections in it."""
    findings: list[FindingSummary] = []
    for part in library.known_parts(file):
        dump = library.set_of(part)
        found = check(dump, part, chosen.rules, chosen.thresholds)
        findings += map(FindingSummary.of, found)
    counting = sum(chosen.counts(one.severity) for one in findings)
    return FileResult(path, file.kind, findings, counting)
