"""``hlo-lsp text -o DIR URL``: copy a remote folder with dumps."""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_errors
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.file_names import is_dump_file
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.pulling import NotReplacedError, pull
from hlo_lsp.text.remote_names import public


def run(options: argparse.Namespace) -> int:
    """Copy the folders, and return the exit status."""
    return max(_copy(url, Path(options.output), force=options.force) for url in options.paths)


def _copy(url: str, folder: Path, *, force: bool) -> int:
    console = Console(stderr=True)
    what = TextColumn("{task.description}", markup=False)
    columns = (what, BarColumn(), TextColumn("{task.fields[size]}"))
    is_shown = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not is_shown) as bar:
        task = bar.add_task(f"Listing {public(url)}", total=None, size="")

        def report(done: int, count: int, size: int) -> None:
            counts = f"{done:,} of {count_noun(count, 'file')}"
            sizes = format_short_bytes(size)
            bar.update(task, description=counts, completed=done, total=count, size=sizes)

        try:
            found = pull(url, folder, _is_wanted, report, force=force)
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            raise CommandError(f"{where}{error.strerror}" if where else str(error)) from None
    others = f", {found.left_out:,} not of a dump" if found.left_out else ""
    counts = f"{count_noun(found.copied, 'file')} copied, {found.current:,} already there{others}"
    print(counts, file=sys.stderr)
    hint = "; replace it with --force"
    return print_errors(
        f"{url}: {error.strerror}{hint if isinstance(error, NotReplacedError) else ''}"
        for url, error in found.errors.items()
    )


def _is_wanted(name: str) -> bool:
    return name == CONFIG_FILE_NAME or is_dump_file(name)
