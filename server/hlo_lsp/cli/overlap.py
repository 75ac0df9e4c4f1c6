"""``hlo-lsp overlap``: list asynchronous operations, and those that overlap with no computation."""

import argparse

from hlo_lsp.cli.dumps import dumps_at, print_blocks, print_errors, print_json, reports_by_size
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.overlap import overlap_lines, overlap_of, overlaps_json


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = reports_by_size(dumps, lambda dump: overlap_of(dump, chip_of(dump, options.chip)))
    if options.format == "json":
        print_json({"modules": overlaps_json(found, options.top)})
    else:
        print_blocks(overlap_lines(one, options.top) for one in found)
    return print_errors(errors)
