"""The parser of commands, and the options and types of options that several commands have."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hlo_lsp.text.remote import is_url, path_of_input


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, which shows its own usage for an unknown option.

    Options can stand between operands, also before those that can be left out.
    """

    _is_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the parsed arguments, and no others.

        Raises:
            SystemExit: There are others.
        """
        if self._is_intermixed:
            return super().parse_known_args(args, namespace)
        # After `--`, nothing is an option, which an intermixed parse forgets.
        has_rest = any(action.nargs == argparse.REMAINDER for action in self._actions)
        if has_rest or "--" in (args or ()):
            found, others = super().parse_known_args(args, namespace)
        else:
            self._is_intermixed = True
            found, others = self.parse_known_intermixed_args(args, namespace)
            self._is_intermixed = False
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return found, others


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid int value: {text!r}") from None


def positive_integer(text: str) -> int:
    """Return the number of a text that is an integer of at least 1."""
    number = _integer(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _step(text: str) -> int | None:
    """Return a step of the schedule, or None for the peak of each memory space."""
    return None if text == "peak" else _integer(text)


def port_number(text: str) -> int:
    """Return the number of a port."""
    number = _integer(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not a port number")
    return number


def dump_path(text: str) -> Path:
    """Return the path of a file or a folder, which can be a URL, also an unreadable one.

    That of ``-`` is a copy of standard input.
    """
    if "_ARGCOMPLETE" in os.environ:  # nothing is read for a completion
        return Path(text)
    if text == "-":
        # A late import, because it takes 7 ms.
        from hlo_lsp.text.standard_input import copy_of_standard_input  # noqa: PLC0415

        return copy_of_standard_input()
    if not is_url(text) or not sys.stderr.isatty():
        return path_of_input(text)
    # Late imports: nothing of this is needed without a URL.
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415

    from hlo_lsp.text.remote_cache import show_waiting  # noqa: PLC0415
    from hlo_lsp.text.remote_names import public  # noqa: PLC0415

    status = Console(stderr=True).status
    show_waiting(lambda url: status(f"Reading {escape(url)}"))
    with status(f"Listing {escape(public(text))}"):
        return path_of_input(text)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the server."""
    parser.add_argument(
        "--stdio", action="store_true", help="serve on standard input and output (default)"
    )
    parser.add_argument("--tcp", action="store_true", help="serve on a TCP socket")
    parser.add_argument("--host", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=port_number, help="the port to listen on (default: 2087)")


def add_logging_options(parser: argparse.ArgumentParser, default: object = None) -> None:
    """Add the options for the log."""
    parser.add_argument(
        "--log-file", metavar="FILE", default=default, help="write the log to a file"
    )
    parser.add_argument(
        "-v", "--verbose", action="count", default=default, help="log more; -vv logs everything"
    )


def add_path(
    parser: argparse.ArgumentParser, name: str, what: str, metavar: str = "PATH", **more: Any
) -> None:
    """Add a path or several of them, which can be URLs; ``more`` is for the parser."""
    parser.add_argument(name, metavar=metavar, type=dump_path, help=what, **more)


def add_paths(
    parser: argparse.ArgumentParser, name: str = "paths", nargs: str | None = "+"
) -> None:
    """Add the paths of dumps."""
    what = "a dump file, a folder with dumps, or - for standard input"
    add_path(parser, name, what, nargs=nargs)


