"""``hlo-lsp modules``: list the compiles below folders, those with the largest peak first."""

import argparse
import json
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at, print_errors
from hlo_lsp.model.display import printable
from hlo_lsp.reports.modules import compiled_module, modules_json, modules_lines, sorted_by_name


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    paths = [Path(path) for path in options.paths]
    groups = sorted_by_name(map(compiled_module, dumps_at(paths, errors, sizes_only=True)))
    if options.format == "json":
        print(json.dumps({"modules": modules_json(groups)}, indent=1))
    else:
        for line in modules_lines(groups):
            print(printable(line))
    return print_errors(errors)
