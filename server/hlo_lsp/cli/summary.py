"""``hlo-lsp summary``: print where the memory of a program goes."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlo_lsp.cli.dump_jobs import results_at
from hlo_lsp.cli.dumps import current_folder_frames, dumps_with_place, is_log
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.executors import worker_pool
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cli.proving import proving_compiler
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.display.phrases import hosts_note
from hlo_lsp.display.table import markdown_blocks
from hlo_lsp.memory.grouping import GroupKey
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.host_folders import alike_on_hosts, host_of
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.module_names import ModuleIdentity, distinct_titles, module_identity
from hlo_lsp.reports.summary import SummaryOptions, summarize_with_cost, with_proofs
from hlo_lsp.reports.summary_text import (
    small_module_line,
    small_module_lines,
    summary_json,
    summary_lines,
    summary_markdown,
)
from hlo_lsp.text.inert import markdown_code

if TYPE_CHECKING:
    from hlo_lsp.compiling.compiler_process import CompilerProcess


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    logs = [path for path in options.paths if is_log(path)]
    paths = [path for path in options.paths if path not in logs]
    folders = tuple(options.workspace) or current_folder_frames().folders
    frames = FrameChoice(folders, with_libraries=options.frames == "all")
    messages: list[tuple[Compile | None, Any]] = []
    if logs:
        # A late import, because most runs have no log.
        from hlo_lsp.cli.oom import answers_on_logs  # noqa: PLC0415

        messages += answers_on_logs(logs, paths, frames, errors, options)
    joined = [dump for dump, _ in messages if not paths]
    # A job is sent to its worker, so without the paths of all others.
    others = argparse.Namespace(**{**vars(options), "paths": []})
    if options.prove:
        if options.executor is not None:
            raise CommandError("--prove has no effect with --executor")
        options.jobs = 1  # one process compiles all
    with proving_compiler(options) as compiler, worker_pool(options) as workers:
        work = partial(_rendered, others, compiler)
        found = list(work(filter(None, joined), errors))
        found += results_at(
            workers,
            paths,
            errors,
            work,
            unread=frozenset() if options.check else ROLES_WITHOUT_SIZES,
            frames=frames,
        )
    if options.format != "json":
        found = list(_by_host(found))
    titles = distinct_titles([one.module for one in found])
    found = [_titled(one, title, options.format) for one, title in zip(found, titles, strict=True)]
    given = dict.fromkeys(paths)
    names = [next((path for path in one.paths if path in given), None) for one in found]
    large, small = largest_first(found, lambda one: one.size)
    # The file of one module is shown in full, as asked; one with several modules as a folder.
    counts = Counter(names)
    named = {one for one, path in zip(found, names, strict=True) if path and counts[path] == 1}
    in_short = [one for one in small if not options.all and one not in named]
    in_full = [one.full for one in large]
    in_full += [one.full for one in small if options.all or one in named]
    lines = [summary.line for summary in in_short]
    print_answer(
        options.format,
        [
            *(message for _, message in messages),
            *in_full,
            *([small_module_lines(lines)] if lines else []),
        ],
        lambda: {
            "modules": [summary.full for summary in large + small],
            "messages": [message for _, message in messages],
        },
        lambda: chain(
            *(message for _, message in messages),
            *in_full,
            markdown_blocks(small_module_lines(lines)),
        ),
    )
    return print_errors(errors)


@dataclass(frozen=True, slots=True, eq=False)
class _Rendered:
    """The summary of a compile: in full in the output format, and in one line.

    ``host`` is the folder with the files of a host, None without one.
    """

    module: ModuleIdentity
    size: int
    paths: tuple[Path | None, ...]
    line: str
    full: Any
    host: str | None


def _by_host(found: Iterable[_Rendered]) -> Iterator[_Rendered]:
    """Yield the summaries in lines of text, with equal ones of several hosts as one."""
    for same in alike_on_hosts(
        found, lambda summary: summary.host, lambda summary: tuple(summary.full)
    ):
        hosts = [summary.host for summary in same]
        if len({*hosts}) == 1:
            yield from same
            continue
        first, note = same[0], hosts_note(hosts)
        full = [first.full[0] + note, *first.full[1:]]
        paths = tuple(path for summary in same for path in summary.paths)
        yield replace(first, paths=paths, line=first.line + note, full=full)


def _rendered(
    options: argparse.Namespace,
    compiler: "CompilerProcess | None",
    dumps: Iterable[Compile],
    errors: list[str],
) -> Iterator[_Rendered]:
    """Yield the summaries of compiles."""
    for dump, space in dumps_with_place(options, dumps, errors):
        selected = SummaryOptions(
            options.at, space, GroupKey(options.group_by), options.top, options.all
        )
        findings = _findings(dump) if options.check else {}
        summary = summarize_with_cost(dump, selected, options.chip)
        summary = replace(summary, findings=findings)
        if compiler is not None:
            from hlo_lsp.compiling.proofs import prove  # noqa: PLC0415  # as in `cli.proving`

            chip = chip_of(dump, options.chip)
            summary = with_proofs(summary, partial(prove, compiler, dump, chip))
        if options.format == "json":
            full: Any = summary_json(summary, options.top)
        elif options.format == "markdown":
            full = list(summary_markdown(summary, options.top))
        else:
            full = list(summary_lines(summary, options.top))
        paths = tuple(file.path for file in dump.files)
        host = next((host_of(path.parent) for path in paths if path is not None), None)
        module = module_identity(dump)
        yield _Rendered(module, summary.size, paths, small_module_line(summary), full, host)


def _titled(one: _Rendered, title: str, form: str) -> _Rendered:
    """Return a summary with a title that no other one has, in place of the name of the module."""
    name = one.module.name
    line = title + one.line.removeprefix(name)
    if form == "json":
        return replace(one, line=line, full={"name": name, "title": title, **one.full})
    first = one.full[0]
    if form == "markdown":
        first = first.replace(markdown_code(name), markdown_code(title), 1)
    else:
        first = title + first.removeprefix(name)
    return replace(one, line=line, full=[first, *one.full[1:]])


def _findings(dump: Compile) -> dict[str, int]:
    """Return the number of findings by code."""
    # A late import, because only this option needs the rules.
    from hlo_lsp.checks.run import check  # noqa: PLC0415

    found = Counter(finding.code for file in dump.files for finding in check(dump, file))
    return dict(sorted(found.items()))
