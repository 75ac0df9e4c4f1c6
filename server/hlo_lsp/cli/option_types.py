"""Types of options of the command line; a wrong text is a usage error."""

import argparse


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
