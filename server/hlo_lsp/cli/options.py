"""The commands of ``hlo-lsp`` and their options."""

import argparse
from pathlib import Path

from hlo_lsp import __version__
from hlo_lsp.cli.check_options import add_check_options, add_rule_options
from hlo_lsp.cli.help_format import HelpFormatter, RawHelpFormatter, examples_text
from hlo_lsp.cli.shared_options import (
    FORMATS,
    CommandParser,
    add_all_modules_option,
    add_all_option,
    add_by_option,
    add_chip_option,
    add_format_option,
    add_logging_options,
    add_metric_option,
    add_optional_dumps,
    add_paths,
    add_place_options,
    add_server_options,
    add_top_option,
    add_worker_options,
    dump_path,
    list_options,
    log_path,
    names_of,
    positive_integer,
)

_BUFFER_KEYS = (
    *("line", "stack", "scope", "opcode", "shape", "role", "space", "allocation", "argument"),
)
_SMALL_PARTS = ", and other parts below 1%% of the peak"
_EXAMPLES = (
    ("hlo-lsp", "start the server on stdin and stdout"),
    ("hlo-lsp serve --tcp --port 2087", "start the server on a TCP socket"),
    ("hlo-lsp run -- python train.py", "run a program, and show its memory"),
    ("hlo-lsp summary DUMP_FOLDER", "show where the memory goes"),
    ("hlo-lsp summary gs://BUCKET/FOLDER", "read dumps in a bucket"),
    ("hlo-lsp diff BEFORE AFTER", "compare two compiles"),
    ("hlo-lsp oom LOG DUMP_FOLDER", "explain an out-of-memory message"),
    ("hlo-lsp inspect DUMP.txt --at 38:12", "describe line 38, column 12"),
    ("hlo-lsp inspect DUMP.txt --value 328", "describe value 328"),
    ("hlo-lsp inspect DUMP.txt | jq .", "print the whole dump as JSON"),
    ("hlo-lsp check DUMP_FOLDER", "check dumps for inconsistencies"),
    ("hlo-lsp rule overlap", "explain a rule"),
)


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="hlo-lsp",
        description="Language server and checker for XLA's HLO and memory dumps.",
        epilog=examples_text(_EXAMPLES),
        formatter_class=RawHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hlo-lsp {__version__}")
    add_server_options(parser)
    add_logging_options(parser)
    parser.set_defaults(host="127.0.0.1", port=2087, verbose=0)
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=parser.prog, parser_class=CommandParser
    )
    for name, summary, add_options in (
        ("serve", "Start the language server (default)", add_server_options),
        ("summary", "Show where the memory of a program goes", _add_summary_options),
        ("run", "Run a program, and show where its memory goes", _add_run_options),
        ("modules", "List compiles by peak, and what differs in recompiles", _add_modules_options),
        ("hosts", "Show whether all hosts compiled the same programs", _add_hosts_options),
        ("diff", "Compare the memory and the instructions of two compiles", _add_diff_options),
        ("timeline", "Show the occupied bytes over the schedule", _add_timeline_options),
        (
            "overlap",
            "Show which asynchronous operations do not overlap with computation",
            _add_overlap_options,
        ),
        (
            "donation",
            "List the arguments by donation",
            list_options("arguments"),
        ),
        ("padding", "List the padded arrays by wasted bytes", list_options("shapes")),
        ("cost", "Show FLOPs, bytes, and the least time of a program", _add_cost_options),
        ("history", "Show what the passes of a compile changed", _add_history_options),
        ("find", "Find buffers by name, Python line, shape, or scope", _add_find_options),
        ("why", "Explain why a buffer is alive", _add_why_options),
        ("oom", "Explain an out-of-memory message", _add_oom_options),
        ("profile", "Show where the measured time of programs goes", _add_profile_options),
        ("export", "Write profiles and traces for other tools", _add_export_options),
        ("report", "Write a memory map as an HTML or JSON file", _add_report_options),
        ("mcp", "Serve the commands as tools for coding agents", _add_mcp_options),
        ("inspect", "Describe a value, instruction, or position in a dump", _add_inspect_options),
        ("pull", "Copy a remote folder with dumps", _add_pull_options),
        ("text", "Print a proto, a compressed file, or an archive as text", _add_text_options),
        ("check", "Check dumps for inconsistencies", add_check_options),
        ("rule", "Explain the rules of the checker", add_rule_options),
    ):
        # Options before the command keep their values unless they are repeated after it.
        default = argparse.SUPPRESS if name == "serve" else None
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary}.",
            argument_default=default,
            formatter_class=HelpFormatter,
        )
        add_options(command)
        add_logging_options(command, default=argparse.SUPPRESS)
    return parser


def _add_summary_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=log_path,
        nargs="+",
        help="a dump file, a folder with dumps, or a log with an out-of-memory message (- reads"
        " it from standard input)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="check the dumps with the default rules, and count the findings",
    )
    add_format_option(parser)
    add_place_options(parser, "a schedule step (default: the peak of each memory space)")
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
    add_chip_option(parser)
    add_top_option(parser, 5, "the number of owners and buffers to show")
    add_all_option(parser, f"{_SMALL_PARTS}, and modules below 1%% of the largest in full")
    add_worker_options(parser)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="the folder for the dumps (default: that of XLA_FLAGS, else hlo-dumps)",
    )
    add_top_option(parser, 5, "the number of modules and owners to show")
    add_all_option(parser, _SMALL_PARTS)
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        nargs=argparse.REMAINDER,
        help="the program and its arguments, after --",
    )


