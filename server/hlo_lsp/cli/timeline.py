"""``hlo-lsp summary --timeline``: print the occupied bytes over the schedule."""

import argparse
import shutil
import sys
from itertools import chain

from hlo_lsp.cli.dumps import dumps_at, dumps_with_place
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.timeline import timeline_json, timeline_lines, timeline_of
from hlo_lsp.text.inert import markdown_block


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = [
        timeline_of(dump, space, options.at)
        for dump, space in dumps_with_place(options, dumps, errors)
    ]
    found.sort(key=lambda one: -one.peak_bytes)
    columns = shutil.get_terminal_size().columns
    ascii_only = options.ascii or not _can_print_answer()
    blocks = [
        timeline_lines(timeline, columns, options.top, ascii_only=ascii_only) for timeline in found
    ]
    print_answer(
        options.format,
        blocks,
        lambda: {"modules": [timeline_json(timeline) for timeline in found]},
        lambda: chain.from_iterable(map(markdown_block, blocks)),
    )
    return print_errors(errors)


def _can_print_answer() -> bool:
    try:
        "▁░│└─·".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
