"""``hlo-lsp overlap``: list asynchronous operations, and those that overlap with no computation."""

import argparse

from hlo_lsp.cli.dumps import dumps_at, reports_by_size
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.overlap import overlap_content, overlap_of, overlaps_json


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = reports_by_size(dumps, lambda dump: overlap_of(dump, chip_of(dump, options.chip)))
    print_answer(
        options.format,
        (overlap_content(overlap, options.top) for overlap in found),
        lambda: {"modules": overlaps_json(found, options.top)},
    )
    return print_errors(errors)
