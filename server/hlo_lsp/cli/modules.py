"""``hlo-lsp modules``: list the compiles below folders, those with the largest peak first."""

import argparse
import json

from hlo_lsp.cli.dumps import dumps_at, print_blocks, print_errors
from hlo_lsp.reports.modules import compiled_module, modules_json, modules_lines, sorted_by_name


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    groups = sorted_by_name(map(compiled_module, dumps_at(options.paths, errors, sizes_only=True)))
    if options.format == "json":
        print(json.dumps({"modules": modules_json(groups)}, indent=1))
    else:
        print_blocks([modules_lines(groups, with_small=options.all)])
    return print_errors(errors)
