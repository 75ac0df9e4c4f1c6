"""The command line: ``hlo-lsp``."""

import argparse
import logging
import sys
from collections.abc import Sequence
from importlib import import_module

from hlo_lsp import __version__
from hlo_lsp.cli.workers import reduce_gc_frequency

_EPILOG = """\
examples:
  hlo-lsp                                        serve an editor on standard input and output
  hlo-lsp serve --tcp --port 2087                serve on a socket
  hlo-lsp inspect DUMP.txt --at 38:12            what stands on line 38, column 12
  hlo-lsp inspect DUMP.txt --value 328           everything about value 328
  hlo-lsp inspect DUMP.txt                       the whole dump as JSON
  hlo-lsp check DUMP_FOLDER                      what does not add up
  hlo-lsp rule overlap                           what a rule says, and why it always holds
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = _argument_parser()
    options = parser.parse_args(arguments)
    _configure_logging(options.log_file, options.verbose)
    reduce_gc_frequency()
    try:
        # Imported when run: the protocol alone takes 0.4 s, which `check` need not wait for.
        command = import_module(f"hlo_lsp.cli.{options.command or 'serve'}")
        status: int = command.run(options)
        return status
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough. Python would complain at exit.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hlo-lsp",
        description="Language server, inspector and checker for XLA's HLO and memory dumps.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hlo-lsp {__version__}")
    _add_server_options(parser)
    _add_logging_options(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve an editor (the default)")
    _add_server_options(serve, argparse.SUPPRESS)
    _add_logging_options(serve, default=argparse.SUPPRESS)
    _add_inspect_options(commands.add_parser("inspect", help="say what stands somewhere in a dump"))
    _add_check_options(commands.add_parser("check", help="say what does not add up in dumps"))
    _add_rule_options(commands.add_parser("rule", help="explain what is checked"))
    return parser


def _add_inspect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a dump file")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--at", metavar="LINE[:COL]", help="what stands there, counted from 1")
    which.add_argument(
        "--value",
        metavar="ID",
        type=int,
        help="the value with this id; in a text of several compiles of the first that has one",
    )
    which.add_argument(
        "--instruction",
        metavar="NAME",
        help="the instruction of this name; in a text of several files the first with a value",
    )
    which.add_argument(
        "--computation",
        metavar="NAME",
        help="the computation of this name; in a text of several files in the first that has one",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    _add_logging_options(parser, default=argparse.SUPPRESS)


def _add_check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a dump file or a folder of dumps")
    parser.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text")
    parser.add_argument(
        "--select",
        metavar="CODE,...",
        action="append",
        help="only these rules: codes, their first words, `default`, `all`",
    )
    parser.add_argument("--ignore", metavar="CODE,...", action="append", help="not these rules")
    parser.add_argument(
        "--severity",
        choices=("error", "warning", "information", "hint"),
        help="the lowest that is shown and counts for the exit status"
        " (all are shown, errors and warnings count)",
    )
    parser.add_argument(
        "--statistics", action="store_true", help="only how many findings there are of each code"
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 whatever is found in dumps"
    )
    parser.add_argument(
        "--watch", action="store_true", help="look again when files change, until ctrl-C"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_positive_integer,
        help="how many processes work at most (one for each core)",
    )
    _add_logging_options(parser, default=argparse.SUPPRESS)


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "codes", metavar="CODE", nargs="*", default=[], help="a code, or the first words of several"
    )
    which.add_argument("--all", action="store_true", help="all rules, as a page in Markdown")
    parser.add_argument("--format", choices=("text", "json", "markdown"))
    _add_logging_options(parser, default=argparse.SUPPRESS)


def _positive_integer(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _add_server_options(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Options of serving; with a default of SUPPRESS those in front of the command count."""

    def usual(value: object) -> object:
        return value if default is None else default

    parser.add_argument(
        "--stdio",
        action="store_true",
        default=usual(False),
        help="serve on stdin and stdout (the default)",
    )
    parser.add_argument(
        "--tcp", action="store_true", default=usual(False), help="serve on a socket"
    )
    parser.add_argument("--host", default=usual("127.0.0.1"), help="where to listen (127.0.0.1)")
    parser.add_argument(
        "--port", type=_port_number, default=usual(2087), help="port to listen on (2087)"
    )


def _port_number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port")
    return number


def _add_logging_options(parser: argparse.ArgumentParser, default: object = None) -> None:
    suppress = default is argparse.SUPPRESS
    parser.add_argument("--log-file", metavar="FILE", default=default, help="log there")
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=default if suppress else 0,
        help="log more; twice for everything",
    )


def _configure_logging(log_file: str | None, verbose: int) -> None:
    """Log to standard error or a file, never to standard output: that belongs to the protocol."""
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    problem: OSError | None = None
    if log_file is not None:
        try:
            handler = logging.FileHandler(log_file, encoding="utf-8")
        except OSError as error:
            problem = error
    logging.basicConfig(
        level=level, handlers=[handler], format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    if problem is not None:
        logging.getLogger(__name__).warning("cannot log to %s: %s", log_file, problem.strerror)
