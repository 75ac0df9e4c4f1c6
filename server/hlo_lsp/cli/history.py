"""``hlo-lsp history``: show what the passes of a compile changed."""

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from hlo_lsp.cli.dumps import near_names, no_dumps_message
from hlo_lsp.cli.errors import NOT_FOUND_STATUS, USAGE_ERROR_STATUS, CommandError
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_dumps import NOT_A_DUMP
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.protos.names import is_converted
from hlo_lsp.reports.history import (
    NO_PASS_TEXTS,
    Stage,
    event_lines,
    history_json,
    history_lines,
    stages_of,
)
from hlo_lsp.text.disk import UnreadableError, read_first_lines
from hlo_lsp.text.remote import shown


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    name = options.name and options.name.removeprefix("%")
    found: dict[Path, list[Stage]] = {}
    errors: list[str] = []
    for compile_ in compiles_below(options.path):
        path = compile_.path
        try:
            stages = stages_of(_texts(compile_.texts))
            if len(stages) > 1:
                found[path] = stages
            elif path == options.path and not (is_converted(path.name) and path.exists()):
                read_first_lines(path)  # to report a file that cannot be read
        except UnreadableError as error:
            errors.append(str(error))
    if not found:
        return print_errors(errors or [_nothing_message(options.path)])
    largest = sorted(found.items(), key=lambda item: -len(item[1][-1].definitions))
    known = {
        path: stages
        for path, stages in largest
        if name is None or any(name in stage.definitions for stage in stages)
    }
    if not known:
        names = {
            each for stages in found.values() for stage in stages for each in stage.definitions
        }
        hint = near_names(name or "", names)
        message = f"{shown(options.path)}: no instruction `{name}`{hint}"
        print_errors(errors)
        raise CommandError(message, USAGE_ERROR_STATUS if errors else NOT_FOUND_STATUS)
    form = history_lines if name is None else partial(event_lines, name=name)
    print_answer(
        options.format,
        (
            chain([shown(path)] if len(known) > 1 else [], form(stages))
            for path, stages in known.items()
        ),
        lambda: {"modules": [history_json(stages, name) for stages in known.values()]},
    )
    return print_errors(errors)


def _nothing_message(path: Path) -> str:
    """Return the message about a path without a history."""
    if not any(compiles_below(path)):
        return no_dumps_message(path)
    if path.is_file() and not DumpWorkspace().file(path).kind.is_dump:
        return f"{shown(path)}: {NOT_A_DUMP}"
    return f"{shown(path)}: {NO_PASS_TEXTS}"


def _texts(paths: Iterable[Path]) -> Iterator[DumpFile]:
    """Yield module texts, one at a time."""
    for path in paths:
        yield DumpWorkspace().file(path)
