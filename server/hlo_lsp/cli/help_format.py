"""The form of help texts, which are easy to read in narrow terminals."""

import argparse
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any


class HelpFormatter(argparse.HelpFormatter):
    """Shows ``[options]`` in the usage instead of all options, which the list below it has.

    Names with hyphens, such as those of files and rules, stay on one line.
    """

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],  # noqa: ARG002  the alternatives are options
        prefix: str | None = None,
    ) -> None:
        """Add the usage without single options."""
        positional = [action for action in actions if not action.option_strings]
        options = argparse.Action([], "options", metavar="[options]")
        super().add_usage(usage, [options, *positional], (), prefix)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class RawHelpFormatter(HelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Also keeps the lines of the description and of the examples."""


def examples_text(examples: Sequence[tuple[str, str]]) -> str:
    """Return commands with their descriptions beside them or, if the terminal is narrow, below."""
    columns = shutil.get_terminal_size().columns
    width = max(len(command) for command, _ in examples) + 4
    lines = [f"  {command:<{width}}{text}" for command, text in examples]
    if max(map(len, lines)) > columns:
        lines = [line for command, text in examples for line in (f"  {command}", f"      {text}")]
    return "\n".join(["examples:", *lines])
