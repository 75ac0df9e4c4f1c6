"""``hlo-lsp find``: find buffers by name, Python line, shape, or scope."""

import argparse
from collections import Counter
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import NOT_FOUND_STATUS, CommandError
from hlo_lsp.cli.printing import print_answer, print_errors, print_missing
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.reports.find import FindQuery, FoundInModule, find_buffers, found_content, found_json


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    if options.axis is not None:
        # A late import, because other queries need no costs.
        from hlo_lsp.cli.find_axis import run as run_axis  # noqa: PLC0415

        return run_axis(options)
    if options.query is None:
        raise CommandError("a query is missing: a name, Python line, shape, or scope, or --axis")
    missing_path = next((path for path in options.paths if not path.exists()), None)
    if missing_path is not None and Path(options.query).exists():
        raise CommandError(
            f"{missing_path} does not exist; the query precedes the dumps:"
            f" hlo-lsp find {missing_path} {options.query}"
        )
    query = FindQuery.of(options.query)
    errors: list[str] = []
    found: list[FoundInModule] = []
    missing: Counter[str] = Counter()
    count = 0
    for dump in dumps_at(options.paths, errors):
        one = find_buffers(dump, query)
        count += 1
        if one.buffers:
            found.append(one)
        if one.buffers or dump.module_file is None:
            missing.update(missing_facts(dump))
    best = min((one.buffers[0].match for one in found), default=0)
    found = [one for one in found if one.buffers[0].match == best]
    found.sort(key=lambda one: -one.buffers[0].bytes)
    print_answer(
        options.format,
        (found_content(module, options.top) for module in found),
        lambda: {"kind": query.kind.value, "modules": [found_json(module) for module in found]},
    )
    print_missing(missing, count)
    if not found and not errors:
        message = f"no {query.kind.value} `{query.text}` in these dumps"
        raise CommandError(message, NOT_FOUND_STATUS)
    return print_errors(errors)
