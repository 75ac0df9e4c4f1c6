"""``hlo-lsp summary --table``: one row for the largest program of each path."""

import argparse

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.program_table import program_json, program_row, program_table
from hlo_lsp.text.remote import shown


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    rows = []
    for path in options.paths:
        dumps = list(dumps_at([path], errors, unread=ROLES_WITHOUT_SIZES))
        if dumps:
            rows.append(program_row(shown(path), dumps, options.chip))
    print_answer(
        options.format,
        [program_table(rows)] if rows else [],
        lambda: {"programs": [program_json(row) for row in rows]},
    )
    return print_errors(errors)
