"""``hlo-lsp summary --donation``: list the arguments by donation."""

import argparse
from dataclasses import replace
from functools import partial
from itertools import chain

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.display.table import Content
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.donation import (
    DonationReport,
    donation_content,
    donation_json,
    donation_markdown,
    donation_report,
)
from hlo_lsp.reports.module_answers import answers_content, module_answer, titled_modules
from hlo_lsp.reports.module_names import distinct_titles


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found = []
    for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES):
        report = donation_report(dump, options.top)
        content = partial(_content, report, options.top)
        found.append((report, module_answer(dump, _size(report), content)))
    found.sort(key=lambda one: one[1].size, reverse=True)
    reports, answers = [report for report, _ in found], [answer for _, answer in found]
    titles = distinct_titles([answer.module for answer in answers])
    shown = [answer for report, answer in found if report.arguments] or answers
    print_answer(
        options.format,
        answers_content(shown, options.paths, with_small=options.all),
        lambda: {"modules": titled_modules([donation_json(one) for one in reports], answers)},
        lambda: chain.from_iterable(
            donation_markdown(replace(report, name=title), options.top)
            for report, title in zip(reports, titles, strict=True)
        ),
    )
    return print_errors(errors)


def _content(report: DonationReport, count: int, title: str) -> Content:
    return donation_content(replace(report, name=title), count)


def _size(report: DonationReport) -> int:
    return sum(one.bytes for one in report.arguments or ())
