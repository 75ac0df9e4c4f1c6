"""``hlo-lsp compile``: compile the program of a dump again, and show what changed."""

import argparse
from itertools import chain
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import make_folder, print_answer, print_errors
from hlo_lsp.cli.progress_note import progress_note
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, program_at
from hlo_lsp.compiling.pythons import find_python
from hlo_lsp.compiling.recompile import Recompiled, compile_again
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.protos.reading import read_document
from hlo_lsp.reports.comparison import (
    compare_all,
    comparison_blocks,
    comparison_json,
    comparison_markdown,
)
from hlo_lsp.reports.summary import SummaryOptions, summarize_with_cost
from hlo_lsp.reports.summary_text import summary_json, summary_lines
from hlo_lsp.text.inert import markdown_text
from hlo_lsp.text.remote import shown

_DIFFERENT_STATUS = 1


def run(options: argparse.Namespace) -> int:
    """Run the command, and return 0, 1 for differences, or 2 if the program cannot be compiled."""
    changes, folder = _changes(options), None
    if options.output is not None:
        folder = make_folder(Path(options.output), must_be_empty=True)
    try:
        python = find_python(options.python)
        with progress_note() as report, CompilerProcess(python, report) as compiler:
            program = program_at(options.path)  # while the process loads jax
            found = compile_again(compiler, program, changes, folder and folder.absolute())
            return _show(options, found)
    except CompileFailedError as error:
        if error.line is None:
            raise CommandError(str(error)) from None
        path = shown(options.edited or program.path)
        raise CommandError(f"{path}:{error.line + 1}:{error.column + 1}: {error}") from None


def _changes(options: argparse.Namespace) -> Changes:
    flags = {}
    for flag in options.flags:
        name, is_set, value = flag.removeprefix("--").partition("=")
        if not is_set:
            raise CommandError(f"--flag {flag}: write NAME=VALUE")
        flags[name] = value
    text = None
    if options.edited is not None:
        text = "\n".join(read_document(options.edited).lines)
    donated = None if options.donate is None else tuple(options.donate)
    return Changes(options.chip, options.topology, flags, donated, options.no_donate, text)


def _show(options: argparse.Namespace, found: Recompiled) -> int:
    errors: list[str] = []
    paths = [[] if path is None else [path] for path in (found.before, found.after)]
    before, after = (list(dumps_at(one, errors, unread=ROLES_WITHOUT_SIZES)) for one in paths)
    if errors:
        return print_errors(errors)
    compiler = {"compiler": found.as_json}
    if not before:  # a lone text
        summaries = [summarize_with_cost(dump, SummaryOptions()) for dump in after]
        print_answer(
            options.format,
            [found.notes, *(summary_lines(one, options.top) for one in summaries)],
            lambda: {**compiler, "modules": [summary_json(one, options.top) for one in summaries]},
        )
        return 0
    comparison = compare_all(before, after)
    sides = shown(options.path), "the new compile" if options.output is None else options.output
    print_answer(
        options.format,
        chain([found.notes], comparison_blocks(comparison, options.top, sides)),
        lambda: {**compiler, **comparison_json(comparison, options.top)},
        lambda: chain(
            *([markdown_text(note), ""] for note in found.notes),
            comparison_markdown(comparison, options.top, sides),
        ),
    )
    return 0 if comparison.is_equal else _DIFFERENT_STATUS
