"""What was found in the files of a plan, in the order in which it is told."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.checks.folders.folder import Checked
from hlo_lsp.checks.folders.jobs import Job, Plan
from hlo_lsp.syntax.file_kinds import FileKind


@dataclass(frozen=True, slots=True)
class Outcome:
    """The files that were looked at, those with the worst findings first.

    ``notes`` say what could not be looked at, or was no dump where one was expected.
    """

    results: list[Checked]
    notes: list[str]


def outcome(plan: Plan, paths: Sequence[Path], known: Mapping[Job, list[Checked]]) -> Outcome:
    """Put in order what is ``known`` of all jobs of a plan; ``paths`` are those it was made for."""
    place = {file: number for number, file in enumerate(plan.files)}
    results = [checked for job in plan.jobs for checked in known[job]]
    # The worst first: of hundreds of dumps it is the broken one that a reader looks for.
    results.sort(key=lambda checked: (checked.worst, place[checked.path]))
    notes = [*plan.closed.values()]
    notes += [checked.note for checked in results if checked.note is not None]
    notes += [f"{path}: there is no HLO or memory dump in this folder"
              for path in paths if os.path.isdir(path) and path not in plan.closed
              and not _holds_dump(path, results)]  # fmt: skip
    return Outcome(results, notes)


def _holds_dump(folder: Path, results: Iterable[Checked]) -> bool:
    start = os.path.join(os.path.abspath(folder), "")
    return any(
        checked.kind is not FileKind.OTHER and os.path.abspath(checked.path).startswith(start)
        for checked in results
    )
