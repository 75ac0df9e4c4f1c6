"""``hlo-lsp summary --padding``: list the padded arrays by the bytes that they waste."""

import argparse
from dataclasses import replace
from functools import partial

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.display.table import Content
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.module_answers import answers_content, module_answer, titled_modules
from hlo_lsp.reports.padding import ModulePadding, padding_content, padding_json, padding_of


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found = []
    for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES):
        module = padding_of(dump)
        content = partial(_content, module, options.top)
        found.append((module, module_answer(dump, module.wasted, content)))
    found.sort(key=lambda one: one[0].wasted, reverse=True)
    modules, answers = [module for module, _ in found], [answer for _, answer in found]
    print_answer(
        options.format,
        answers_content(answers, options.paths, with_small=options.all),
        lambda: {"modules": titled_modules(padding_json(modules, options.top), answers)},
    )
    return print_errors(errors)


def _content(module: ModulePadding, count: int, title: str) -> Content:
    return padding_content(replace(module, name=title), count)
