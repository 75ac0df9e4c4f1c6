"""``hlo-lsp donation``: list the arguments by donation."""

import argparse
from itertools import chain

from hlo_lsp.cli.dumps import dumps_at, print_blocks, print_errors, print_json
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.donation import (
    DonationReport,
    donation_json,
    donation_lines,
    donation_markdown,
    donation_report,
)


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = sorted((donation_report(dump, options.top) for dump in dumps), key=_size, reverse=True)
    if options.format == "json":
        print_json({"modules": [donation_json(one) for one in found]})
    elif options.format == "markdown":
        lines = chain.from_iterable(donation_markdown(one, options.top) for one in found)
        print_blocks([lines], wraps=False)
    else:
        shown = [one for one in found if one.arguments] or found
        print_blocks(donation_lines(one, options.top) for one in shown)
    return print_errors(errors)


def _size(report: DonationReport) -> int:
    return sum(one.bytes for one in report.arguments or ())
