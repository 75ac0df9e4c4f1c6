"""Findings without references to their files, which are large."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hlo_lsp.checks.catalogue import Selection
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.folders.jobs import CheckJob, Plan
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import BinaryFileError, UnreadableError


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of one line: line and columns from 1, in code points, the end exclusive."""

    path: str
    line: int
    column: int
    end_column: int

    @classmethod
    def of(cls, place: Place) -> "Spot":
        """Return the spot of a place in the text of the file on disk."""
        return cls(place.file.label, place.number, place.start + 1, place.end + 1)


@dataclass(frozen=True, slots=True)
class RelatedSpot:
    """A second spot that a finding refers to."""

    spot: Spot
    message: str


@dataclass(frozen=True, slots=True)
class FindingSummary:
    """A finding with spots instead of places, so that it can outlive its file."""

    code: str
    severity: Severity
    spot: Spot
    message: str
    related: tuple[RelatedSpot, ...] = ()

    @classmethod
    def of(cls, finding: Finding) -> "FindingSummary":
        """Return the report of a finding."""
        related = (RelatedSpot(Spot.of(other.place), other.message) for other in finding.related)
        spot = Spot.of(finding.place)
        return cls(finding.code, finding.severity, spot, finding.message, tuple(related))


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


def check_job(job: CheckJob) -> list[FileResult]:
    """Check the files of a job in a new workspace, which frees the files of earlier jobs.

    A file that the user named is reported if it is unreadable or not a dump. In a folder, files
    that are not dumps are skipped, because dump folders contain other files too.
    """
    return job_checked(job, DumpWorkspace())


def job_checked(job: CheckJob, library: DumpWorkspace) -> list[FileResult]:
    """Check the files of a job as they are in a workspace, where some may be open."""
    results = []
    for file in job.files:
        checked = _checked(library, file, job)
        results.append(checked)
    return results


def _checked(library: DumpWorkspace, path: Path, job: CheckJob) -> FileResult:
    named = path in job.named
    try:
        file = library.known_file(path)
        is_dump = file.kind.is_dump and (named or _is_dump_by_itself(file, path))
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
    if not checked.kind.is_dump and named:
        empty = not any(library.file(path).lines)
        what = "the file is empty" if empty else "not an HLO module or XLA memory dump"
        checked.note = f"{path}: {what}"
    return checked


def _is_dump_by_itself(file: DumpFile, path: Path) -> bool:
    """Return True if a file is a dump from its first line, or has a usual dump name."""
    if path.suffix in _USUAL_ENDINGS:
        return True
    first = next(filter(str.strip, file.lines), "")
    return detect_file_kind([first]).is_dump


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """The checked files, those with the most severe findings first.

    ``notes`` list files and folders that could not be checked or have no dump.
    """

    results: list[FileResult]
    notes: list[str]


def outcome(
    plan: Plan, paths: Sequence[Path], known: Mapping[CheckJob, list[FileResult]]
) -> Outcome:
    """Return the outcome of a plan for ``paths``, from the ``known`` results of all its jobs."""
    place = {file: number for number, file in enumerate(plan.files)}
    results = [checked for job in plan.jobs for checked in known[job]]
    # The most severe come first: among hundreds of dumps, a reader looks for the broken one.
    results.sort(key=lambda checked: (checked.worst, place[checked.path]))
    notes = [*plan.closed.values()]
    notes += [checked.note for checked in results if checked.note is not None]
    notes += [f"{path}: no HLO module or XLA memory dump in this folder"
              for path in paths if os.path.isdir(path) and path not in plan.closed
              and not _holds_dump(path, results)]  # fmt: skip
    return Outcome(results, notes)


def _holds_dump(folder: Path, results: Iterable[FileResult]) -> bool:
    start = os.path.join(os.path.abspath(folder), "")
    return any(
        checked.kind.is_dump and os.path.abspath(checked.path).startswith(start)
        for checked in results
    )
