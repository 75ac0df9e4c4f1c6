"""The commands of ``hlo-lsp`` and their options."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hlo_lsp import __version__
from hlo_lsp.cli.answers import add_other_answers
from hlo_lsp.cli.check_options import add_check_options
from hlo_lsp.cli.compile_options import add_compile_options
from hlo_lsp.cli.help_text import HelpFormatter, RootParser, examples_text
from hlo_lsp.cli.shared_options import (
    FORMS,
    HERE,
    CommandParser,
    add_all_option,
    add_answer_options,
    add_by_option,
    add_chip_option,
    add_format_option,
    add_logging_options,
    add_metric_option,
    add_optional_dumps,
    add_path,
    add_paths,
    add_place_options,
    add_prove_options,
    add_python_option,
    add_server_options,
    add_top_option,
    add_worker_options,
    names_of,
    positive_integer,
)

_BUFFER_KEYS = (
    *("line", "stack", "scope", "opcode", "shape", "role", "space", "allocation", "argument"),
)
_SMALL_PARTS = ", and other parts below 1%% of the peak"


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = RootParser(prog="hlo-lsp")
    parser.add_argument("--version", action="version", version=f"hlo-lsp {__version__}")
    parser.add_argument(
        "--completion",
        metavar="SHELL",
        choices=("bash", "zsh", "fish"),
        help="print a script that completes commands and options: bash, zsh, or fish; such as"
        " `source <(hlo-lsp --completion bash)`",
    )
    add_server_options(parser)
    add_logging_options(parser)
    parser.set_defaults(host="127.0.0.1", port=2087, verbose=0)
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=parser.prog, parser_class=CommandParser
    )
    for name, command in COMMANDS.items():
        # Options before the command keep their values unless they are repeated after it.
        default = argparse.SUPPRESS if name == "serve" else None
        added = commands.add_parser(
            name,
            description=f"{command.summary}.",
            epilog=examples_text(name),
            argument_default=default,
            formatter_class=HelpFormatter,
        )
        command.add_options(added)
        add_logging_options(added, default=argparse.SUPPRESS)
    return parser


def _add_summary_options(parser: argparse.ArgumentParser) -> None:
    what = "a dump file, a folder with dumps, or a log with an out-of-memory message"
    add_path(parser, "paths", what, nargs="+")
    add_other_answers(parser, "summary")
    parser.add_argument(
        "--check",
        action="store_true",
        help="check the dumps with the default rules, and count the findings",
    )
    add_place_options(parser, "a schedule step, or peak (default: the peak of each memory space)")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    parser.add_argument(
        "--group-by",
        metavar="KEY",
        choices=_BUFFER_KEYS,
        default="line",
        help=f"what the buffers of a group have in common: {names_of(_BUFFER_KEYS)}"
        " (default: line)",
    )
    parser.add_argument(
        "--frames",
        choices=("program", "all"),
        default="program",
        help="the call stack frames that can own a buffer: those of the program, or all, including"
        " those of Python and of installed packages (default: program)",
    )
    parser.add_argument(
        "--workspace",
        metavar="FOLDER",
        action="append",
        default=[],
        help="a folder of the program, written as in the dump: lines of its files take precedence"
        " over lines of other files (default: the current folder)",
    )
    add_prove_options(parser, "compile the programs with the donations that are advised")
    add_chip_option(parser)
    add_top_option(parser, None, "the number of entries in each list", "5; 10 in other answers")
    add_all_option(parser, f"{_SMALL_PARTS}, and modules below 1%% of the largest in full")
    add_worker_options(parser)
    add_answer_options(parser)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="the folder for the dumps (default: that of XLA_FLAGS, else hlo-dumps)",
    )
    parser.add_argument(
        "--each",
        metavar="NAME=VALUE,...",
        action="append",
        default=[],
        help="run the program with each value of an environment variable, which also replaces"
        " {NAME} in its arguments, and compare the memory; repeat it for all combinations",
    )
    parser.add_argument(
        "--fit",
        metavar="SIZE",
        help="with --each, search the largest number that needs at most this memory, such as"
        " 15.75GiB; NAME=FIRST..LAST is a range",
    )
    add_format_option(parser, " of --each")
    add_top_option(parser, 5, "the number of modules and owners to show")
    add_all_option(parser, _SMALL_PARTS)
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        nargs=argparse.REMAINDER,
        help="the program and its arguments, after --",
    )


def _add_cost_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_other_answers(parser, "cost")
    add_by_option(parser, "group")
    add_prove_options(
        parser, "with --collectives, compile the programs with options that allow overlap"
    )
    add_chip_option(parser)
    add_top_option(parser, 10, "the number of groups or operations to show")
    parser.add_argument(
        "--all", action="store_true", help="also show modules below 1%% of the largest"
    )
    add_answer_options(parser)


def _add_history_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "path", None)
    parser.add_argument("name", metavar="NAME", nargs="?", help="an instruction")
    add_answer_options(parser)


def _add_mcp_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="serve on standard input and output (default)"
    )
    parser.add_argument("--call", metavar="TOOL", help="print the answer of one tool, and exit")
    parser.add_argument(
        "--arguments", metavar="JSON", default="{}", help="the arguments of --call as an object"
    )
    parser.add_argument(
        "--directory",
        metavar="DIR",
        help="the folder that relative paths start from (default: the current folder)",
    )
    parser.add_argument(
        "--allow-compile",
        action="store_true",
        help="also offer the tool compile, which needs jax and runs for minutes",
    )
    add_python_option(parser)


def _add_modules_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_other_answers(parser, "modules")
    parser.add_argument(
        "--all",
        action="store_true",
        help="also list each compile of modules below 1%% of the largest",
    )
    add_worker_options(parser)
    add_answer_options(parser)


def _add_diff_options(parser: argparse.ArgumentParser) -> None:
    for name in ("before", "after"):
        what = f"a dump file or a folder with dumps, {name} a change"
        add_path(parser, name, what, name.upper())
    parser.add_argument(
        "--max-growth",
        metavar="LIMIT",
        help="exit with status 1 only if the peak or the allocated bytes of a memory space grow by"
        " more than this size or share, such as `64 MiB` or `2%%`",
    )
    parser.add_argument(
        "--map",
        metavar="FILE",
        help="also write the memory maps of both compiles side by side: .html, or .json for the"
        " data",
    )
    add_chip_option(parser)
    add_answer_options(parser)
    add_top_option(parser, 10, "the number of entries to show in each list")


def _add_find_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query",
        metavar="QUERY",
        nargs="?",
        help="a name such as `fusion.12`, a Python line such as `train.py:27`,"
        " a shape such as `f32[8,128]`, or a part of an op_name with a slash",
    )
    what = "a dump file, or a folder with dumps (default: the current folder)"
    add_path(parser, "paths", what, nargs="*", default=HERE)
    parser.add_argument(
        "--axis",
        metavar="AXIS",
        help="an axis of the mesh, in place of a query: find the collectives over it",
    )
    add_chip_option(parser)
    add_top_option(parser, 20, "the number of buffers to print for each module")
    add_answer_options(parser)


def _add_oom_options(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "log", "a log with the message, or - for standard input", "LOG")
    add_optional_dumps(parser, "the folder of LOG")
    parser.add_argument(
        "--message",
        metavar="N",
        type=positive_integer,
        help="the message to explain, if the log has several (default: the most detailed one)",
    )
    add_all_option(parser)
    add_answer_options(parser)


def _add_profile_options(parser: argparse.ArgumentParser) -> None:
    what = (
        "an xplane.pb or trace.json.gz file, or a folder that jax.profiler.trace wrote: its newest"
        " run"
    )
    add_path(parser, "profile", what, "PROFILE")
    add_optional_dumps(parser, "the modules in the profile")
    add_chip_option(parser)
    add_by_option(parser, "row")
    what = "show what changed since this profile, the largest change first"
    add_path(parser, "--compare", what, "BEFORE")
    parser.add_argument(
        "--extract",
        metavar="DIR",
        type=Path,
        help="also write the modules of the profile into this folder, as dump files",
    )
    add_answer_options(parser)
    add_top_option(parser, 10, "the number of rows to show for each module")


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write, or - for standard output; its ending decides the form (default:"
        " memory-map, cost, or time with the ending of the form)",
    )
    parser.add_argument(
        "--as",
        dest="form",
        choices=FORMS,
        help="the form: a page, its data as JSON, a pprof profile by Python call stack (.pb.gz),"
        " folded stacks for flame graphs and speedscope (.folded), a Perfetto trace (.pftrace), or"
        " a table of the instructions that run for other profilers (.csv) (default: that of the"
        " ending, else html)",
    )
    add_metric_option(parser)
    add_chip_option(parser)
    add_place_options(
        parser, "the step of pprof and folded stacks (default: the peak of each memory space)"
    )
    what = "a profile of JAX, for the measured time of the steps of memory maps"
    add_path(parser, "--profile", what, "PROFILE")


def _add_inspect_options(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "path", "a dump file; with NAME also a folder with dumps")
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="an instruction such as `fusion.40`, one of its results such as `fusion.40{0}`, the id"
        " of a value, an argument, a Python line, or a position such as 38:12",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--at", metavar="LINE[:COL]", help="the position, counted from 1")
    which.add_argument(
        "--value",
        metavar="ID",
        type=int,
        help="the value with this id; in a stdout dump, the first compile with this value",
    )
    which.add_argument(
        "--instruction",
        metavar="NAME",
        help="the instruction with this name; in a stdout dump, the first one that has a value",
    )
    which.add_argument(
        "--computation",
        metavar="NAME",
        help="the computation with this name; in a stdout dump, the first one",
    )
    add_chip_option(parser)
    what = "a profile of JAX, for measured times (default: one in the folder of the dump)"
    add_path(parser, "--profile", what, "PROFILE")
    add_answer_options(parser)


def _add_text_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="a proto, a compressed file, or an archive; with -o DIR, a remote folder or file",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE|DIR",
        help="the file for the text (default: standard output), or the folder for copies of URLs",
    )
    parser.add_argument(
        "--force", action="store_true", help="also replace files that this command did not write"
    )


class Command(NamedTuple):
    """A command: what it does in a few words, and the function that adds its options."""

    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]


COMMANDS = {
    "summary": Command("Show where the memory of a program goes", _add_summary_options),
    "find": Command("Find buffers by name, Python line, shape, or scope", _add_find_options),
    "inspect": Command(
        "Describe a buffer, an instruction, or a position in a dump", _add_inspect_options
    ),
    "oom": Command("Explain an out-of-memory message", _add_oom_options),
    "cost": Command("Show FLOPs, bytes, and the least time of a program", _add_cost_options),
    "profile": Command("Show where the measured time of programs goes", _add_profile_options),
    "diff": Command("Compare the memory and the instructions of two compiles", _add_diff_options),
    "modules": Command(
        "List compiles by peak, and what differs in recompiles", _add_modules_options
    ),
    "history": Command("Show what the passes of a compile changed", _add_history_options),
    "compile": Command("Compile a program again, and show what changed", add_compile_options),
    "run": Command("Run a program, and show where its memory goes", _add_run_options),
    "report": Command("Write a page, or a profile or trace for other tools", _add_report_options),
    "check": Command("Check dumps for inconsistencies", add_check_options),
    "text": Command("Print a proto, a compressed file, or an archive as text", _add_text_options),
    "serve": Command("Start the language server", add_server_options),
    "mcp": Command("Serve the commands as tools for coding agents", _add_mcp_options),
}
