"""The other answers of commands, such as ``hlo-lsp summary --donation``."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.shared_options import FORMATS

_ALWAYS = {"module", "format", "output", "log_file", "verbose", "help"}
_FORMATS = {".md": "markdown", ".json": "json", ".sarif": "sarif"}
_REPORT_ENDINGS = {".html", ".csv", ".gz", ".pb", ".pftrace", ".folded"}
_TOPS = {"summary": 5, "timeline": 20}
_OF_LISTS = frozenset({"top", "all"})


class _Answer(NamedTuple):
    """An answer that an option chooses.

    Attributes:
        help: What the answer shows.
        module: The module of this package that prints it.
        reads: The options that it reads, besides those of every answer.
    """

    help: str
    module: str
    reads: frozenset[str]


_ANSWERS: Mapping[str, Mapping[str, _Answer]] = {
    "summary": {
        "donation": _Answer("list the arguments by donation", "donation", _OF_LISTS),
        "padding": _Answer("list the padded arrays by wasted bytes", "padding", _OF_LISTS),
        "timeline": _Answer(
            "show the occupied bytes over the schedule, with --at also the buffers at a step",
            "timeline",
            frozenset({"at", "space", "top", "ascii"}),
        ),
        "table": _Answer(
            "list the largest program of each PATH in one row: memory, headroom, and least time",
            "table",
            frozenset({"chip"}),
        ),
        "values": _Answer(
            "list the largest values at the peak, and why each is alive",
            "values",
            frozenset({"at", "space", "top", "all"}),
        ),
    },
    "cost": {
        "collectives": _Answer(
            "show which asynchronous operations do not overlap with computation",
            "overlap",
            _OF_LISTS | {"chip", "prove", "python"},
        )
    },
    "modules": {
        "hosts": _Answer(
            "show whether all hosts compiled the same programs: PATH is a folder with a folder of"
            " dumps for each host, or there is one PATH for each",
            "hosts",
            frozenset({"jobs", "executor", "import_from"}),
        )
    },
    "check": {
        "explain": _Answer(
            "explain the rules with the codes in place of PATH, or list all of them",
            "rule",
            frozenset({"all"}),
        )
    },
}


def other_answers(command: str) -> dict[str, str]:
    """Return what the other answers of a command show, by the names of their options."""
    return {name: answer.help for name, answer in _ANSWERS.get(command, {}).items()}


def add_other_answers(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options of a command for its other answers, of which one can be chosen."""
    which = parser.add_argument_group("other answers").add_mutually_exclusive_group()
    for name, answer in _ANSWERS[command].items():
        which.add_argument(
            f"--{name}",
            dest="module",
            action="store_const",
            const=answer.module,
            default=command,
            help=answer.help,
        )


def complete_options(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Set the defaults that depend on the answer and on the ending of the file.

    Args:
        options: The options of a command.
        parser: The parser of the command.

    Raises:
        CommandError: An option has no effect on the answer.
    """
    if not getattr(options, "is_answer", False):
        return
    answers = _ANSWERS.get(options.command, {})
    options.module = getattr(options, "module", options.command)
    for name, answer in answers.items():
        if answer.module == options.module:
            _require_read(options, parser, name, answer)
    if options.format is None:
        ending = Path(options.output or "").suffix.lower()
        if ending in _REPORT_ENDINGS:
            raise CommandError(f"{options.output}: `hlo-lsp report` writes such files")
        options.format = _FORMATS.get(ending, FORMATS[0])
        if options.format not in (*FORMATS, *(["sarif"] if options.module == "check" else [])):
            options.format = FORMATS[0]
    if getattr(options, "top", 0) is None:
        options.top = _TOPS.get(options.module, 10)


def _require_read(
    options: argparse.Namespace, parser: argparse.ArgumentParser, name: str, answer: _Answer
) -> None:
    if options.format not in {None, *FORMATS}:
        raise CommandError(f"--format {options.format} has no effect with --{name}")
    for action in parser._actions:
        is_given = action.option_strings and getattr(options, action.dest, None) != action.default
        if is_given and action.dest not in _ALWAYS | answer.reads:
            raise CommandError(f"{action.option_strings[-1]} has no effect with --{name}")
