"""``hlo-lsp timeline``: print the occupied bytes over the schedule."""

import argparse
import shutil
import sys

from hlo_lsp.cli.dumps import dumps_at, dumps_with_place, print_blocks, print_errors
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.timeline import timeline_json, timeline_lines, timeline_of
from hlo_lsp.text.inert import json_text


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = [
        timeline_of(dump, space, options.at)
        for dump, space in dumps_with_place(options, dumps, errors)
    ]
    found.sort(key=lambda one: -one.peak_bytes)
    if options.format == "json":
        print(json_text({"modules": [timeline_json(one) for one in found]}))
    else:
        columns = shutil.get_terminal_size().columns
        ascii_only = options.ascii or not _can_print_blocks()
        print_blocks(
            timeline_lines(one, columns, options.top, ascii_only=ascii_only) for one in found
        )
    return print_errors(errors)


def _can_print_blocks() -> bool:
    try:
        "▁░│└─·".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