def _add_overlap_options(parser: argparse.ArgumentParser) -> None:
    list_options("exposed operations")(parser)
    add_chip_option(parser)


def _add_cost_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_by_option(parser, "group")
    add_chip_option(parser)
    add_top_option(parser, 10, "the number of groups to show")
    add_all_modules_option(parser)
    add_format_option(parser)


def _add_history_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "path", None)
    parser.add_argument("name", metavar="NAME", nargs="?", help="an instruction")
    add_format_option(parser)


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


def _add_hosts_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=dump_path,
        nargs="+",
        help="a folder with a folder of dumps for each host, or the folders of the hosts",
    )
    add_worker_options(parser)
    add_format_option(parser)


def _add_modules_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        help="also list each compile of modules below 1%% of the largest",
    )
    add_worker_options(parser)
    add_format_option(parser)


def _add_diff_options(parser: argparse.ArgumentParser) -> None:
    for name in ("before", "after"):
        parser.add_argument(
            name,
            metavar=name.upper(),
            type=dump_path,
            help=f"a dump file or a folder with dumps, {name} a change",
        )
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
    add_format_option(parser)
    add_top_option(parser, 10, "the number of entries to show in each list")


def _add_timeline_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_place_options(parser, "list the buffers at this schedule step")
    add_top_option(parser, 20, "the number of buffers to list with --at")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    add_format_option(parser)


def _add_find_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query",
        metavar="QUERY",
        help="a name such as `fusion.12`, a Python line such as `train.py:27`,"
        " a shape such as `f32[8,128]`, or a part of an op_name with a slash",
    )
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=dump_path,
        nargs="*",
        default=[Path()],
        help="a dump file, or a folder with dumps (default: the current folder)",
    )
    add_top_option(parser, 20, "the number of buffers to print for each module")
    add_format_option(parser)


def _add_why_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "path", None)
    parser.add_argument(
        "name",
        metavar="NAME",
        help="an instruction such as `fusion.40`, one of its results such as `fusion.40{0}`, or the"
        " id of a value",
    )
    add_format_option(parser)


def _add_oom_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "log",
        metavar="LOG",
        type=log_path,
        help="a log with the message (- reads it from standard input)",
    )
    add_optional_dumps(parser, "the folder of LOG")
    parser.add_argument(
        "--message",
        metavar="N",
        type=positive_integer,
        help="the message to explain, if the log has several (default: the most detailed one)",
    )
    add_all_option(parser)
    add_format_option(parser)


def _add_profile_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "profile",
        metavar="PROFILE",
        type=dump_path,
        help="an xplane.pb or trace.json.gz file, or a folder that jax.profiler.trace wrote: its"
        " newest run",
    )
    add_optional_dumps(parser, "the modules in the profile")
    add_chip_option(parser)
    add_by_option(parser, "row")
    parser.add_argument(
        "--compare",
        metavar="BEFORE",
        type=dump_path,
        help="show what changed since this profile, the largest change first",
    )
    parser.add_argument(
        "--extract",
        metavar="DIR",
        type=Path,
        help="also write the modules of the profile into this folder, as dump files",
    )
    add_format_option(parser)
    add_top_option(parser, 10, "the number of rows to show for each module")


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    add_metric_option(parser)
    group = parser.add_argument_group("formats, one of which is required")
    form = group.add_mutually_exclusive_group(required=True)
    form.add_argument("--pprof", action="store_true", help="a pprof profile by Python call stack")
    form.add_argument(
        "--folded", action="store_true", help="folded stacks, for flame graphs and speedscope"
    )
    form.add_argument(
        "--perfetto",
        action="store_true",
        help="a Perfetto trace of all buffers over the schedule, or of all instructions over time",
    )
    form.add_argument(
        "--kernels",
        action="store_true",
        help="a CSV table of the instructions that run, for other profilers: module, instruction,"
        " kernel, op_name, Python line, phase",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write (default: standard output)"
    )
    add_chip_option(parser)
    add_place_options(
        parser, "the schedule step of a profile (default: the peak of each memory space)"
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write: .html, or .json for the data (default: memory-map.html, cost.html,"
        " or time.html)",
    )
    add_metric_option(parser)
    add_chip_option(parser)
    parser.add_argument(
        "--profile",
        metavar="PROFILE",
        type=dump_path,
        help="a profile of JAX, for the measured time of the steps of memory maps",
    )


def _add_inspect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=dump_path, help="a dump file")
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
    parser.add_argument(
        "--profile",
        metavar="PROFILE",
        type=dump_path,
        help="a profile of JAX, for measured times (default: one in the folder of the dump)",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="the output format (default: text; for a whole dump in a pipe or a file: json)",
    )


def _add_text_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=dump_path, help="a dump file")


def _add_pull_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="a remote folder or file")
    parser.add_argument("folder", metavar="DIR", type=Path, help="the folder for the copy")
    parser.add_argument(
        "--force", action="store_true", help="also replace files that this command did not write"
    )
