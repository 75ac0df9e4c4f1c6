"""``hlo-lsp report``: write the memory map of dumps as an HTML file or as JSON."""

import argparse
import json
import sys
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at, print_errors
from hlo_lsp.model.display import count_noun
from hlo_lsp.reports.memory_map import Json, memory_map, memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found = [memory_map(dump) for dump in dumps_at(options.paths, errors, sizes_only=True)]
    maps = sorted((one for one in found if one["spaces"]), key=_size, reverse=True)
    if maps:
        errors += write_maps(memory_map_document(maps), Path(options.output))
    elif not errors:
        names = ", ".join(one["path"] for one in found)
        errors.append(f"{names}: no buffer assignment, so there is nothing to show")
    return print_errors(errors)


def _size(found: Json) -> int:
    """Return the peak of the first memory space or, if it is unknown, its allocated bytes."""
    first = found["spaces"][0]  # off the chip, if possible
    size: int = first.get("peakBytes", first["allocatedBytes"])
    return size


def write_maps(document: Json, output: Path) -> list[str]:
    """Write a document of memory maps as a page, or as JSON if the name of the file ends so.

    Returns:
        The error, if there is one.
    """
    is_json = output.suffix == ".json"
    text = json.dumps(document, separators=(",", ":")) if is_json else memory_map_page(document)
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        return [f"cannot write {output}: {error.strerror}"]
    print(f"{output}: {count_noun(len(document['modules']), 'memory map')}", file=sys.stderr)
    return []
