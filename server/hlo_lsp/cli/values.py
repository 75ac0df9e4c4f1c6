"""``hlo-lsp summary --values``: list the largest values at the peak, and why each is alive."""

import argparse
from functools import partial

from hlo_lsp.cli.dumps import dumps_at, dumps_with_place
from hlo_lsp.cli.printing import print_errors, print_module_answers
from hlo_lsp.memory.savings import largest_peak_bytes
from hlo_lsp.reports.largest_values import (
    largest_values,
    largest_values_content,
    largest_values_json,
)
from hlo_lsp.reports.module_answers import module_answer


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    answers = []
    for dump, space in dumps_with_place(options, dumps_at(options.paths, errors), errors):
        spaces = largest_values(dump, space, options.at, options.top)
        content = partial(largest_values_content, dump, spaces)
        json = partial(largest_values_json, dump, spaces)
        answers.append(module_answer(dump, largest_peak_bytes(dump), content, json))
    answers.sort(key=lambda one: one.size, reverse=True)
    print_module_answers(options, answers)
    return print_errors(errors)
