"""``hlo-lsp check``."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from hlo_lsp.checks.folders.folder import Checked
from hlo_lsp.checks.folders.jobs import Job, Plan, plan
from hlo_lsp.checks.folders.outcome import outcome
from hlo_lsp.checks.wishes.wishes import Complaint, Wishes
from hlo_lsp.commands.output import print_report
from hlo_lsp.commands.progress import shown
from hlo_lsp.commands.watch import watch
from hlo_lsp.commands.workers import Workers

_FOUND = 1
_WRONG_USAGE = 2


def run(options: argparse.Namespace) -> int:
    """Print what is found; the status says whether that counts, or that a path is no good."""
    wishes, complaints = Wishes.of(
        {
            "select": _words(options.select),
            "ignore": _words(options.ignore) or [],
            "severity": options.severity,
        }
    )
    refused = [f"--{complaint.keys[0]}: {complaint.message}{_hint(complaint)}"
               for complaint in complaints]  # fmt: skip
    if options.watch and options.format != "text":
        refused.append("--watch goes with --format text")
    if options.statistics and options.format not in {"text", "json"}:
        refused.append("--statistics goes with --format text or json")
    if refused:
        return _complain(refused)
    paths = [Path(path) for path in options.paths]
    with Workers(options.jobs) as workers:
        if options.watch:
            watch(lambda: plan(paths, wishes), lambda made, known: _look(
                workers, paths, made, known, options))  # fmt: skip
            return 0
        made = plan(paths, wishes)
        return _look(workers, paths, made, {}, options)


def _look(
    workers: Workers,
    paths: Sequence[Path],
    made: Plan,
    known: dict[Job, list[Checked]],
    options: argparse.Namespace,
) -> int:
    """Do what of a plan is not done yet, and print all of it."""
    if made.errors:
        return _complain(str(error) for error in made.errors)
    left = [job for job in made.jobs if job not in known]
    size = sum(job.size for job in left)
    known.update(shown(workers.results(left), len(left), size))
    found = outcome(made, paths, known)
    print_report(found.results, found.notes, options.format, statistics=options.statistics)
    status = _complain(found.notes) if found.notes else 0
    if any(checked.counting for checked in found.results):
        return status if options.exit_zero else _FOUND
    return status


def _words(lists: Sequence[str] | None) -> list[str] | None:
    """The codes of ``--select a,b --select c``; None where the option was not given."""
    if lists is None:
        return None
    return [word.strip() for text in lists for word in text.split(",") if word.strip()]


def _hint(complaint: Complaint) -> str:
    return "" if "did you mean" in complaint.message else "; `hlo-lsp rule` lists them"


def _complain(messages: Iterable[str]) -> int:
    for message in messages:
        print(f"hlo-lsp: {message}", file=sys.stderr)
    return _WRONG_USAGE
