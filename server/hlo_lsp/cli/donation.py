"""``hlo-lsp donation``: list the arguments by donation."""

import argparse
from itertools import chain

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.donation import (
    DonationReport,
    donation_content,
    donation_json,
    donation_markdown,
    donation_report,
)


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = sorted((donation_report(dump, options.top) for dump in dumps), key=_size, reverse=True)
    shown = [report for report in found if report.arguments] or found
    print_answer(
        options.format,
        (donation_content(report, options.top) for report in shown),
        lambda: {"modules": [donation_json(report) for report in found]},
        lambda: chain.from_iterable(donation_markdown(report, options.top) for report in found),
    )
    return print_errors(errors)


def _size(report: DonationReport) -> int:
    return sum(one.bytes for one in report.arguments or ())
