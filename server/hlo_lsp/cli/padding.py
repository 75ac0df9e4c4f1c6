"""``hlo-lsp padding``: list the padded arrays by the bytes that they waste."""

import argparse

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.padding import padding_content, padding_json, padding_of


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = sorted(map(padding_of, dumps), key=lambda one: one.wasted, reverse=True)
    wasteful = [module for module in found if module.wasted] or found
    print_answer(
        options.format,
        (padding_content(module, options.top) for module in wasteful),
        lambda: {"modules": padding_json(found, options.top)},
    )
    return print_errors(errors)
