"""``hlo-lsp check``: check dumps for inconsistencies."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from rich.console import Console

from hlo_lsp.checks.check_jobs import (
    CheckJob,
    FileResult,
    FindingSummary,
    Plan,
    check_job,
    lost_job,
    outcome,
    plan,
)
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.finding_formats import (
    count_json,
    counts_of,
    finding_json,
    github_annotation,
    sarif,
)
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import CheckOptions, OptionError
from hlo_lsp.checks.terminal import print_findings, print_statistics
from hlo_lsp.cli.executors import worker_pool
from hlo_lsp.cli.inert_streams import unguarded_output
from hlo_lsp.cli.printing import print_answer, print_errors, print_json
from hlo_lsp.cli.progress import with_progress_bar
from hlo_lsp.cli.workers import Work, WorkerPool
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Table
from hlo_lsp.display.terminal import make_console
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.remote import is_remote

_PROBLEM_SEVERITIES = {Severity.ERROR, Severity.WARNING}  # The others are advice.


def print_report(
    results: Sequence[FileResult], notes: Sequence[str], form: str, *, statistics: bool
) -> None:
    """Print the findings, or their counts, to standard output in one of the formats."""
    findings = [finding for checked in results for finding in checked.findings]
    if form == "text":
        _print_text(results, findings, statistics=statistics)
    elif form == "github":
        for finding in findings:
            print(github_annotation(finding), file=unguarded_output())
    elif form == "markdown":
        print_answer(form, [[_table(findings, statistics=statistics)]], dict)
    elif form == "sarif":
        print_json(sarif(findings, notes))
    elif statistics:
        print_json({"counts": [count_json(one) for one in counts_of(findings)]})
    else:
        print_json({"findings": [finding_json(finding) for finding in findings]})


def _table(findings: Sequence[FindingSummary], *, statistics: bool) -> Table:
    if statistics:
        counts = counts_of(findings)
        rows = [
            (f"{one.count:,}", one.severity.value, one.code, f"{one.files:,}") for one in counts
        ]
        return Table((">findings", "severity", "code", ">files"), rows)
    titles = ("place", "severity", "message", "code")
    places = [(finding, finding.spot) for finding in findings]
    return Table(
        titles,
        [
            (f"{spot.path}:{spot.line}", finding.severity.value, finding.message, finding.code)
            for finding, spot in places
        ],
    )


def _print_text(
    results: Sequence[FileResult], findings: Sequence[FindingSummary], *, statistics: bool
) -> None:
    console = make_console()
    if not findings:
        if sys.stdout.isatty():
            print(f"no findings in {_file_count(results)}", file=sys.stderr)
        return
    if statistics:
        print_statistics(console, counts_of(findings))
    else:
        print_findings(console, findings)
    sys.stdout.flush()  # The summary has to come last, also if both go to one file.
    print(_summary_line(results, findings), file=sys.stderr)


def _summary_line(results: Sequence[FileResult], findings: Sequence[FindingSummary]) -> str:
    with_findings = sum(bool(checked.findings) for checked in results)
    problems = sum(finding.severity in _PROBLEM_SEVERITIES for finding in findings)
    advice = len(findings) - problems
    what = [count_noun(problems, "problem")] if problems else []
    what += [f"{count_noun(advice, 'piece')} of advice"] if advice else []
    return f"{' and '.join(what)} in {with_findings} of {_file_count(results)}"


def _file_count(results: Sequence[FileResult]) -> str:
    dumps = sum(checked.kind.is_dump or checked.kind.has_sections for checked in results)
    return count_noun(dumps, "file")


_WATCH_INTERVAL_SECONDS = 1.0
KnownResults = dict[CheckJob, list[FileResult]]


def watch(
    make_plan: Callable[[], Plan],
    check_plan: Callable[[Plan, KnownResults], object],
    pause: Callable[[], None] = lambda: time.sleep(_WATCH_INTERVAL_SECONDS),
) -> None:
    """Check at the start and after changes, until Ctrl-C.

    Files that are being written are checked once they are unchanged between two intervals.

    Args:
        make_plan: Returns the current plan.
        check_plan: Checks a plan. It receives the results of unchanged jobs and adds the others.
        pause: Waits for one interval.
    """
    known: KnownResults = {}
    checked_plan: Plan | None = None
    current = make_plan()
    try:
        while True:
            if current != checked_plan:
                Console().clear()
                check_plan(current, known)
                checked_plan = current
                known = {job: known[job] for job in current.jobs if job in known}
                files = count_noun(len(current.files), "file")
                print(f"Watching {files}. Press Ctrl-C to stop.", file=sys.stderr)
            pause()
            current = _wait_until_stable(make_plan, pause, checked_plan)
    except KeyboardInterrupt:
        return


def _wait_until_stable(
    make_plan: Callable[[], Plan], pause: Callable[[], None], checked_plan: Plan
) -> Plan:
    current = make_plan()
    while current != checked_plan:
        pause()
        next_plan = make_plan()
        if next_plan == current:
            break
        current = next_plan
    return current


_FINDINGS_STATUS = 1


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    check_options, errors = CheckOptions.of(
        {
            "select": _split_codes(options.select),
            "ignore": _split_codes(options.ignore) or [],
            "severity": options.severity,
            "budget": [_budget(options.budgets)] if options.budgets else [],
        }
    )
    check_options = replace(check_options, thresholds={"with_negligible": options.all})
    messages = [
        f"--{' '.join(error.keys)}: {error.message}{_rule_list_hint(error)}" for error in errors
    ]
    if not options.paths:
        messages.append("the following arguments are required: PATH")
    if options.watch and (options.format != "text" or options.output is not None):
        messages.append("--watch requires --format text")
    if options.watch and any(map(is_remote, options.paths)):
        messages.append("--watch requires local paths")
    if options.statistics and options.format not in {"text", "json"}:
        messages.append("--statistics requires --format text or json")
    if messages:
        return print_errors(messages)
    with worker_pool(options) as workers:
        make_plan = partial(plan, options.paths, check_options)
        check_plan = partial(_check_plan, workers, options)
        if options.watch:
            watch(make_plan, check_plan)
            return 0
        return check_plan(make_plan(), {})


def _check_plan(
    workers: WorkerPool, options: argparse.Namespace, current: Plan, known: KnownResults
) -> int:
    """Run the jobs of a plan that have no results yet, and print all findings."""
    if not all(error.is_warning for error in current.errors):
        return print_errors(map(str, current.errors))
    if not known:  # once, also with --watch
        print_errors(map(str, current.errors))
    if _lacks_budgets(options) and not any(one for one, _ in current.budgets.values()):
        where = "in the folder of a dump, or above it"
        return print_errors([f"no budget is set: there is no {CONFIG_FILE_NAME} with one {where}"])
    pending = [job for job in current.jobs if job not in known]
    for job, results in with_progress_bar(workers, pending, Work(check_job, lost_job)):
        for checked, path in zip(results, job.files, strict=True):
            checked.path = path  # which other processes have copied
        known[job] = results
    found = outcome(current, options.paths, known)
    print_report(found.results, found.notes, options.format, statistics=options.statistics)
    status = print_errors(found.notes)
    if problem := _unchecked_memory(options, found.results):
        return print_errors([problem])
    if any(checked.counting for checked in found.results):
        return status if options.exit_zero else _FINDINGS_STATUS
    return status


def _budget(settings: Sequence[str]) -> dict[str, object]:
    """Return a budget of ``KEY=VALUE``; a number is that of bytes, a share, or seconds."""
    found: dict[str, object] = {}
    for key, _, value in (setting.partition("=") for setting in settings):
        with suppress(ValueError):
            found[key] = int(value) if value.isdecimal() else float(value)
            continue
        found[key] = value.split(",") if key in {"forbidden", "donated"} else value
    return found


def _unchecked_memory(options: argparse.Namespace, results: Sequence[FileResult]) -> str | None:
    """Return why a budget for memory could not be violated: no file states any."""
    keys = {"peak", "total", "padding", "constant"} & _budget(options.budgets).keys()
    kinds = (checked.kind for checked in results)
    if not keys or any(kind is FileKind.ASSIGNMENT or kind.has_sections for kind in kinds):
        return None
    return f"the budget for {', '.join(sorted(keys))} is not checked: there is no buffer assignment"


def _lacks_budgets(options: argparse.Namespace) -> bool:
    """Return whether budgets are selected by name but not set: nothing would be checked."""
    return not options.budgets and any(
        word.startswith("budget") for word in _split_codes(options.select) or ()
    )


def _split_codes(lists: Sequence[str] | None) -> list[str] | None:
    """Return the codes of ``--select a,b --select c``, or None if the option is absent."""
    if lists is None:
        return None
    return [word.strip() for text in lists for word in text.split(",") if word.strip()]


def _rule_list_hint(error: OptionError) -> str:
    return "" if "did you mean" in error.message else "; `hlo-lsp check --explain` lists all rules"