def add_optional_dumps(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the paths of dumps that a command can do without."""
    what = f"dump files, or folders with dumps (default: {default})"
    add_path(parser, "dumps", what, "DUMPS", nargs="*", default=[])


HERE = [Path()]  # the default of paths
TPUS = ("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x")
_CHIPS = (*TPUS, "a100", "h100", "h200", "b200", "mi300x", "mi350x", "mi355x")


def chip_name(text: str) -> str:
    """Return the chip in a title such as ``TPU v5e`` or ``H100 SXM``, else the text."""
    words = text.casefold().removesuffix(" lite").split()
    if text.casefold().endswith(" lite"):  # as JAX names v5e and v6e
        words = [f"{word}e" for word in words]
    return next((word for word in (*words, "".join(words)) if word in _CHIPS), text)


_INSTRUCTION_KEYS = ("line", "scope", "opcode", "phase", "axis", "computation", "instruction")


def names_of(choices: Sequence[str]) -> str:
    """Return the choices of an option for its help: ``error, warning, or hint``."""
    return ", ".join(choices[:-1]) + f", or {choices[-1]}"


def add_by_option(parser: argparse.ArgumentParser, entry: str) -> None:
    """Add the option for what the instructions of an entry of a list have in common."""
    parser.add_argument(
        "--by",
        metavar="KEY",
        choices=_INSTRUCTION_KEYS,
        default="line",
        help=f"what the instructions of a {entry} have in common: {names_of(_INSTRUCTION_KEYS)}"
        " (default: line)",
    )


def add_chip_option(
    parser: argparse.ArgumentParser,
    what: str = "the chip for the least time",
    chips: Sequence[str] = _CHIPS,
) -> None:
    """Add the option for a chip, by default for that of least times."""
    parser.add_argument(
        "--chip",
        metavar="CHIP",
        type=chip_name,
        choices=chips,
        help=f"{what}: {names_of(chips)} (default: that of the dump)",
    )


def add_python_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the Python that compiles."""
    parser.add_argument(
        "--python",
        metavar="PYTHON",
        help="the Python with jax, such as that of another environment (default: that of"
        " VIRTUAL_ENV, python3 or python on the path, or this one)",
    )


def add_prove_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options that compile the programs of dumps again with a change."""
    parser.add_argument("--prove", action="store_true", help=f"{what}; this needs jax and minutes")
    add_python_option(parser)


def add_metric_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for what to write: memory, cost, or measured time."""
    parser.add_argument(
        "--metric",
        choices=("memory", "cost", "time"),
        default="memory",
        help="what to write: the bytes of buffers; the FLOPs, bytes, and least time of"
        " instructions; or their measured time, for which the first PATH is a profile of JAX, and"
        " others are its dumps (default: memory)",
    )


def add_place_options(parser: argparse.ArgumentParser, step_help: str) -> None:
    """Add options for a step and a memory space."""
    parser.add_argument("--at", metavar="STEP", type=_step, help=step_help)
    parser.add_argument(
        "--space", metavar="SPACE", help="only this memory space: its number or name, such as HBM"
    )


def add_top_option(
    parser: argparse.ArgumentParser, default: int | None, what: str, shown: str | None = None
) -> None:
    """Add the option for the number of entries to show; ``shown`` describes the default."""
    parser.add_argument(
        "-n",
        "--top",
        metavar="N",
        type=positive_integer,
        default=default,
        help=f"{what} (default: {default if shown is None else shown})",
    )


def add_all_option(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the option that also shows advice with negligible savings, and ``more``."""
    parser.add_argument(
        "--all",
        action="store_true",
        help="also show advice with negligible savings, less than 1%% of the peak or less than"
        f" 1 MiB{more}",
    )


FORMATS = ("text", "markdown", "json")
FORMS = ("html", "json", "pprof", "folded", "perfetto", "csv")


def add_format_option(parser: argparse.ArgumentParser, of: str = "") -> None:
    """Add the option for the format of an answer that is not written to a file."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help=f"the output format{of} (default: {FORMATS[0]})",
    )


def add_answer_options(parser: argparse.ArgumentParser, *others: str) -> None:
    """Add the options for the format and the file, with ``others`` besides the formats of all."""
    parser.add_argument(
        "--format",
        choices=(*FORMATS, *others),
        help="the output format (default: that of the ending of FILE, else text)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the answer to a file (.md: Markdown, .json: JSON)",
    )
    parser.set_defaults(is_answer=True)


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the workers of a command that reads folders."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=positive_integer,
        help="the maximum number of processes (default: one per core)",
    )
    which.add_argument(
        "--executor",
        metavar="NAME",
        help="read the dumps with other workers: those of a dask scheduler, such as"
        " `dask=tcp://HOST:PORT`, or of the concurrent.futures.Executor that a function returns,"
        " `MODULE:FUNCTION`",
    )
    parser.add_argument(
        "--import-from",
        metavar="DIR",
        help="import MODULE of --executor from this folder, too (default: installed packages only)",
    )
