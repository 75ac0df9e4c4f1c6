"""The outcome of a check run: results in the order in which they are printed."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.checks.folders.folder import FileResult
from hlo_lsp.checks.folders.jobs import Job, Plan
from hlo_lsp.syntax.file_kinds import FileKind


@dataclass(frozen=True, slots=True)
class Outcome:
    """The checked files, those with the most severe findings first.

    ``notes`` list files and folders that could not be checked or have no dump.
    """

    results: list[FileResult]
    notes: list[str]


def outcome(plan: Plan, paths: Sequence[Path], known: Mapping[Job, list[FileResult]]) -> Outcome:
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
        checked.kind is not FileKind.OTHER and os.path.abspath(checked.path).startswith(start)
        for checked in results
    )
