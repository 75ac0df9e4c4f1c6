"""A console whose output tests read."""

import io

from rich.console import Console


def make_console(*, color: bool = False, width: int = 200) -> Console:
    """Return a console that writes to a text."""
    return Console(
        file=io.StringIO(),
        force_terminal=color,
        width=width,
        color_system="standard" if color else None,
    )


def output_text(console: Console) -> str:
    """Return what was printed to a console."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
