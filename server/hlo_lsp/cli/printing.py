"""The answers of commands, in the format that was asked for, and their error messages."""

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlo_lsp.cli.errors import USAGE_ERROR_STATUS, CommandError
from hlo_lsp.display.table import Content, markdown_blocks, text_lines
from hlo_lsp.text.inert import json_text, markdown_text, printable
from hlo_lsp.text.wrapping import wrapped_lines

if TYPE_CHECKING:
    from hlo_lsp.display.cards import Card
    from hlo_lsp.reports.module_answers import ModuleAnswer

_MAX_NAMED_PATHS = 10


def print_answer(
    form: str,
    blocks: Iterable[Content],
    content: Callable[[], dict[str, Any]],
    markdown: Callable[[], Iterable[str]] | None = None,
) -> None:
    """Print an answer in a format.

    Args:
        form: ``text``, ``markdown``, or ``json``.
        blocks: The text, which is divided by empty lines. It is not read for other formats.
        content: Returns the JSON.
        markdown: Returns the lines of Markdown, by default those of the blocks.
    """
    if form == "json":
        print_json(content())
    elif form == "text":
        print_blocks(blocks)
    else:
        lines = (
            chain.from_iterable(map(markdown_blocks, blocks)) if markdown is None else markdown()
        )
        text = "\n".join(map(printable, lines)).strip("\n")
        if text:
            print(text)


def print_module_answers(options: argparse.Namespace, answers: Sequence["ModuleAnswer"]) -> None:
    """Print answers about compiles, with those about small ones in short."""
    # A late import, because other answers need none of it.
    from hlo_lsp.reports.module_answers import answers_content, answers_json  # noqa: PLC0415

    print_answer(
        options.format,
        answers_content(answers, options.paths, with_small=options.all),
        partial(answers_json, answers),
    )


def print_card_answer(
    form: str, card: "Card", above: Iterable[str] = (), below: Iterable[str] = ()
) -> None:
    """Print a card as text or Markdown, between notes such as the path that it is from."""
    from hlo_lsp.display.cards import card_markdown  # noqa: PLC0415  # few answers are cards

    if form == "markdown":
        notes = ([markdown_text(note), ""] for note in above)
        last = (["", markdown_text(note)] for note in below)
        print("\n".join(chain(*notes, card_markdown(card), *last)))
        return
    # A late import, because only cards need it.
    from hlo_lsp.display.terminal import make_console, print_card, print_note  # noqa: PLC0415

    console = make_console()
    for note in above:
        print_note(console, note)
    print_card(console, card)
    for note in below:
        print_note(console, note)


def print_blocks(blocks: Iterable[Content]) -> None:
    """Print blocks of text with an empty line between them.

    On a terminal, long lines are wrapped between words.
    """
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    shown = []
    for content in blocks:
        lines = "\n".join(map(printable, text_lines(content))).split("\n")
        if columns is not None:
            lines = list(chain.from_iterable(wrapped_lines(line, columns) for line in lines))
        shown.append("\n".join(lines))
    text = "\n\n".join(shown)
    if text:
        print(text)


def print_missing(counts: Mapping[str, int], total: int) -> None:
    """Print on standard error what files of compiles do not contain.

    Args:
        counts: The number of compiles with each of ``missing_facts``.
        total: The number of compiles.
    """
    for fact, count in counts.items():
        where = "" if total == 1 else f" ({count:,} of {total:,} compiles)"
        print(printable(f"hlo-lsp: {fact}{where}"), file=sys.stderr)


def print_json(content: dict[str, Any]) -> None:
    """Print JSON for programs and for readers."""
    print(json_text(content, indent=1))


def write_file(path: str, data: bytes) -> None:
    """Write a file, or standard output for ``-``.

    Raises:
        CommandError: The file cannot be written.
    """
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from None


def make_folder(folder: Path, *, must_be_empty: bool = False) -> Path:
    """Return a folder after creating it if necessary.

    Raises:
        CommandError: It cannot be created or, if it must be empty, it is not, or cannot be listed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has_files = must_be_empty and any(folder.iterdir())
    except OSError as error:
        raise CommandError(f"cannot create {folder}: {error.strerror}") from None
    if has_files:
        raise CommandError(f"{folder} is not empty")
    return folder


def print_errors(errors: Iterable[str]) -> int:
    """Print the messages on standard error, and return the exit status.

    Equal messages are printed once. Of many paths with the same problem, the first are named.
    """
    counts: Counter[str] = Counter()
    for error in dict.fromkeys(errors):
        problem = error.partition(": ")[2] or error
        counts[problem] += 1
        if counts[problem] <= _MAX_NAMED_PATHS:
            print(printable(f"hlo-lsp: {error}"), file=sys.stderr)
    for problem, count in counts.items():
        if count > _MAX_NAMED_PATHS:
            more = f"{count - _MAX_NAMED_PATHS:,} more paths"
            print(printable(f"hlo-lsp: {more}: {problem}"), file=sys.stderr)
    return USAGE_ERROR_STATUS if counts else 0
