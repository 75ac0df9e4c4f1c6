"""``hlo-lsp summary --donation``: list the arguments by donation."""

import argparse
from functools import partial
from itertools import chain

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.donation import (
    donation_content,
    donation_json,
    donation_markdown,
    donation_report,
)
from hlo_lsp.reports.module_answers import (
    answer_titles,
    answers_content,
    answers_json,
    module_answer,
)


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found = []
    for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES):
        report = donation_report(dump, options.top)
        content = partial(donation_content, report, options.top)
        json = partial(donation_json, report)
        found.append((report, module_answer(dump, report.bytes, content, json)))
    found.sort(key=lambda one: one[1].size, reverse=True)
    answers = [answer for _, answer in found]
    shown = [answer for report, answer in found if report.arguments] or answers
    print_answer(
        options.format,
        answers_content(shown, options.paths, with_small=options.all),
        partial(answers_json, answers),
        lambda: chain.from_iterable(
            donation_markdown(report, options.top, title)
            for (report, _), title in zip(found, answer_titles(answers), strict=True)
        ),
    )
    return print_errors(errors)
