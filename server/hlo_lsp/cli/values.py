"""``hlo-lsp summary --values``: list the largest values at the peak, and why each is alive."""

import argparse
from functools import partial

from hlo_lsp.cli.dumps import dumps_at, dumps_with_place
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.display.table import Content
from hlo_lsp.memory.savings import largest_peak_bytes
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.largest_values import (
    SpaceValues,
    largest_values,
    largest_values_content,
    largest_values_json,
)
from hlo_lsp.reports.module_answers import answers_content, module_answer, titled_modules


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found = []
    for dump, space in dumps_with_place(options, dumps_at(options.paths, errors), errors):
        spaces = largest_values(dump, space, options.at, options.top)
        content = partial(_content, dump, spaces)
        answer = module_answer(dump, largest_peak_bytes(dump), content)
        found.append((largest_values_json(dump, spaces), answer))
    found.sort(key=lambda one: one[1].size, reverse=True)
    answers = [answer for _, answer in found]
    print_answer(
        options.format,
        answers_content(answers, options.paths, with_small=options.all),
        lambda: {"modules": titled_modules([one for one, _ in found], answers)},
    )
    return print_errors(errors)


def _content(dump: Compile, spaces: list[SpaceValues], title: str) -> Content:
    return largest_values_content(title, dump, spaces)
