"""``hlo-lsp report``: write the memory map of dumps as an HTML file or as JSON."""

import argparse
import json
import sys
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at, print_errors
from hlo_lsp.model.display import count_noun
from hlo_lsp.reports.memory_map import memory_map, memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    paths = [Path(path) for path in options.paths]
    found = [memory_map(dump) for dump in dumps_at(paths, errors, sizes_only=True)]
    maps = [one for one in found if one["spaces"]]
    output = Path(options.output)
    if maps:
        document = memory_map_document(maps)
        is_json = output.suffix == ".json"
        text = json.dumps(document, separators=(",", ":")) if is_json else memory_map_page(document)
        try:
            output.write_text(text, "utf-8")
        except OSError as error:
            errors.append(f"cannot write {output}: {error.strerror}")
        else:
            print(f"{output}: {count_noun(len(maps), 'memory map')}", file=sys.stderr)
    elif not errors:
        names = ", ".join(one["path"] for one in found)
        errors.append(f"{names}: no buffer assignment, so there is nothing to show")
    return print_errors(errors)
