"""``hlo-lsp summary --padding``: list the padded arrays by the bytes that they waste."""

import argparse
from functools import partial

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_errors, print_module_answers
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.module_answers import module_answer
from hlo_lsp.reports.padding import padding_content, padding_json, padding_of


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    answers = []
    for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES):
        module = padding_of(dump)
        content = partial(padding_content, module, options.top)
        json = partial(padding_json, module, options.top)
        answers.append(module_answer(dump, module.wasted, content, json))
    answers.sort(key=lambda one: one.size, reverse=True)
    print_module_answers(options, answers)
    return print_errors(errors)
