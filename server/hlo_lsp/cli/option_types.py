"""The parser of a command, and types of its options; a wrong text is a usage error."""

import argparse
import sys
from pathlib import Path
from typing import Any

from hlo_lsp.text.remote import is_url, path_of_input


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, which shows its own usage for an unknown option."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the parsed arguments, and no others.

        Raises:
            SystemExit: There are others.
        """
        found, others = super().parse_known_args(args, namespace)
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


def port_number(text: str) -> int:
    """Return the number of a port."""
    number = _integer(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not a port number")
    return number


def dump_path(text: str) -> Path:
    """Return the path of a file or a folder, which can be a URL, also an unreadable one."""
    if not is_url(text) or not sys.stderr.isatty():
        return path_of_input(text)
    # Late imports: nothing of this is needed without a URL.
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415

    from hlo_lsp.text.file_systems import public  # noqa: PLC0415
    from hlo_lsp.text.remote_cache import show_waiting  # noqa: PLC0415

    status = Console(stderr=True).status
    show_waiting(lambda url: status(f"Reading {escape(url)}"))
    with status(f"Listing {escape(public(text))}"):
        return path_of_input(text)


def log_path(text: str) -> str:
    """Return the path of a log, which can be a URL, or ``-`` for standard input."""
    return str(dump_path(text))
