"""``hlo-lsp run``: run a program, dump what it compiles, and show where its memory goes."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.oom import NoMessageError, report_of_log
from hlo_lsp.cli.printing import make_folder
from hlo_lsp.cli.program_run import (
    FileStamps,
    dump_flags,
    dump_folder,
    file_stamps,
    run_program,
    written_dumps,
)
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import text_lines
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.modules import CompiledModule, compiled_module, modules_content, sorted_by_name
from hlo_lsp.reports.oom_report import oom_lines
from hlo_lsp.reports.summary import SummaryOptions, summarize_with_cost
from hlo_lsp.reports.summary_text import summary_lines
from hlo_lsp.text.disk import UnreadableError, decode
from hlo_lsp.text.inert import printable


def run(options: argparse.Namespace) -> int:
    """Run the program, print the summary on standard error, and return the program's status."""
    command = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not command:
        raise CommandError("no program: write it after --")
    if options.fit is not None and not options.each:
        raise CommandError("--fit needs --each")
    flags = os.environ.get("XLA_FLAGS", "")
    folder = make_folder(dump_folder(flags, options.output))
    if options.each:
        # A late import, because most runs have one program.
        from hlo_lsp.cli.sweep import run_sweep  # noqa: PLC0415

        return run_sweep(options, command, folder)
    before = file_stamps(folder)
    status, log = run_program(command, {**os.environ, "XLA_FLAGS": dump_flags(flags, folder)})
    written = written_dumps(folder, before)
    print(file=sys.stderr)
    if written:
        print(
            printable(f"hlo-lsp: dumps are in {folder}{_earlier(before, written)}"), file=sys.stderr
        )
    for line in _explanation(folder, written, log if status else b"", options):
        print(printable(line), file=sys.stderr)
    return status


def _earlier(before: FileStamps, written: list[Path]) -> str:
    """Return what became of the text dumps of earlier runs in the folder."""
    earlier = {path for path in before if path.suffix == ".txt"}
    replaced = len(earlier.intersection(written))
    parts = [
        f"{count_noun(count, 'file')} of an earlier run {what}"
        for count, what in ((replaced, "replaced"), (len(earlier) - replaced, "kept"))
        if count
    ]
    return f"; {', '.join(parts)} (use another folder to compare: -o DIR)" if parts else ""


def _explanation(
    folder: Path, written: list[Path], log: bytes, options: argparse.Namespace
) -> Iterator[str]:
    """Yield what the dumps show: the out-of-memory message, or the modules and the largest one."""
    with suppress(NoMessageError, UnreadableError):
        if log:
            found = report_of_log(
                decode(log).splitlines(), None, [folder], with_negligible=options.all
            )
            yield from oom_lines(found.report)
            return
    errors: list[str] = []
    count, selected = options.top, SummaryOptions(with_negligible=options.all)
    modules: list[CompiledModule] = []
    largest: tuple[int, list[str]] = -1, []
    for dump in dumps_at(written, errors, unread=ROLES_WITHOUT_SIZES):
        module = compiled_module(dump)
        if module.allocated_bytes is not None:
            modules.append(module)
        if module.size > largest[0]:
            lines = list(summary_lines(summarize_with_cost(dump, selected), count))
            largest = module.size, lines
    groups = sorted_by_name(modules)
    if not groups:
        why = "; it writes none for programs from a compilation cache" if not log else ""
        yield f"hlo-lsp: XLA wrote no dumps{why}"
        return
    if len(modules) > 1:
        yield from text_lines(modules_content(groups[:count], with_small=options.all))
        if len(groups) > count:
            yield f"{len(groups) - count:,} more; list them with: hlo-lsp modules {folder}"
        yield ""
    yield from largest[1]
