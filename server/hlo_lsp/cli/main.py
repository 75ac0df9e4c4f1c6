"""The ``hlo-lsp`` command line."""

import argparse
import atexit
import errno
import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from io import BytesIO, TextIOWrapper

from hlo_lsp.cli.answers import complete_options
from hlo_lsp.cli.completion import complete, script
from hlo_lsp.cli.dispatch import with_command
from hlo_lsp.cli.errors import USAGE_ERROR_STATUS, CommandError, describe_error
from hlo_lsp.cli.help_text import SHORT_HELP, commands_of, whole_help
from hlo_lsp.cli.inert_streams import guard_standard_streams
from hlo_lsp.cli.interrupts import end_at_once
from hlo_lsp.cli.options import COMMANDS, argument_parser
from hlo_lsp.cli.output_encoding import replace_missing_characters
from hlo_lsp.garbage_collection import limit_collections, reduce_gc_frequency, share_free_memory
from hlo_lsp.text.inert import printable

_FULL_DISK = {errno.ENOSPC, errno.EDQUOT}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    guard_standard_streams()
    reduce_gc_frequency()
    atexit.register(gc.freeze)  # else the objects of a dump are freed at the end, one by one
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except CommandError as error:
        print(*map(printable, (f"hlo-lsp: {error}", *error.rows)), sep="\n", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        # The reader of the pipe (head, less) has exited; Python flushes the rest at the exit.
        _discard_output()
        return 0
    except OSError as error:
        if error.errno not in _FULL_DISK:
            return _report_error(error)
        print(f"hlo-lsp: cannot write the output: {error.strerror}", file=sys.stderr)
        _discard_output()
        return 2
    except KeyboardInterrupt:
        end_at_once()
    except Exception as error:  # noqa: BLE001  # it is reported
        return _report_error(error)


def _report_error(error: Exception) -> int:
    """Print an error in one line, and return the exit status.

    With ``-v``, an internal error is raised.
    """
    # A late import, because help and servers need none of it.
    from hlo_lsp.text.disk import UnreadableError  # noqa: PLC0415

    if isinstance(error, UnreadableError):
        print(printable(f"hlo-lsp: {error}"), file=sys.stderr)
        return USAGE_ERROR_STATUS
    if logging.getLogger(__name__).isEnabledFor(logging.INFO):
        raise error
    problem = f"hlo-lsp: internal error: {describe_error(error)}; -v shows where"
    print(printable(problem), file=sys.stderr)
    return USAGE_ERROR_STATUS


def _discard_output() -> None:
    """Let nothing of the rest of the standard output be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str]) -> int:
    """Run the command that arguments mean, and return its exit status."""
    if not arguments and sys.stdin is not None and sys.stdin.isatty():
        print(SHORT_HELP, end="")
        return 0
    if "_ARGCOMPLETE" in os.environ:  # the completion function of a shell asks for words
        complete(argument_parser())
    words = with_command(arguments, COMMANDS)
    if "help" in words[:1]:
        return _help(words[1:])
    parser = argument_parser()
    options = parser.parse_args(words)  # it lists the files below URLs
    if options.completion is not None:
        print(script(options.completion))
        return 0
    is_server = options.command in {None, "serve"}
    _configure_logging(options.log_file, options.verbose, is_server=is_server)
    if is_server:
        return _serve(options)
    if sys.stdout is None:  # closed
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the end
    complete_options(options, commands_of(parser)[options.command])
    replace_missing_characters()
    command = import_module(f"hlo_lsp.cli.{getattr(options, 'module', options.command)}")
    if getattr(options, "is_answer", False) and options.output not in {None, "-"}:
        status = _write_answer(options.output, partial(command.run, options))
    else:
        status = command.run(options)
    if sys.stdout is not None:
        sys.stdout.flush()  # while an error can still be reported
    return status


def _help(words: Sequence[str]) -> int:
    """Print the help of the program, of everything, or of a command."""
    parser = argument_parser()
    if words == ["--all"]:
        print(whole_help(parser), end="")
        return 0
    if not words or words == ["help"]:
        print(SHORT_HELP, end="")
        return 0
    parser.parse_args([*with_command(words[:1], COMMANDS), "--help"])
    return 0


def _write_answer(path: str, run: Callable[[], int]) -> int:
    """Write what a command prints on standard output to a file, unless it fails without output."""
    # A late import, because the server needs none of it.
    from hlo_lsp.cli.printing import write_file  # noqa: PLC0415

    written = BytesIO()
    stream = TextIOWrapper(written, encoding="utf-8", write_through=True)  # else it is closed
    with redirect_stdout(stream):
        status = run()
    if written.getvalue() or not status:  # no old answer stays
        write_file(path, written.getvalue())
    return status


def _serve(options: argparse.Namespace) -> int:
    """Serve one client on standard input and output or on a socket, and return the exit status."""
    # A late import, because importing the protocol takes 0.4 s and `check` does not need it.
    from hlo_lsp.lsp.server import create_server  # noqa: PLC0415

    share_free_memory()
    limit_collections()
    server = create_server()
    try:
        if options.tcp:
            server.start_tcp(options.host, options.port)
        elif sys.stdin is None or sys.stdout is None:
            print("hlo-lsp: standard input or output is closed", file=sys.stderr)
            return 1
        else:
            server.start_io()
            if not server.protocol.is_initialized:
                hint = "`hlo-lsp -` reads a dump from standard input"
                print(f"hlo-lsp: the language server got no request; {hint}", file=sys.stderr)
    except OSError as error:
        reason = error.strerror or error
        print(f"hlo-lsp: cannot listen on {options.host}:{options.port}: {reason}", file=sys.stderr)
        return 1
    return server.protocol.exit_status


def _configure_logging(log_file: str | None, verbose: int, *, is_server: bool) -> None:
    """Log to standard error or a file, because the protocol uses standard output."""
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    logging.raiseExceptions = False  # with a full disk, each record would print a traceback
    problem: OSError | None = None
    if log_file is not None:
        try:
            handler = logging.FileHandler(log_file, encoding="utf-8")
        except OSError as error:
            problem = error
    if not (verbose or is_server):  # The messages for the user repeat those of other packages.
        handler.addFilter(logging.Filter("hlo_lsp"))
    logging.basicConfig(
        level=level, handlers=[handler], format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    if problem is not None:
        logging.getLogger(__name__).warning("cannot log to %s: %s", log_file, problem.strerror)
