"""Completion of commands, options, and paths in bash, zsh, and fish, by argcomplete."""

import argparse

from hlo_lsp.cli.errors import CommandError


def complete(parser: argparse.ArgumentParser) -> None:
    """Write the words that can follow for a shell, and end the process.

    Raises:
        CommandError: The optional package is missing.
    """
    try:
        import argcomplete  # noqa: PLC0415  # no command needs it
    except ImportError:
        raise _missing() from None
    argcomplete.autocomplete(parser)


def script(shell: str) -> str:
    """Return the text that a shell evaluates at its start.

    Raises:
        CommandError: The optional package is missing.
    """
    try:
        from argcomplete.shell_integration import shellcode  # noqa: PLC0415  # as above
    except ImportError:
        raise _missing() from None
    text: str = shellcode(["hlo-lsp"], shell=shell)
    return text


def _missing() -> CommandError:
    return CommandError("install the package argcomplete first: pip install 'hlo-lsp[completion]'")
