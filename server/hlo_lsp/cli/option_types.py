"""The parser of a command, and types of its options; a wrong text is a usage error."""

import argparse
from typing import Any


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
