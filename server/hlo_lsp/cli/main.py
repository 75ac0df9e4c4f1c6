"""The ``hlo-lsp`` command line."""

import argparse
import logging
import sys
from collections.abc import Sequence
from importlib import import_module

from hlo_lsp import __version__
from hlo_lsp.cli.workers import reduce_gc_frequency

_EPILOG = """\
examples:
  hlo-lsp                                 serve an editor on standard input and output
  hlo-lsp serve --tcp --port 2087         serve on a TCP socket
  hlo-lsp inspect DUMP.txt --at 38:12     describe line 38, column 12
  hlo-lsp inspect DUMP.txt --value 328    describe value 328
  hlo-lsp inspect DUMP.txt                print the whole dump as JSON
  hlo-lsp check DUMP_FOLDER               check dumps for inconsistencies
  hlo-lsp rule overlap                    explain a rule
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    parser = _argument_parser()
    options = parser.parse_args(arguments)
    _configure_logging(options.log_file, options.verbose)
    reduce_gc_frequency()
    try:
        if options.command in {None, "serve"}:
            return _serve(options)
        status: int = import_module(f"hlo_lsp.cli.{options.command}").run(options)
        return status
    except BrokenPipeError:
        # The reader of the pipe (head, less) has exited. With standard error open, Python would
        # print a message at exit.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _serve(options: argparse.Namespace) -> int:
    """Serve one client on standard input and output or on a socket, and return the exit status."""
    # A late import, because importing the protocol takes 0.4 s and `check` does not need it.
    from hlo_lsp.lsp.server import create_server  # noqa: PLC0415

    server = create_server()
    try:
        if options.tcp:
            server.start_tcp(options.host, options.port)
        elif sys.stdin is None or sys.stdout is None:
            print("hlo-lsp: standard input or output is closed", file=sys.stderr)
            return 1
        else:
            server.start_io()
    except OSError as error:
        reason = error.strerror or error
        print(f"hlo-lsp: cannot listen on {options.host}:{options.port}: {reason}", file=sys.stderr)
        return 1
    return server.protocol.exit_status


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hlo-lsp",
        description="Language server and checker for XLA's HLO and memory dumps.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hlo-lsp {__version__}")
    _add_server_options(parser)
    _add_logging_options(parser)
    parser.set_defaults(host="127.0.0.1", port=2087, verbose=0)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, summary, add_options in (
        ("serve", "Start the language server (default)", _add_server_options),
        ("inspect", "Describe a position, value, or instruction in a dump", _add_inspect_options),
        ("check", "Check dumps for inconsistencies", _add_check_options),
        ("rule", "Explain the rules of the checker", _add_rule_options),
    ):
        # Options before the command keep their values unless they are repeated after it.
        default = argparse.SUPPRESS if name == "serve" else None
        command = commands.add_parser(
            name, help=summary, description=f"{summary}.", argument_default=default
        )
        add_options(command)
        _add_logging_options(command, default=argparse.SUPPRESS)
    return parser


def _add_inspect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a dump file")
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
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="the output format (default: text)",
    )


def _add_check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", help="a dump file, or a folder with dumps"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="the output format (default: text)",
    )
    parser.add_argument(
        "--select",
        metavar="CODE,...",
        action="append",
        help="use only these rules: codes, prefixes of codes, `default`, or `all`",
    )
    parser.add_argument(
        "--ignore", metavar="CODE,...", action="append", help="leave out these rules"
    )
    parser.add_argument(
        "--severity",
        choices=("error", "warning", "information", "hint"),
        help="the lowest severity that is shown and affects the exit status"
        " (default: all are shown, errors and warnings affect it)",
    )
    parser.add_argument(
        "--statistics", action="store_true", help="print the number of findings per code"
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 even if there are findings"
    )
    parser.add_argument(
        "--watch", action="store_true", help="check again when files change, until Ctrl-C"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_positive_integer,
        help="the maximum number of processes (default: one per core)",
    )


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "codes", metavar="CODE", nargs="*", default=[], help="a code, or a prefix of several codes"
    )
    which.add_argument("--all", action="store_true", help="print all rules as a Markdown page")
    parser.add_argument(
        "--format",
        choices=("text", "json", "markdown"),
        help="the output format (default: text; with --all: markdown)",
    )


def _positive_integer(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _add_server_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="serve on standard input and output (default)"
    )
    parser.add_argument("--tcp", action="store_true", help="serve on a TCP socket")
    parser.add_argument("--host", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=_port_number, help="the port to listen on (default: 2087)")


def _port_number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not a port number")
    return number


def _add_logging_options(parser: argparse.ArgumentParser, default: object = None) -> None:
    parser.add_argument(
        "--log-file", metavar="FILE", default=default, help="write the log to a file"
    )
    parser.add_argument(
        "-v", "--verbose", action="count", default=default, help="log more; -vv logs everything"
    )


def _configure_logging(log_file: str | None, verbose: int) -> None:
    """Log to standard error or a file, because standard output belongs to the protocol."""
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
