"""How far a long check is, on a terminal."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hlo_lsp.checks.config.options import CheckOptions, OptionError
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.folder import Checked
from hlo_lsp.checks.folders.jobs import Job, Plan, plan
from hlo_lsp.checks.folders.outcome import outcome
from hlo_lsp.checks.folders.told import Told
from hlo_lsp.checks.output.formats import count_json, counts_of, finding_json, workflow_command
from hlo_lsp.checks.output.sarif import sarif
from hlo_lsp.cli.workers import WorkerPool
from hlo_lsp.lsp.terminal import make_console, print_finding, print_statistics
from hlo_lsp.model.card import count_noun
from hlo_lsp.syntax.file_kinds import FileKind

_Results = Iterable[tuple[Job, list[Checked]]]


def with_progress_bar(
    results: _Results, jobs: int, size: int
) -> Iterator[tuple[Job, list[Checked]]]:
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
        task = progress.add_task("", total=size, done=0, all=count_noun(jobs, "compile"))
        for done, (job, found) in enumerate(results, 1):
            progress.update(task, advance=job.size, done=done)
            yield job, found


FORMATS = ("text", "json", "sarif", "github")
_PROBLEM_SEVERITIES = {Severity.ERROR, Severity.WARNING}  # the rest is advice


def print_report(
    results: Sequence[Checked], notes: Sequence[str], form: str, *, statistics: bool
) -> None:
    """Print all findings to standard output in one of the formats, or how many there are."""
    findings = [told for checked in results for told in checked.findings]
    if form == "text":
        _print_text(results, findings, statistics=statistics)
    elif form == "github":
        for told in findings:
            print(workflow_command(told))
    elif form == "sarif":
        print(json.dumps(sarif(findings, notes), indent=1))
    elif statistics:
        print(json.dumps([count_json(one) for one in counts_of(findings)]))
    else:
        print(json.dumps([finding_json(told) for told in findings]))


def _print_text(results: Sequence[Checked], findings: Sequence[Told], *, statistics: bool) -> None:
    console = make_console()
    if not findings:
        return
    if statistics:
        print_statistics(console, counts_of(findings))
    for told in () if statistics else findings:
        print_finding(console, told)
    sys.stdout.flush()  # the summary comes last, also where both go to one file
    print(_summary_line(results, findings), file=sys.stderr)


def _summary_line(results: Sequence[Checked], findings: Sequence[Told]) -> str:
    looked_at = sum(checked.kind is not FileKind.OTHER for checked in results)
    with_findings = sum(bool(checked.findings) for checked in results)
    problems = sum(told.severity in _PROBLEM_SEVERITIES for told in findings)
    advice = len(findings) - problems
    what = [count_noun(problems, "problem")] if problems else []
    what += [f"{count_noun(advice, 'piece')} of advice"] if advice else []
    return f"{' and '.join(what)} in {with_findings} of {count_noun(looked_at, 'file')}"


_WATCH_INTERVAL_SECONDS = 1.0  # seconds between two looks at the names and times of files
KnownResults = dict[Job, list[Checked]]


def watch(
    planned: Callable[[], Plan],
    look: Callable[[Plan, KnownResults], object],
    pause: Callable[[], None] = lambda: time.sleep(_WATCH_INTERVAL_SECONDS),
) -> None:
    """Call ``look`` at the beginning and after changes, until ctrl-C.

    It is given what was found before, and adds what it finds. Files that are being written are
    left to grow until they stay the same between two pauses.
    """
    known: KnownResults = {}
    shown: Plan | None = None
    made = planned()
    try:
        while True:
            if made != shown:
                Console().clear()
                look(made, known)
                shown = made
                known = {job: known[job] for job in made.jobs if job in known}
                files = count_noun(len(made.files), "file")
                print(f"watching {files}; ctrl-C ends", file=sys.stderr)
            pause()
            made = _wait_until_stable(planned, pause, shown)
    except KeyboardInterrupt:
        return


def _wait_until_stable(planned: Callable[[], Plan], pause: Callable[[], None], shown: Plan) -> Plan:
    made = planned()
    while made != shown:
        pause()
        later = planned()
        if later == made:
            break
        made = later
    return made


_FINDINGS_STATUS = 1
_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Print what is found; the status says whether that counts, or that a path is no good."""
    wishes, complaints = CheckOptions.of(
        {
            "select": _split_codes(options.select),
            "ignore": _split_codes(options.ignore) or [],
            "severity": options.severity,
        }
    )
    refused = [f"--{complaint.keys[0]}: {complaint.message}{_rule_list_hint(complaint)}"
               for complaint in complaints]  # fmt: skip
    if options.watch and options.format != "text":
        refused.append("--watch goes with --format text")
    if options.statistics and options.format not in {"text", "json"}:
        refused.append("--statistics goes with --format text or json")
    if refused:
        return _print_errors(refused)
    paths = [Path(path) for path in options.paths]
    with WorkerPool(options.jobs) as workers:
        if options.watch:
            watch(lambda: plan(paths, wishes), lambda made, known: _check_plan(
                workers, paths, made, known, options))  # fmt: skip
            return 0
        made = plan(paths, wishes)
        return _check_plan(workers, paths, made, {}, options)


def _check_plan(
    workers: WorkerPool,
    paths: Sequence[Path],
    made: Plan,
    known: dict[Job, list[Checked]],
    options: argparse.Namespace,
) -> int:
    """Do what of a plan is not done yet, and print all of it."""
    if made.errors:
        return _print_errors(str(error) for error in made.errors)
    left = [job for job in made.jobs if job not in known]
    size = sum(job.size for job in left)
    known.update(with_progress_bar(workers.results(left), len(left), size))
    found = outcome(made, paths, known)
    print_report(found.results, found.notes, options.format, statistics=options.statistics)
    status = _print_errors(found.notes) if found.notes else 0
    if any(checked.counting for checked in found.results):
        return status if options.exit_zero else _FINDINGS_STATUS
    return status


def _split_codes(lists: Sequence[str] | None) -> list[str] | None:
    """The codes of ``--select a,b --select c``; None where the option was not given."""
    if lists is None:
        return None
    return [word.strip() for text in lists for word in text.split(",") if word.strip()]


def _rule_list_hint(complaint: OptionError) -> str:
    return "" if "did you mean" in complaint.message else "; `hlo-lsp rule` lists them"


def _print_errors(messages: Iterable[str]) -> int:
    for message in messages:
        print(f"hlo-lsp: {message}", file=sys.stderr)
    return _USAGE_ERROR_STATUS
