"""``hlo-lsp padding``: list the padded arrays by the bytes that they waste."""

import argparse

from hlo_lsp.cli.dumps import dumps_at, print_blocks, print_errors, print_json
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.padding import padding_json, padding_lines, padding_of


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    found = sorted(map(padding_of, dumps), key=lambda one: one.wasted, reverse=True)
    if options.format == "json":
        print_json({"modules": padding_json(found, options.top)})
    else:
        shown = [one for one in found if one.wasted] or found
        print_blocks(padding_lines(one, options.top) for one in shown)
    return print_errors(errors)
