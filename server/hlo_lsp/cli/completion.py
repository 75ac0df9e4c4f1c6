"""Completion of commands, options, and paths in bash, zsh, and fish, by argcomplete."""

import argparse
from importlib import import_module
from typing import Any

from hlo_lsp.cli.errors import CommandError


def complete(parser: argparse.ArgumentParser) -> None:
    """Write the words that can follow for a shell, and end the process.

    Raises:
        CommandError: The optional package is missing.
    """
    _argcomplete("argcomplete").autocomplete(parser)


def script(shell: str) -> str:
    """Return the text that a shell evaluates at its start.

    Raises:
        CommandError: The optional package is missing.
    """
    text: str = _argcomplete("argcomplete.shell_integration").shellcode(["hlo-lsp"], shell=shell)
    return text


def _argcomplete(name: str) -> Any:
    """Return a module of the package, which no command needs."""
    try:
        return import_module(name)
    except ImportError:
        message = "install the package argcomplete first: pip install 'hlo-lsp[completion]'"
        raise CommandError(message) from None
