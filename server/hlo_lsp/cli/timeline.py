"""``hlo-lsp timeline``: print the occupied bytes over the schedule."""

import argparse
import json
import shutil
import sys
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at, space_number
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.reports.timeline import Timeline, timeline_of
from hlo_lsp.reports.timeline_text import timeline_json, timeline_lines

_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found: list[Timeline] = []
    for dump in dumps_at([Path(path) for path in options.paths], errors):
        space = None if options.space is None else space_number(dump, options.space)
        if options.space is not None and space is None:
            errors.append(f"{dump.files[0].label}: no memory space {options.space}")
            continue
        missing = missing_step(dump, options.at)
        if missing is not None:
            errors.append(missing)
            continue
        found.append(timeline_of(dump, space, options.at))
    if options.format == "json":
        print(json.dumps({"modules": [timeline_json(one) for one in found]}))
    elif found:
        columns = shutil.get_terminal_size().columns
        ascii_only = options.ascii or not _can_print_blocks()
        blocks = (
            "\n".join(timeline_lines(one, columns, options.top, ascii_only=ascii_only))
            for one in found
        )
        print("\n\n".join(blocks))
    for error in errors:
        print(f"hlo-lsp: {error}", file=sys.stderr)
    return _USAGE_ERROR_STATUS if errors else 0


def missing_step(dump: DumpSet, step: int | None) -> str | None:
    """Return a message if the schedule of a compile does not have a step."""
    last = dump.last_step
    if step is None or last is None or 0 <= step <= last:
        return None
    return f"{dump.files[0].label}: no step {step:,}: the schedule has the steps 0 to {last:,}"


def _can_print_blocks() -> bool:
    try:
        "▁░│└─·".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
